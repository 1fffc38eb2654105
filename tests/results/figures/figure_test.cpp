// Figures: their files, their numbers, their gnuplot scripts, and the pictures where gnuplot is installed.
#include "results/figures/figure.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/exhibits/exhibits.h"
#include "results/figures/elements/plot_style.h"
#include "results/figures/figure_description.h"
#include "results/figures/gnuplot_process.h"
#include "results/figures/gnuplot_script.h"
#include "results/figures/kinds/kinds.h"
#include "results/figures/plotly_figure.h"
#include "tests/results/figures/gnuplot_installed.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

FigureDescription spec_of(const std::string& yaml) {
  return read_figure_description(find_exhibits(parse_yaml(yaml, "description.yaml"), ExhibitKind::kFigure).front());
}

class Figures : public ::testing::Test {
 protected:
  Figures() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    store_.sync(maker_.runs());
  }

  std::variant<Figure, NothingToShow> built(const std::string& yaml) {
    RunTable runs(store_);
    return build_figure(runs, spec_of(yaml), {});
  }

  Figure figure(const std::string& yaml) { return std::get<Figure>(built(yaml)); }

  NothingToShow nothing(const std::string& yaml) { return std::get<NothingToShow>(built(yaml)); }

  /// A run of the experiment `noise` whose bpc jumps from step to step between two values, `above` higher than 1 and 3.
  void add_noisy_run(const std::string& id, int seed, double above) {
    const MadeRun noisy{.id = id, .experiment = "noise", .seed = seed};
    maker_.write_config(noisy);
    Journal out = maker_.journal(noisy);
    out.append("state", {{"state", "running"}, {"host", "here"}, {"pid", 42}});
    for (int step = 1; step <= 6; ++step)
      out.append("metric", {{"step", step}, {"values", {{"bpc", (step % 2 == 0 ? 3.0 : 1.0) + above}}}});
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

constexpr const char* kLine =
    "figure: Bpc against span\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\nx_scale: log\n";

TEST_F(Figures, PutEvaluationsAtTheSettingsThatTheyWereMadeWith) {
  int number = 0;
  for (int i = 0; i < 8; ++i) {
    const MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", ++number), .flops = 1e6 * number};
    for (const int batch : {1, 2}) maker_.evaluate(run, "test", 3 + batch, {{"eval.batch", batch}});
    maker_.evaluate(run, "valid", 9, {{"eval.batch", 1}});
  }
  store_.sync(maker_.runs());
  const Figure line = figure(
      "figure: f\nkind: line\nx: at.eval.batch\ny: test.bpc\nseries: model.span_type\nwhere: {model.span: 64}\n");
  ASSERT_EQ(line.series.size(), 2);
  ASSERT_EQ(line.series[0].points.size(), 3);
  EXPECT_EQ(line.series[0].points[0].x, 1);
  EXPECT_EQ(line.series[0].points[0].y, 4);
  EXPECT_NEAR(line.series[0].points[2].y, 2 - 0.064 - 0.1 + 0.015, 1e-12) << "the runs' own batch is 8";
  EXPECT_EQ(line.x_label, "eval batch");
  EXPECT_TRUE(line.notes.empty());
  // Where x is an outcome, seeds that were measured alike are one point.
  const Figure scatter = figure(
      "figure: f\nkind: scatter\nx: flops_per_token\ny: test.bpc\nseries: at.eval.batch\n"
      "where: {model.span: 64, model.span_type: fixed}\n");
  ASSERT_EQ(scatter.series.size(), 3);
  for (const FigureSeries& series : scatter.series) EXPECT_EQ(series.points.size(), 1) << series.label;
  // And a curve over training is not told what was measured afterwards.
  const Figure curve = figure("figure: f\nkind: line\nx: step\ny: valid.bpc\nwhere: {model.span: 64, seed: 1}\n");
  for (const FigurePoint& point : curve.series[0].points) EXPECT_LT(point.y, 3);
}

TEST_F(Figures, SeveralColumnsTellSeriesApartTogether) {
  for (const int seed : {1, 2}) {
    const MadeRun run{.id = fmt::format("adaptive-span-text8-{:08x}", seed), .type = "fixed", .span = 64, .seed = seed};
    maker_.evaluate(run, "test", 5, {{"eval.batch", 1}});
  }
  store_.sync(maker_.runs());
  const Figure result =
      figure("figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: [model.span_type, at.eval.batch]\n");
  std::vector<std::string> labels;
  for (const FigureSeries& series : result.series) labels.push_back(series.label);
  EXPECT_THAT(labels, ElementsAre("adaptive, eval batch 8", "fixed, eval batch 1", "fixed, eval batch 8"));
  EXPECT_EQ(result.series[0].points.size(), 2);
  ASSERT_EQ(result.series[1].points.size(), 1) << "measured so at one span";
  EXPECT_EQ(result.series[1].points[0].y, 5);
  EXPECT_EQ(result.series[1].points[0].runs.size(), 2) << "both seeds";
  EXPECT_EQ(result.series[2].points.size(), 2);
  EXPECT_TRUE(result.notes.empty()) << "no point mixes them";
  EXPECT_EQ(figure("figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: [model.span_type]\n").series.size(), 2);
  EXPECT_THROW(figure("figure: F\nx: model.span\ny: test.bpc\nseries: [model.span_type, model.spam]\n"), UsageError);
}

TEST_F(Figures, AverageSeedsWithErrorBars) {
  const Figure result = figure(kLine);
  ASSERT_EQ(result.series.size(), 2);
  EXPECT_EQ(result.series[0].label, "adaptive");
  ASSERT_EQ(result.series[0].points.size(), 2);
  const FigurePoint& point = result.series[0].points[1];
  EXPECT_EQ(point.x, 256);
  EXPECT_NEAR(point.y, 2 - 0.256 - 0.1 + 0.015, 1e-12);
  EXPECT_NEAR(*point.spread, 0.01 / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(point.runs.size(), 2);
  EXPECT_THAT(result.x_ticks, ElementsAre(64, 256));
  EXPECT_EQ(result.x_label, "span limit");
  EXPECT_EQ(result.y_label, "test bpc");
  EXPECT_EQ(result.caption, "mean and standard deviation over 2 seeds");
  EXPECT_TRUE(result.notes.empty());
}

TEST_F(Figures, SayWhatTheRunsOfAPointDifferIn) {
  const char* const what = "4 runs that differ in model.span_type and seed";
  for (const char* x : {"model.span", "step"}) {
    const Figure mixed =
        figure(fmt::format("figure: F\nkind: line\nx: {}\ny: {}\n{}", x, x == std::string("step") ? "bpc" : "test.bpc",
                           x == std::string("step") ? "where: {model.span: 64}\n" : ""));
    EXPECT_EQ(mixed.caption, fmt::format("mean and standard deviation over {}", what));
    EXPECT_THAT(mixed.notes, ElementsAre(HasSubstr(what)));
    EXPECT_THAT(gnuplot_script(mixed, PictureFormat::kSvg), HasSubstr(what));
  }
  const Figure cells = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.layers\nvalue: test.bpc\n");
  EXPECT_EQ(cells.caption, fmt::format("mean over {}", what));
  const Figure seeds = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_EQ(seeds.caption, "mean over 2 seeds");
  EXPECT_TRUE(seeds.notes.empty());
}

TEST_F(Figures, PointsOfAMeasuredXAreSeedsOfOneSetting) {
  const Figure result = figure("figure: F\nx: test.average_span\ny: test.bpc\n");
  ASSERT_EQ(result.series.size(), 1);
  EXPECT_EQ(result.series[0].points.size(), 4);
}

TEST_F(Figures, ErrorBarsThatShareAPlaceAreSetApart) {
  const std::string linear = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n";
  const Figure bars = figure(linear);
  const SetApart apart(bars);
  EXPECT_LT(apart(0, 256), 256);
  EXPECT_GT(apart(1, 256), 256);
  EXPECT_NEAR(apart(0, 256) + apart(1, 256), 512, 1e-9);
  EXPECT_LT(apart(1, 256) - apart(0, 256), 0.05 * 192) << "still at its place for the eye";
  EXPECT_NEAR(plotly_figure(bars)["data"][0]["x"][1].get<double>(), apart(0, 256), 1e-9);
  EXPECT_THAT(gnuplot_script(bars, PictureFormat::kSvg), HasSubstr(fmt::format("\n{} ", apart(0, 256))));
  EXPECT_EQ(SetApart(figure(linear + "spread: none\n"))(0, 256), 256);
  const Figure log = figure(linear + "x_scale: log\n");
  EXPECT_NEAR(SetApart(log)(0, 64) * SetApart(log)(1, 64), 64.0 * 64.0, 1e-6);
}

TEST_F(Figures, SayWhyALogarithmicAxisIsLinear) {
  const std::string text = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: seed\nspread: none\n";
  EXPECT_THAT(figure(text + "x_scale: log\ny_scale: log\n").warnings, ::testing::IsEmpty());
  maker_.make({.id = "zero", .type = "other", .span = 128, .seed = 1, .bpc = 0});
  store_.sync(maker_.runs());
  const Figure zero = figure(text + "x_scale: log\ny_scale: log\nwhere: {model.span_type: [fixed, other]}\n");
  EXPECT_THAT(zero.warnings, ElementsAre("the figure 'F' is linear, not logarithmic as y_scale asks: 1 of 5 values of "
                                         "test.bpc is zero or less, which has no logarithm"));
  EXPECT_FALSE(y_axis(zero).log);
  EXPECT_TRUE(x_axis(zero).log);
  EXPECT_THAT(figure(text + "y_scale: log\ny_range: [0, 3]\nwhere: {model.span_type: fixed}\n").warnings,
              ElementsAre(HasSubstr("y_range begins at 0, which has no logarithm")));
  EXPECT_THAT(figure(text + "where: {model.span_type: [fixed, other]}\n").warnings, ::testing::IsEmpty())
      << "nobody asked";
  const Figure cells = figure(
      "figure: F\nkind: heatmap\nx: model.span\ny: seed\nvalue: test.bpc\ny_scale: log\n"
      "where: {model.span_type: [fixed, other]}\n");
  EXPECT_THAT(cells.warnings, ElementsAre(HasSubstr("1 of 5 values of test.bpc is zero or less")));
}

TEST_F(Figures, AxesEndWhereTheyAreTold) {
  const Axis told = y_axis(figure(std::string(kLine) + "y_range: [1, null]\n"));
  EXPECT_EQ(told.range.low, 1);
  EXPECT_GT(told.range.high, 1.9);
  EXPECT_EQ(x_axis(figure(std::string(kLine) + "x_range: [0, 500]\n")).range.high, 500);
  const std::string bars = "figure: F\nkind: bars\nx: model.span\ny: test.bpc\nseries: model.span_type\n";
  EXPECT_EQ(y_axis(figure(bars)).range.low, 0);
  EXPECT_GT(y_axis(figure(bars + "from_zero: false\n")).range.low, 1);
}

TEST_F(Figures, HaveTheSizeAndTheFontOfThePaper) {
  const Figure own = figure(std::string(kLine) + "width: 3.3\nheight: 2.5\nfont: Latin Modern Roman\n");
  EXPECT_THAT(gnuplot_script(own, PictureFormat::kPdf),
              HasSubstr("size 3.3,2.5 enhanced font 'Latin Modern Roman,10'"));
  EXPECT_THAT(gnuplot_script(own, PictureFormat::kSvg), HasSubstr("size 390,300 enhanced"));
  EXPECT_THAT(plotly_figure(own)["layout"]["font"]["family"].get<std::string>(), StartsWith("'Latin Modern Roman', "));
}

TEST_F(Figures, NoisyCurvesAreSmoothed) {
  add_noisy_run("noisy", 1, 0);
  const Figure smooth = figure("figure: F\nkind: line\nx: step\ny: bpc\nwhere: {experiment: noise}\nsmooth: 3\n");
  const std::vector<FigurePoint>& points = smooth.series[0].points;
  ASSERT_EQ(points.size(), 6);
  EXPECT_NEAR(points[0].y, 2, 1e-12) << "of two points at the end";
  EXPECT_NEAR(points[1].y, 5.0 / 3, 1e-12);
  EXPECT_NEAR(points[2].y, 7.0 / 3, 1e-12);
  EXPECT_FALSE(points[2].spread) << "a single run's own noise would look like that of seeds";
  EXPECT_EQ(smooth.caption, "running mean over 3 points");
  EXPECT_THAT(gnuplot_script(smooth, PictureFormat::kSvg), Not(HasSubstr("with filledcurves")));
}

TEST_F(Figures, SmoothedCurvesOfSeveralSeedsHaveABand) {
  add_noisy_run("one", 1, 0);
  add_noisy_run("two", 2, 1);
  const std::string text = "figure: F\nkind: line\nx: step\ny: bpc\nwhere: {experiment: noise}\nsmooth: 3\n";
  const Figure smooth = figure(text);
  EXPECT_NEAR(smooth.series[0].points[2].y, 7.0 / 3 + 0.5, 1e-12);
  EXPECT_NEAR(*smooth.series[0].points[2].spread, std::sqrt(0.5), 1e-12) << "of values that lie 1 apart";
  EXPECT_EQ(smooth.caption, "mean and standard deviation over 2 seeds; running mean over 3 points");
  EXPECT_THAT(gnuplot_script(smooth, PictureFormat::kSvg), HasSubstr("with filledcurves")) << "few as they are";
  const Json page = plotly_figure(smooth);
  EXPECT_EQ(page["data"][0]["fill"], "toself");
  EXPECT_FALSE(page["data"][1].contains("error_y"));
  const Figure bare = figure(text + "spread: none\n");
  EXPECT_FALSE(bare.series[0].points[2].spread);
  EXPECT_EQ(bare.caption, "mean over 2 seeds; running mean over 3 points");
  EXPECT_THAT(gnuplot_script(bare, PictureFormat::kSvg), Not(HasSubstr("with filledcurves")));
}

TEST_F(Figures, FrontIsAStaircase) {
  const Figure result = figure("figure: F\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\n");
  ASSERT_EQ(result.fronts.size(), 1);
  const auto& corners = result.fronts[0].corners;
  ASSERT_EQ(corners.size(), 3);
  EXPECT_THAT(corners[1], Pair(256e6, corners[0].second)) << "right, then down";
}

TEST_F(Figures, EveryCorpusHasAFrontOfItsOwn) {
  maker_.make({.id = "easy", .bpc = 0.1, .flops = 1e6});
  write_file(RunPaths{maker_.folder("easy")}.environment(),
             Json{{"dataset", "easy's"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nx: flops_per_token\ny: test.bpc\nseries: data.name\nfront: true\n");
  ASSERT_EQ(result.fronts.size(), 2);
  EXPECT_EQ(result.fronts[0].label, "Pareto front, easy's");
  EXPECT_THAT(result.fronts[0].corners, ElementsAre(Pair(1e6, 0.1)));
  EXPECT_EQ(result.fronts[1].label, "Pareto front, text8");
  EXPECT_EQ(result.fronts[1].corners.size(), 3) << "as without the other text";
  const std::string script = gnuplot_script(result, PictureFormat::kSvg);
  EXPECT_THAT(script, HasSubstr("$front1 using 1:2"));
  EXPECT_THAT(script, HasSubstr("dashtype 2 title 'Pareto front, text8'"));
  const Json page = plotly_figure(result);
  EXPECT_EQ(page["data"][1]["name"], "Pareto front, text8");
  EXPECT_NE(page["data"][0]["line"]["dash"], page["data"][1]["line"]["dash"]);
}

TEST_F(Figures, CornersOfTheFrontAreWhatBothNeighboursDominate) {
  // Four runs in a square: FLOPs 1 or 2 million, bpc 1 or 2; each direction has a front of two or of one.
  maker_.make({.id = "low", .type = "square", .seed = 1, .bpc = 1, .flops = 1e6});
  maker_.make({.id = "high", .type = "square", .seed = 2, .bpc = 2, .flops = 2e6});
  maker_.make({.id = "left", .type = "other", .seed = 3, .bpc = 2, .flops = 1e6});
  maker_.make({.id = "right", .type = "other", .seed = 4, .bpc = 1, .flops = 2e6});
  store_.sync(maker_.runs());
  const auto front = [&](const std::string& maximize, const std::string& type) {
    return figure("figure: F\nx: flops_per_token\ny: test.bpc\nseries: seed\nfront: true\nmaximize: " + maximize +
                  "\nwhere: {model.span_type: " + type + "}\n")
        .fronts.at(0)
        .corners;
  };
  EXPECT_THAT(front("none", "other"), ElementsAre(Pair(1e6, 2), Pair(2e6, 2), Pair(2e6, 1)));
  EXPECT_THAT(front("both", "other"), ElementsAre(Pair(1e6, 2), Pair(1e6, 1), Pair(2e6, 1)));
  EXPECT_THAT(front("x", "square"), ElementsAre(Pair(1e6, 1), Pair(1e6, 2), Pair(2e6, 2)));
  EXPECT_THAT(front("y", "square"), ElementsAre(Pair(1e6, 1), Pair(2e6, 1), Pair(2e6, 2)));
  EXPECT_THAT(front("none", "square"), ElementsAre(Pair(1e6, 1)));
}

TEST_F(Figures, CurvesOfEvaluationsLeaveOutThoseWithOtherSettings) {
  const MadeRun run{.id = "curve", .type = "dynamic"};  // valid.bpc 1.7 at step 50, 1.4 at the end
  maker_.make(run);
  Json other = RunMaker::evaluation("valid", 9.0);
  other["settings"] = {{"eval.batch", 1}};  // not what the run is configured with
  Json later = RunMaker::evaluation("valid", 8.0, false);
  later["settings"] = {{"eval.batch", 2}};
  Journal journal = maker_.journal(run);
  journal.append("evaluation", other);
  journal.append("evaluation", later);
  journal.append("evaluation", RunMaker::evaluation("valid", 1.6, false, 75));
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nkind: line\nx: step\ny: valid.bpc\nwhere: {run_id: curve}\n");
  ASSERT_EQ(result.series.size(), 1);
  std::vector<std::pair<double, double>> points;
  for (const FigurePoint& point : result.series[0].points) points.emplace_back(point.x, point.y);
  EXPECT_THAT(points, ElementsAre(Pair(50, 1.7), Pair(75, 1.6), Pair(100, 1.4)));
}

TEST_F(Figures, SpansOfTheNewestRun) {
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: spans\n");
  EXPECT_THAT(heat.grid, ElementsAre(ElementsAre(32, 40), ElementsAre(33, 256)));
  EXPECT_EQ(heat.caption, "adaptive-span-text8-00000008");
  EXPECT_THAT(heat.notes, ElementsAre(HasSubstr("the newest of 8 runs")));
  const Figure points =
      figure("figure: F\nkind: scatter\ngrid: spans\nwhere: {run_id: adaptive-span-text8-00000001}\n");
  EXPECT_TRUE(points.notes.empty());
  EXPECT_EQ(points.series[0].points.size(), 4);
  EXPECT_EQ(points.series[1].points[1].y, (33 + 64) / 2.0);
}

TEST_F(Figures, CurvesOverSteps) {
  const Figure metric =
      figure("figure: F\nkind: line\nx: step\ny: loss\nseries: model.span_type\nwhere: {model.span: 64}\n");
  ASSERT_EQ(metric.series.size(), 2);
  EXPECT_EQ(metric.series[0].points.size(), 2);
  EXPECT_EQ(metric.series[0].points[0].x, 50);
  EXPECT_EQ(metric.series[0].points[0].y, 1.2);
  const Figure evaluation = figure(
      "figure: F\nkind: line\nx: step\ny: valid.bpc\nwhere: {model.span: 64, seed: 1, model.span_type: fixed}\n");
  ASSERT_EQ(evaluation.series[0].points.size(), 2);
  EXPECT_EQ(evaluation.series[0].points[1].x, 100);
}

TEST_F(Figures, HeatmapOfAColumn) {
  const Figure result = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_THAT(result.x_names, ElementsAre("64", "256"));
  EXPECT_THAT(result.y_names, ElementsAre("adaptive", "fixed"));
  EXPECT_NEAR(result.grid[0][0], 1.851, 1e-12);
}

TEST_F(Figures, HolesInAHeatmapHaveNoNumber) {
  maker_.make({.id = "lone", .type = "fixed", .span = 512});
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_TRUE(std::isnan(result.grid[0][2]));
  EXPECT_EQ(result.grid_runs[1][2], std::vector<std::string>{"lone"});
  const std::string script = gnuplot_script(result, PictureFormat::kSvg);
  const std::size_t numbers = script.find("$numbers << EOD");
  EXPECT_THAT(script.substr(numbers, script.find("EOD\n", numbers + 20) - numbers), Not(HasSubstr("nan")));
  if (gnuplot_is_installed()) {
    EXPECT_THAT(run_gnuplot(script), Not(HasSubstr("nan<")));
  }
}

TEST_F(Figures, AxesFitTheData) {
  const std::string log = gnuplot_script(figure(kLine), PictureFormat::kSvg);
  EXPECT_THAT(log, HasSubstr("set xtics ('64' 64, '256' 256)"));
  EXPECT_THAT(log, HasSubstr("set logscale x 10"));
  const std::string large = gnuplot_script(figure("figure: F\nx: flops_per_token\ny: test.bpc\n"), PictureFormat::kSvg);
  EXPECT_THAT(large, HasSubstr("'100M' 100000000"));
}

TEST_F(Figures, TicksThatWouldTouchBecomeRoundNumbers) {
  maker_.make({.id = "r1", .span = 65});
  store_.sync(maker_.runs());
  const std::string script = gnuplot_script(figure("figure: F\nx: model.span\ny: test.bpc\n"), PictureFormat::kSvg);
  EXPECT_THAT(script, Not(HasSubstr("'65' 65")));
  EXPECT_THAT(script, HasSubstr("'100' 100"));
}

TEST_F(Figures, TextOnXBecomesPlaces) {
  const Figure result = figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n");
  EXPECT_THAT(result.x_names, ElementsAre("adaptive", "fixed"));
  EXPECT_EQ(result.series[0].label, "span limit 64");
}

class Texts : public Figures {
 protected:
  Texts() {
    for (const int span : {64, 256}) {
      for (const int seed : {1, 2}) {
        maker_.make({.id = fmt::format("text-{}-{}", span, seed),
                     .type = "dynamic",
                     .span = span,
                     .seed = seed,
                     .text = "on a\ncat's mat"});
      }
    }
    store_.sync(maker_.runs());
  }
};

constexpr const char* kText =
    "figure: Span along a text\nkind: text\ny: span\nseries: model.span\nfirst: 4\ntokens: 5\n";

TEST_F(Texts, StandUnderTheMeanOverSeeds) {
  const Figure result = figure(kText);
  EXPECT_THAT(result.x_names, ElementsAre("a", "↵", "c", "a", "t"));
  ASSERT_EQ(result.series.size(), 2);
  EXPECT_EQ(result.series[1].label, "span limit 256");
  ASSERT_EQ(result.series[1].points.size(), 5);
  EXPECT_EQ(result.series[1].points[2].x, 2);
  EXPECT_EQ(result.series[1].points[2].y, 61.5);
  EXPECT_THAT(result.series[1].points[2].runs, ElementsAre("text-256-1", "text-256-2"));
  EXPECT_NEAR(*result.series[1].points[2].spread, std::sqrt(0.5), 1e-12);
  EXPECT_EQ(result.x_label, "test split, tokens 4 to 8");
  EXPECT_EQ(result.caption, "mean and standard deviation over 2 seeds");
  EXPECT_THAT(gnuplot_script(result, PictureFormat::kSvg), HasSubstr("('a' 0, '↵' 1, 'c' 2, 'a' 3, 't' 4)"));
}

TEST_F(Texts, EndWhereTheRecordedOnesDo) {
  EXPECT_THAT(figure("figure: F\nkind: text\ny: span\nfirst: 12\nwhere: {run_id: text-64-1}\n").x_names,
              ElementsAre("m", "a", "t"));
}

TEST_F(Texts, ThatNoRunHasOrThatDifferAreNotDrawn) {
  const auto refusal = [&](const std::string& yaml) -> std::string {
    return nothing("figure: F\nkind: text\n" + yaml).message;
  };
  EXPECT_THAT(refusal("y: span\nwhere: {model.span_type: fixed}\n"), HasSubstr("none of 4 runs says 'span' of"));
  EXPECT_THAT(refusal("y: span\nfirst: 99\n"), HasSubstr("the tokens from 99 on of the test split"));
  EXPECT_THAT(refusal("y: boundary\n"), HasSubstr("'boundary'"));
  EXPECT_THAT(refusal("y: span\nsplit: valid\n"), HasSubstr("valid split"));
  maker_.make({.id = "elsewhere", .text = "another"});
  store_.sync(maker_.runs());
  EXPECT_EQ(nothing("figure: F\nkind: text\ny: span\n").reason,
            "the figure 'F' shows runs on different texts (text-256-1 is one of another)");
  EXPECT_THAT(refusal("y: span\n"), HasSubstr("another)\n`where: {data.name: …}` picks those of one"));
}

TEST_F(Texts, StandUprightWhereTheirTokensAreWords) {
  maker_.make({.id = "words"});
  maker_.journal({.id = "words"})
      .append("trace", {{"split", "test"}, {"tokens", {"the", "Ġcat", "<0xC3>"}}, {"values", {{"span", {3, 4.5, 2}}}}});
  store_.sync(maker_.runs());
  const Figure result = figure("figure: F\nkind: text\ny: span\nwhere: {run_id: words}\n");
  EXPECT_THAT(result.x_names, ElementsAre("the", "Ġcat", "\ufffd"));
  EXPECT_THAT(gnuplot_script(result, PictureFormat::kSvg), HasSubstr("rotate by 90"));
  EXPECT_EQ(plotly_figure(result)["layout"]["xaxis"]["tickangle"], -90);
}

TEST_F(Texts, AreDrawnInEveryFormat) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const Figure drawn = figure(kText);
  const std::string svg = run_gnuplot(gnuplot_script(drawn, PictureFormat::kSvg));
  EXPECT_THAT(svg, HasSubstr("↵"));
  EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kPdf)), StartsWith("%PDF"));
  EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kPng)), StartsWith("\x89PNG"));
}

