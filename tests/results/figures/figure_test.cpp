// Figures: their files, their points, curves and fronts.
#include "results/figures/figures.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/figures/figure_description.h"
#include "results/figures/figure_kind.h"
#include "tests/results/figures/figures.h"
#include "tests/results/run_maker.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

TEST_F(Figures, TrainingMayBeDrawnOverWhatItSpent) {
  for (const int seed : {1, 2}) {
    const MadeRun run{.id = fmt::format("axes-{}", seed), .experiment = "axes", .span = 32, .seed = seed};
    maker_.make(run);
    Journal journal = maker_.journal(run);
    for (const int step : {50, 100}) {
      journal.append("metric", {{"step", step}, {"values", {{"loss", 200.0 / step}, {"training_flops", step * 10.0}}}});
    }
    journal.append("metric", {{"step", 75}, {"values", {{"loss", 3.0}}}});
  }
  store_.sync(maker_.runs());
  const Figure curve = figure("figure: f\nkind: line\nx: flops\ny: loss\nwhere: {experiment: axes}\n");
  ASSERT_EQ(curve.series.size(), 1);
  ASSERT_EQ(curve.series[0].points.size(), 3);
  EXPECT_EQ(curve.series[0].points[0].x, 500);
  EXPECT_EQ(curve.series[0].points[0].y, 4);
  EXPECT_EQ(curve.series[0].points[1].x, 750) << "between two records";
  EXPECT_EQ(curve.series[0].points[2].x, 1000);
  EXPECT_EQ(curve.series[0].points[2].y, 2);
}

TEST_F(Figures, SeedsThatEndAtOtherPlacesMakeMeansOnOneGrid) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("ends-{}", seed), .experiment = "ends", .seed = seed, .state = "queued"};
    maker_.make(run);
    Journal journal = maker_.journal(run);
    for (const int step : {50, 100}) {  // what is learnt changes what a step costs
      const double flops = 10.0 * step + seed;
      journal.append("metric",
                     {{"step", step}, {"values", {{"loss", seed + 1000 - flops}, {"training_flops", flops}}}});
    }
  }
  store_.sync(maker_.runs());
  const Figure curve = figure("figure: f\nkind: line\nx: flops\ny: loss\nwhere: {experiment: ends}\n");
  ASSERT_EQ(curve.series.at(0).points.size(), 2) << "and not one of each seed";
  for (const FigurePoint& point : curve.series[0].points) EXPECT_EQ(point.runs.size(), 3);
  EXPECT_EQ(curve.series[0].points[1].x, 1001) << "at the records of one of them";
  EXPECT_NEAR(curve.series[0].points[1].y, (1.0 - 1 + 2 - 1 + 3 - 1) / 3, 1e-9) << "lines between two records";
}

TEST_F(Figures, SeedsWithOneNumberEachAreOnePointAndNoLine) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("once-{}", seed), .experiment = "once", .seed = seed, .state = "queued"};
    maker_.make(run);
    maker_.journal(run).append("metric", {{"step", 100 * seed}, {"values", {{"once", 2.0 * seed}}}});
  }
  store_.sync(maker_.runs());
  const Figure curve = figure("figure: f\nkind: line\nx: step\ny: once\nwhere: {experiment: once}\n");
  ASSERT_EQ(curve.series.at(0).points.size(), 1);
  EXPECT_EQ(curve.series[0].points[0].x, 200);
  EXPECT_EQ(curve.series[0].points[0].y, 4);
  EXPECT_THAT(curve.caption, HasSubstr("runs with one number each are a point at their mean place"));
}

TEST_F(Figures, SeedsWithOtherStepsMakeMeansOnOneGrid) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("steps-{}", seed), .experiment = "steps", .seed = seed, .state = "queued"};
    maker_.make(run);
    Journal journal = maker_.journal(run);
    for (int step = seed == 3 ? 15 : 10; step <= (seed == 2 ? 30 : 50); step += 10) {
      journal.append("metric", {{"step", step}, {"values", {{"loss", 100.0 * seed + step}}}});
    }
  }
  store_.sync(maker_.runs());
  const Figure curve = figure("figure: f\nkind: line\nx: step\ny: loss\nwhere: {experiment: steps}\n");
  ASSERT_EQ(curve.series.at(0).points.size(), 5) << "not one of each seed";
  const std::vector<FigurePoint>& points = curve.series[0].points;
  EXPECT_EQ(points[0].x, 15) << "where the third begins, too";
  EXPECT_DOUBLE_EQ(points[0].y, (115 + 215 + 315) / 3.0);
  EXPECT_DOUBLE_EQ(points[1].y, (120 + 220 + 320) / 3.0);
  EXPECT_DOUBLE_EQ(points[2].y, (130 + 230 + 330) / 3.0);
  EXPECT_DOUBLE_EQ(points[3].y, (140 + 340) / 2.0) << "one has ended";
  EXPECT_THAT(curve.notes, ElementsAre("the figure 'f': behind step 30 some of 3 runs have ended, and a point is over "
                                       "those that go on"));
  EXPECT_THAT(curve.caption, HasSubstr("over up to 3 seeds; interpolated between a run's own places; some runs end "
                                       "before others"));
  const Figure scatter = figure("figure: f\nkind: scatter\nx: step\ny: loss\nwhere: {experiment: steps}\n");
  EXPECT_EQ(scatter.series.at(0).points.size(), 9) << "points that no line joins stay where they are";
  EXPECT_THAT(scatter.notes, IsEmpty());
}