TEST_F(Figures, NothingToShowIsAValueThatSaysWhy) {
  const NothingToShow none = nothing("figure: \"F: f\"\nx: model.span\ny: test.bpc\nwhere: {seed: 99}\n");
  EXPECT_EQ(none.title, "F: f");
  EXPECT_EQ(none.reason, "no run has seed=99; the nearest there is: 2, beside 1");
  EXPECT_EQ(none.message,
            "the figure 'F: f' has nothing to show: no run has seed=99; the nearest there is: 2, beside 1\n"
            "`xlm runs ls` lists the runs, `xlm sweep` makes them");
  EXPECT_EQ(nothing("figure: F\nx: model.span\ny: peak_memory\n").reason,
            "none of 8 runs has both model.span and peak_memory");
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\nx: seed\ny: model.span\nvalue: peak_memory\n").reason,
            "none of 8 runs has seed, model.span and peak_memory");
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\ngrid: spans\nwhere: {seed: 99}\n").reason,
            "no run has seed=99; the nearest there is: 2, beside 1");
  EXPECT_THROW(figure("figure: F\nx: model.spam\ny: test.bpc\n"), UsageError);
}

class Grids : public Figures {
 protected:
  Grids() {
    const MadeRun run{.id = "gates", .time = 50000};
    maker_.make(run);
    maker_.journal(run).append(
        "grid", {{"step", 90}, {"name", "gate_share"}, {"rows", Json::array({Json::array({9, 9, 9, 9})})}});
    maker_.journal(run).append("grid",
                               {{"step", 100}, {"name", "gate_share"}, {"rows", {{0.25, 0.5, 1.5}, {2, nullptr}}}});
    maker_.make({.id = "newer", .time = 60000});
    store_.sync(maker_.runs());
  }
};