TEST_F(Figures, SayWhatIsLeftOut) {
  for (const int seed : {1, 2, 3}) {
    const MadeRun run{.id = fmt::format("lost-{}", seed),
                      .experiment = "lost",
                      .seed = seed,
                      .state = seed == 3 ? "diverged" : "done"};
    maker_.make(run);
    Journal journal = maker_.journal(run);
    journal.append("metric", {{"step", 1}, {"values", {{"loss", 2.0}}}});
    journal.append("series", {{"name", "loss"}, {"steps", {2}}, {"values", {seed == 1 ? Json("NaN") : Json(1.5)}}});
    if (seed < 3) journal.append("evaluation", RunMaker::evaluation("valid", 1.0 + seed, true, 2));
  }
  store_.sync(maker_.runs());
  EXPECT_THAT(figure("figure: f\nkind: line\nx: step\ny: loss\nwhere: {experiment: lost}\n").caption,
              HasSubstr("left out: 1 number that is not finite"));
  EXPECT_THAT(figure("figure: f\nkind: bars\nx: model.span\ny: valid.bpc\nwhere: {experiment: lost}\n").caption,
              HasSubstr("over 2 seeds; left out: 1 diverged"));
}

TEST_F(Figures, SayWhichTextsTheirNumbersAreOfIfNothingNamesThem) {
  const MadeRun other{.id = "of-enwik8", .span = 512};
  maker_.make(other);
  write_file(RunPaths{maker_.folder(other.id)}.environment(),
             Json{{"dataset", "enwik8"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
  store_.sync(maker_.runs());
  const std::string bars = "figure: f\nkind: bars\nx: model.span\ny: test.bpc\n";
  EXPECT_THAT(figure(bars).caption, HasSubstr("numbers on different text: enwik8, text8"));
  EXPECT_THAT(figure(bars + "series: data.name\n").caption, Not(HasSubstr("different text")));
  EXPECT_THAT(figure(bars + "where: {model.span: 64}\n").caption, Not(HasSubstr("different text")));
  EXPECT_THAT(figure("figure: f\nkind: bars\nx: model.span\ny: params\n").caption, Not(HasSubstr("different text")));
}

TEST_F(Figures, PartsOfATextAreLinesOfTheirOwn) {
  const MadeRun run{.id = "parts", .experiment = "parts", .span = 32, .state = "running"};
  maker_.make(run);
  Journal journal = maker_.journal(run);
  const auto evaluate = [&](int step, double bpc, int tokens, bool final) {
    Json record = RunMaker::evaluation("test", bpc, final, step);
    record["tokens"] = tokens;
    journal.append("evaluation", record);
  };
  for (const int step : {25, 50, 75}) evaluate(step, 2 - 0.01 * step, 50, false);
  evaluate(100, 1.4, 1000, true);  // the whole split is harder than its beginning
  store_.sync(maker_.runs());
  const Figure curve = figure("figure: f\nkind: line\nx: step\ny: test.bpc\nwhere: {experiment: parts}\n");
  ASSERT_EQ(curve.series.size(), 2);
  EXPECT_EQ(curve.series[0].label, "on 50 tokens");
  EXPECT_EQ(curve.series[0].points.size(), 3) << "which falls";
  EXPECT_EQ(curve.series[1].label, "on 1,000 tokens");
  EXPECT_EQ(curve.series[1].points.at(0).y, 1.4);
}

TEST_F(Figures, TimesCountFromTheFirstRun) {
  const std::vector<double> means{3, 2.5, 2.75, 2};
  for (std::size_t trial = 0; trial < means.size(); ++trial) {
    for (const int seed : {1, 2}) {
      maker_.make({.id = fmt::format("times-{}-{}", trial, seed),
                   .experiment = "times",
                   .span = 32 + static_cast<int>(trial),
                   .seed = seed,
                   .bpc = means[trial] + (seed == 1 ? 0.25 : -0.25),
                   .time = 1e9 + 3600.0 * static_cast<double>(trial) + 60 * seed});
    }
  }
  store_.sync(maker_.runs());
  const Figure result = figure("figure: f\nx: finished\ny: test.bpc\nwhere: {experiment: times}\nfront: true\n");
  EXPECT_EQ(result.x_label, "finished, hours after the first run");
  EXPECT_TRUE(result.x_ticks.empty());
  ASSERT_EQ(result.series.size(), 1);
  ASSERT_EQ(result.series[0].points.size(), 4) << "a point for all seeds of a setting";
  for (std::size_t trial = 0; trial < means.size(); ++trial) {
    const FigurePoint& point = result.series[0].points[trial];
    EXPECT_NEAR(point.x, static_cast<double>(trial) + 0.5 / 60, 1e-9);
    EXPECT_NEAR(point.y, means[trial], 1e-12);
    EXPECT_NEAR(*point.spread, 0.5 / std::sqrt(2.0), 1e-12);
  }
  ASSERT_EQ(result.fronts.size(), 1);
  std::vector<double> best;
  for (const auto& [x, y] : result.fronts[0].corners) best.push_back(y);
  EXPECT_THAT(best, ElementsAre(3, 3, 2.5, 2.5, 2)) << "the best so far";
}

TEST_F(Figures, PlaceEvaluationsAtTheirSettings) {
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
  // If x is an outcome, seeds with equal results are one point.
  const Figure scatter = figure(
      "figure: f\nkind: scatter\nx: flops_per_token\ny: test.bpc\nseries: at.eval.batch\n"
      "where: {model.span: 64, model.span_type: fixed}\n");
  ASSERT_EQ(scatter.series.size(), 3);
  for (const FigureSeries& series : scatter.series) EXPECT_EQ(series.points.size(), 1) << series.label;
  // A curve over training ignores later evaluations.
  const Figure curve = figure("figure: f\nkind: line\nx: step\ny: valid.bpc\nwhere: {model.span: 64, seed: 1}\n");
  for (const FigurePoint& point : curve.series[0].points) EXPECT_LT(point.y, 3);
}

TEST_F(Figures, AValueMayBelongToTheSeriesOfAnother) {
  const std::string text = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n";
  const MadeRun alone{.id = "adaptive-span-text8-00000099", .type = "none", .span = 8, .bpc = 1.25};
  maker_.make(alone);
  store_.sync(maker_.runs());
  const Figure apart = figure(text);
  ASSERT_EQ(apart.series.size(), 3);
  const Figure joined = figure(text + "same_series: {none: fixed}\n");
  ASSERT_EQ(joined.series.size(), 2);
  const auto fixed = [](const Figure& drawn) {
    return *std::find_if(drawn.series.begin(), drawn.series.end(),
                         [](const FigureSeries& series) { return series.label == "fixed"; });
  };
  ASSERT_EQ(fixed(joined).points.size(), fixed(apart).points.size() + 1);
  EXPECT_EQ(fixed(joined).points.front().x, 8) << "the curve begins with it";
  EXPECT_EQ(fixed(joined).points.front().y, 1.25);
  EXPECT_THROW(figure("figure: F\nx: model.span\ny: test.bpc\nsame_series: {none: fixed}\n"), UsageError);
  EXPECT_THROW(figure(text + "same_series: [none]\n"), UsageError);
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

TEST_F(Figures, SayHowTheRunsOfAPointDiffer) {
  const char* const what = "4 runs that differ in model.span_type and seed";
  for (const char* x : {"model.span", "step"}) {
    const Figure mixed =
        figure(fmt::format("figure: F\nkind: line\nx: {}\ny: {}\n{}", x, x == std::string("step") ? "bpc" : "test.bpc",
                           x == std::string("step") ? "where: {model.span: 64}\n" : ""));
    EXPECT_EQ(mixed.caption, fmt::format("mean and standard deviation over {}", what));
    EXPECT_THAT(mixed.notes, ElementsAre(HasSubstr(what)));
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

TEST_F(Figures, ARunThatGoesOnFromAnotherIsDrawnWithItsPast) {
  add_noisy_run("noisy", 1, 0);
  // The second one went on from a checkpoint that was two steps older than when it was seen, as a program's may be.
  for (const auto& [id, seen] : {std::pair("longer", 4), {"older", 6}}) {
    const MadeRun longer{.id = id, .experiment = "noise"};
    maker_.write_config(longer);
    const fs::path environment = temporary_.path() / "runs" / id / "environment.json";
    Json facts = read_json(environment);
    facts["parent"] = {{"run", "noisy"}, {"step", seen}};
    write_file(environment, json_text(facts));
    Journal out = maker_.journal(longer);
    out.append("state", {{"state", "running"}});
    for (int step = 5; step <= 7; ++step) out.append("metric", {{"step", step}, {"values", {{"bpc", 10.0 * step}}}});
    store_.sync(maker_.runs());
    const Figure curve = figure(fmt::format("figure: F\nkind: line\nx: step\ny: bpc\nwhere: {{run_id: {}}}\n", id));
    std::vector<double> values;
    for (const FigurePoint& point : curve.series.at(0).points) {
      EXPECT_EQ(point.x, static_cast<double>(values.size() + 1));
      values.push_back(point.y);
    }
    EXPECT_EQ(values, (std::vector<double>{1, 3, 1, 3, 50, 60, 70}));
  }
}

TEST_F(Figures, FrontIsAStaircase) {
  const Figure result = figure("figure: F\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\n");
  ASSERT_EQ(result.fronts.size(), 1);
  const auto& corners = result.fronts[0].corners;
  ASSERT_EQ(corners.size(), 3);
  EXPECT_THAT(corners[1], Pair(256e6, corners[0].second)) << "right, then down";
}

TEST_F(Figures, EveryCorpusHasItsOwnFront) {
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
  add_noisy_run("noisy-1", 1, 0.5);
  const Figure dotted = figure("figure: F\nkind: line\nx: step\ny: grad.norm\n");
  ASSERT_EQ(dotted.series[0].points.size(), 6);
  EXPECT_EQ(dotted.series[0].points[0].y, 0.5) << "no split is called grad";
}

TEST_F(Figures, NothingToShowIsAValueThatSaysWhy) {
  const NothingToShow none = nothing("figure: \"F: f\"\nx: model.span\ny: test.bpc\nwhere: {seed: 99}\n");
  EXPECT_EQ(none.title, "F: f");
  EXPECT_EQ(none.reason, "no run has seed=99; the nearest there is: 2, besides 1");
  EXPECT_EQ(none.message,
            "the figure 'F: f' has nothing to show: no run has seed=99; the nearest there is: 2, besides 1\n"
            "to list the runs: xlm runs ls; to make them: xlm sweep");
  EXPECT_EQ(nothing("figure: F\nx: model.span\ny: peak_memory\n").reason,
            "none of 8 runs has both model.span and peak_memory");
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\nx: seed\ny: model.span\nvalue: peak_memory\n").reason,
            "none of 8 runs has seed, model.span and peak_memory");
  EXPECT_EQ(nothing("figure: F\nkind: heatmap\ngrid: spans\nwhere: {seed: 99}\n").reason,
            "no run has seed=99; the nearest there is: 2, besides 1");
  EXPECT_THROW(figure("figure: F\nx: model.spam\ny: test.bpc\n"), UsageError);
}

TEST(FigureKinds, AreWholeAndNamedOnce) {
  std::set<std::string> names;
  for (const FigureKind& kind : figure_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_TRUE(kind.problem != nullptr && kind.build != nullptr) << kind.name;
    EXPECT_TRUE(kind.plotly != nullptr) << kind.name;
    FigureDescription description;
    EXPECT_FALSE(kind.problem(description).empty()) << "a " << kind.name << " of nothing";
    description.kind = kind.name;
    EXPECT_EQ(kind_of(description).name, kind.name);
  }
  EXPECT_TRUE(names.contains(FigureDescription().kind)) << "the kind of a figure that names none";
}

TEST(FigureFiles, ErrorsNameTheLine) {
  const auto refusal = [](const std::string& yaml) { return thrown_message([&] { spec_of(yaml); }); };
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
  EXPECT_THAT(refusal("figure: F\nkind: text\n"), HasSubstr("needs y: a number that models report"));
  EXPECT_THAT(refusal("figure: F\nkind: text\nx: a\ny: span\n"), HasSubstr("has no x or value"));
  EXPECT_THAT(refusal("figure: F\nkind: text\ny: span\nfirst: 0\n"), HasSubstr("description.yaml:4"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nfront: maybe\n"), HasSubstr("true or false"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nname: ../up\n"), HasSubstr("without folders"));
  EXPECT_THAT(refusal("figure: F\nx: a\ny: b\nfacet: c\n"), HasSubstr("unknown key 'facet'"));
  EXPECT_THAT(refusal("figures: [5]\n"), HasSubstr("description.yaml:1"));
  EXPECT_EQ(spec_of("figure: Bits per character (S = 8192)!\nx: a\ny: b\n").name, "bits-per-character-s-8192");
}

}  // namespace
}  // namespace xlm