TEST_F(Grids, AreShownUnderTheirOwnName) {
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: gate_share\n");
  EXPECT_EQ(heat.caption, "gates") << "the newest that has one";
  EXPECT_TRUE(heat.notes.empty());
  ASSERT_EQ(heat.grid.size(), 2) << "of its newest step";
  EXPECT_THAT(heat.grid[0], ElementsAre(0.25, 0.5, 1.5));
  ASSERT_EQ(heat.grid[1].size(), 3) << "as wide as the widest row";
  EXPECT_EQ(heat.grid[1][0], 2);
  EXPECT_TRUE(std::isnan(heat.grid[1][1]));
  EXPECT_EQ(heat.x_label + "|" + heat.y_label + "|" + heat.value_label, "column|row|gate share");
  EXPECT_THAT(gnuplot_script(heat, PictureFormat::kSvg), HasSubstr("set cblabel 'gate share'"));
  EXPECT_TRUE(plotly_figure(heat)["data"][0]["z"][1][1].is_null());
}

TEST_F(Grids, AreShownAsPointsAndMeansOfRows) {
  const Figure points = figure("figure: F\ngrid: gate_share\ny_label: share\n");
  ASSERT_EQ(points.series.size(), 2);
  EXPECT_EQ(points.series[0].label, "one column");
  EXPECT_EQ(points.series[0].points.size(), 4) << "none for what is not there";
  EXPECT_EQ(points.series[1].label, "mean of the row");
  EXPECT_EQ(points.series[1].points[0].y, 0.75);
  EXPECT_EQ(points.series[1].points[1].y, 2);
  EXPECT_EQ(points.y_label, "share");
}

/// Ten heads whose attention moves away, one step each; of columns that stand for the distances 4, 8, 12 and 15.
class AttentionGrid : public Figures {
 protected:
  AttentionGrid() {
    const MadeRun run{.id = "attentive", .time = 70000};
    maker_.make(run);
    Json rows = Json::array();
    for (int head = 0; head < 10; ++head) {
      const double far = 0.1 * ((head + 3) % 10);  // head 8 sees nearest, head 7 farthest
      rows.push_back({1 - far, 0, nullptr, far});
    }
    maker_.journal(run).append("grid",
                               {{"step", 100}, {"name", "attention"}, {"rows", rows}, {"columns", {4, 8, 12, 15}}});
    store_.sync(maker_.runs());
  }
};

TEST_F(AttentionGrid, OfManyRowsTheTwoThatDifferMostAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: attention\n");
  ASSERT_EQ(lines.series.size(), 2);
  EXPECT_EQ(lines.series[0].label, "head 8");
  EXPECT_EQ(lines.series[1].label, "head 7");
  ASSERT_EQ(lines.series[0].points.size(), 3) << "none for what is not there";
  EXPECT_EQ(lines.series[0].points[0].x, 4);
  EXPECT_EQ(lines.series[1].points[2].x, 15);
  EXPECT_DOUBLE_EQ(lines.series[1].points[2].y, 0.9);
  EXPECT_THAT(lines.series[1].points[2].runs, ElementsAre("attentive"));
  EXPECT_EQ(lines.x_label + "|" + lines.y_label, "distance|attention weight");
  EXPECT_EQ(lines.caption, "attentive; heads are counted layer by layer");
  ASSERT_EQ(lines.notes.size(), 1);
  EXPECT_THAT(lines.notes[0], HasSubstr("whose mean distance is the least and the greatest, of 10"));
}

TEST_F(AttentionGrid, RowsThatAreNamedAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: attention\nrows: [2, 9, 1]\nx_scale: log\n");
  ASSERT_EQ(lines.series.size(), 3);
  EXPECT_EQ(lines.series[1].label, "head 9");
  EXPECT_DOUBLE_EQ(lines.series[0].points[2].y, 0.4);
  EXPECT_TRUE(lines.notes.empty());
  for (const char* row : {"11", "0"}) {
    EXPECT_THROW(figure(std::string("figure: F\nkind: line\ngrid: attention\nrows: [") + row + "]\n"), UsageError);
  }
}

TEST_F(AttentionGrid, AHeatmapNamesItsColumns) {
  EXPECT_THAT(figure("figure: F\nkind: heatmap\ngrid: attention\n").x_names, ElementsAre("4", "8", "15"))
      << "a column without numbers is not there";
}

TEST_F(AttentionGrid, OfManyColumnsAHeatmapNamesThoseThatHaveRoom) {
  Json row = Json::array();
  Json columns = Json::array();
  for (int i = 1; i <= 128; ++i) {
    row.push_back(1.0 / 128);
    columns.push_back(2 * i);
  }
  maker_.journal({.id = "attentive"})
      .append("grid", {{"step", 100}, {"name", "wide"}, {"rows", Json::array({row})}, {"columns", columns}});
  store_.sync(maker_.runs());
  const Figure heat = figure("figure: F\nkind: heatmap\ngrid: wide\n");
  ASSERT_EQ(heat.x_names.size(), 128) << "a place is named where it is hovered over";
  const std::string script = gnuplot_script(heat, PictureFormat::kSvg);
  EXPECT_THAT(script, HasSubstr("'' 14, '32' 15, '' 16"));
  const Json names = plotly_figure(heat)["layout"]["xaxis"]["ticktext"];
  EXPECT_EQ(names[7], "16");
  EXPECT_EQ(names[8], "");
}

TEST_F(Figures, OfFewRowsAllAreDrawn) {
  const Figure lines = figure("figure: F\nkind: line\ngrid: spans\n");
  ASSERT_EQ(lines.series.size(), 2);
  EXPECT_EQ(lines.series[1].label, "layer 2");
  EXPECT_EQ(lines.series[1].points[0].y, 33);
}

TEST_F(Grids, ThatNobodyKnowsAreErrors) {
  try {
    figure("figure: F\nkind: heatmap\ngrid: gate_shares\n");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "the figure 'F' asks for the grid 'gate_shares' (did you mean 'gate_share'?); "
                 "there is: gate_share, spans");
  }
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\ngrid: gate_share\nwhere: {run_id: newer}\n").reason,
            "none of 1 runs has gate_share in its journal");
}

TEST(GridsOfAnEmptyStore, MayYetCome) {
  TemporaryFolder folder;
  RunMaker maker(folder.path());
  maker.make({.id = "a", .state = "running"});
  Store store = Store::in_memory();
  store.sync(maker.runs());
  RunTable runs(store);
  const auto built = build_figure(runs, spec_of("figure: F\nkind: heatmap\ngrid: gates\n"), {});
  EXPECT_EQ(std::get<NothingToShow>(built).reason, "none of 1 runs has gates in its journal");
}

TEST(FigureKinds, AreWholeAndNamedOnce) {
  std::set<std::string> names;
  for (const FigureKind& kind : figure_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(kind.problem != nullptr && kind.build != nullptr) << kind.name;
    EXPECT_TRUE(kind.gnuplot != nullptr && kind.plotly != nullptr) << kind.name;
    FigureDescription description;
    EXPECT_FALSE(kind.problem(description).empty()) << "a " << kind.name << " of nothing";
    description.kind = kind.name;
    EXPECT_EQ(kind_of(description).name, kind.name);
  }
  EXPECT_TRUE(names.contains(FigureDescription().kind)) << "the kind of a figure that names none";
}

/// A text of three letters; two seeds say where it breaks, one of them in one place more.
TEST_F(Figures, OfATextMarkWhatMostRunsMark) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("marked-{}", seed), .type = "dynamic", .seed = seed, .text = "abc"};
    maker_.make(run);
    Json record = RunMaker::trace(run);
    record["values"]["boundary"] = {seed == 1 ? 1 : 0, seed == 3 ? 0 : 1, 0};
    maker_.journal(run).append("trace", record);
  }
  store_.sync(maker_.runs());
  const std::string yaml = "figure: F\nkind: text\ny: span\nwhere: {model.span_type: dynamic}\n";
  const Figure plain = figure(yaml);
  EXPECT_TRUE(plain.series.at(0).marks.empty());
  const Figure marked = figure(yaml + "marks: boundary\n");
  ASSERT_EQ(marked.series.size(), 1);
  EXPECT_THAT(marked.series[0].marks, ElementsAre(1)) << "of place 1, the second letter, two of three runs say so";
  EXPECT_EQ(marked.series[0].points[1].y, 22) << "the line is what it is without marks";
  EXPECT_EQ(marked.caption, plain.caption);
  EXPECT_THAT(gnuplot_script(marked, PictureFormat::kSvg), HasSubstr("set arrow from first 1.5, graph 0"));
  EXPECT_THAT(gnuplot_script(plain, PictureFormat::kSvg), Not(HasSubstr("set arrow")));
  const Json plot = plotly_figure(marked);
  ASSERT_EQ(plot["layout"]["shapes"].size(), 1);
  EXPECT_EQ(plot["layout"]["shapes"][0]["x0"], 1.5);
  EXPECT_THAT(nothing(yaml + "marks: spike\n").reason, HasSubstr("none of 3 runs says 'spike'"));
}

TEST_F(Figures, MarksOfSeveralSeriesHaveTheirColours) {
  for (const int seed : {1, 2}) {
    const MadeRun run{.id = fmt::format("marked-{}", seed), .type = "dynamic", .seed = seed, .text = "abc"};
    maker_.make(run);
    Json record = RunMaker::trace(run);
    record["values"]["boundary"] = {seed == 1, seed == 2, 0};
    for (Json& flag : record["values"]["boundary"]) flag = flag == true ? 1 : 0;
    maker_.journal(run).append("trace", record);
  }
  store_.sync(maker_.runs());
  const Figure two =
      figure("figure: F\nkind: text\ny: span\nmarks: boundary\nseries: seed\nwhere: {model.span_type: dynamic}\n");
  ASSERT_EQ(two.series.size(), 2);
  EXPECT_THAT(two.series[0].marks, ElementsAre(0));
  EXPECT_THAT(two.series[1].marks, ElementsAre(1));
  const Json shapes = plotly_figure(two)["layout"]["shapes"];
  EXPECT_NE(shapes[0]["line"]["color"], shapes[1]["line"]["color"]);
}

TEST_F(Figures, ScriptsQuoteWhatUsersWrite) {
  const std::string script = gnuplot_script(
      figure(std::string(kLine) + "x_label: \"it's `rm -rf` \\\"$x\\\"\\n@y\"\nname: safe\n"), PictureFormat::kSvg);
  EXPECT_THAT(script, HasSubstr("set xlabel 'it''s `rm -rf` \"$x\" @y' noenhanced"));
}

TEST_F(Figures, AreDrawnInEveryFormat) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  for (const char* yaml :
       {kLine, "figure: F\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\ny_scale: log\n",
        "figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n",
        "figure: F\nkind: heatmap\ngrid: spans\ny_scale: log\n",
        "figure: F\nkind: scatter\ngrid: spans\ny_scale: log\n", "figure: F\nkind: line\ngrid: spans\n",
        "figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n",
        "figure: F\nkind: heatmap\nx: seed\ny: model.type\nvalue: params\n", "figure: F\nx: seed\ny: params\n",
        "figure: F\nkind: line\nx: step\ny: bpc\nseries: model.span_type\n"}) {
    const Figure drawn = figure(yaml);
    EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kSvg)), HasSubstr("</svg>")) << yaml;
    EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kPdf)), StartsWith("%PDF")) << yaml;
    EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kPng)), StartsWith("\x89PNG")) << yaml;
  }
}

TEST_F(Figures, TitlesAreNeverRun) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  const fs::path victim = temporary_.path() / "made";
  const Figure drawn = figure("figure: \"`touch " + victim.string() + "` ' . system('touch " + victim.string() +
                              "') . '\"\nx: model.span\ny: test.bpc\n");
  EXPECT_THAT(run_gnuplot(gnuplot_script(drawn, PictureFormat::kSvg)), HasSubstr("touch"));
  EXPECT_FALSE(fs::exists(victim));
}

TEST(Gnuplot, IsMissedByName) {
  try {
    run_gnuplot("plot 1", "gnuplot-that-is-not-there");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), kFailed);
    EXPECT_THAT(error.what(), HasSubstr("apt-get install gnuplot-nox"));
  }
}

TEST(Gnuplot, SaysWhatIsWrongWithAScript) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_THROW(run_gnuplot("set nonsense\n"), Error);
}

TEST(FigureFiles, ErrorsNameTheLine) {
  const auto refusal = [](const std::string& yaml) -> std::string {
    try {
      spec_of(yaml);
    } catch (const UsageError& error) {
      return error.what();
    }
    ADD_FAILURE() << "accepted:\n" << yaml;
    return "";
  };
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nseriess: c\n"), HasSubstr("description.yaml:4: unknown key 'seriess'"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nseries: {c: d}\n"),
              HasSubstr("description.yaml:4: series takes a column of the store, or a list of columns"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nseries: [c, d, c]\n"),
              HasSubstr("description.yaml:4: series names c twice"));
  EXPECT_THAT(refusal("figures:\n  - figure: F\n    kind: pie\n"),
              HasSubstr("description.yaml:3: kind must be one of scatter, line, bars, heatmap, text, not 'pie'"));
  EXPECT_THAT(refusal("figure: F\nx: a\n"), HasSubstr("needs x and y"));
  EXPECT_THAT(refusal("figure: F\nkind: heatmap\nx: a\ny: b\n"), HasSubstr("needs 'value'"));
  EXPECT_THAT(refusal("figure: F\nkind: bars\ngrid: spans\n"), HasSubstr("one of heatmap, line, scatter"));
  EXPECT_THAT(refusal("figure: F\nkind: heatmap\ngrid: spans\nrows: [1]\n"), HasSubstr("only a line of a grid"));
  EXPECT_THAT(refusal("figure: F\nkind: line\nx: a\ny: b\nrows: [1]\n"), HasSubstr("only a line of a grid"));
  EXPECT_THAT(refusal("figure: F\nkind: line\nx: a\ny: b\nmarks: c\n"), HasSubstr("'marks', which only a text"));
  EXPECT_THAT(refusal("figure: F\nkind: line\ngrid: spans\nmarks: c\n"), HasSubstr("'marks', which only a text"));
  EXPECT_THAT(refusal("figure: F\nkind: bars\nx: a\ny: b\nfront: true\n"),
              HasSubstr("Pareto front only as scatter or line"));
  EXPECT_THAT(refusal("figure: F\nkind: bars\nx: a\ny: b\nvalue: c\n"), HasSubstr("which only a heatmap shows"));
  EXPECT_THAT(refusal("figure: F\nkind: bars\nx: a\ny: b\nx_scale: log\n"), HasSubstr("log scale"));
  EXPECT_THAT(refusal("figure: F\nkind: text\n"), HasSubstr("needs y: what the model says"));
  EXPECT_THAT(refusal("figure: F\nkind: text\nx: a\ny: span\n"), HasSubstr("has no x or value"));
  EXPECT_THAT(refusal("figure: F\nkind: text\ny: span\nfirst: 0\n"), HasSubstr("description.yaml:4"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nfront: maybe\n"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nname: ../up\n"), HasSubstr("without folders"));
  for (const char* range : {"5", "[1]", "[2, 1]", "[a, 1]", "[1, 2, 3]", "[.inf, 3]"}) {
    EXPECT_THAT(refusal(fmt::format("figure: F\nx: a\ny: b\nx_range: {}\n", range)),
                HasSubstr("description.yaml:4: x_range"));
  }
  EXPECT_THAT(refusal("figure: F\nkind: bars\nx: a\ny: b\nx_range: [0, 1]\n"),
              HasSubstr("only a scatter or line shows"));
  EXPECT_THAT(refusal("figure: F\nkind: heatmap\nx: a\ny: b\nvalue: c\ny_range: [0, 1]\n"), HasSubstr("a heatmap"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nfrom_zero: false\n"), HasSubstr("only bars show"));
  EXPECT_THAT(refusal("figure: F\nkind: line\nx: a\ny: b\nsmooth: 3\n"), HasSubstr("only a line over steps"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nfont: a,b\n"), HasSubstr("no family's name"));
  EXPECT_THAT(refusal("figures: [5]\n"), HasSubstr("description.yaml:1"));
  EXPECT_EQ(spec_of("figure: Bits per character (S = 8192)!\nx: a\ny: b\n").name, "bits-per-character-s-8192");
}

}  // namespace
}  // namespace xlm
