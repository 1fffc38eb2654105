// Keys that say how a figure looks on paper: legend, labels, order, lines and notes; and looks that figures share.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figure_layout.h"
#include "results/figures/gnuplot_process.h"
#include "results/figures/layout_parts.h"
#include "results/figures/plot_room.h"
#include "results/figures/series_looks.h"
#include "tests/needs.h"
#include "tests/results/figures/figures.h"
#include "tests/results/figures/gnuplot_installed.h"
#include "tests/results/figures/svg_texts.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kLooks = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n";

class Looks : public Figures {
 protected:
  Figure with(const std::string& keys) { return figure(kLooks + keys); }

  static std::vector<std::string> labels(const Figure& figure) {
    std::vector<std::string> labels;
    for (const FigureSeries& series : figure.series) labels.push_back(series.label);
    return labels;
  }

  static std::string problem_of(const std::string& keys) {
    return thrown_message([&] { spec_of(kLooks + keys); });
  }

  /// The rectangle that the legend's labels and samples cover.
  static Box legend_of(const Figure& figure) {
    const FigureLayout layout = layout_of(figure);
    Box box{1e9, -1e9, 1e9, -1e9};
    for (const PlacedSample& sample : layout.samples) {
      box.left = std::min(box.left, sample.x);
      box.right = std::max(box.right, sample.x + sample.width);
      box.bottom = std::min(box.bottom, sample.y);
      box.top = std::max(box.top, sample.y);
    }
    return box;
  }
};

TEST_F(Looks, LabelsAndOrderOfSeries) {
  EXPECT_THAT(labels(with("")), ElementsAre("adaptive", "fixed"));
  const Figure renamed = with("labels: {fixed: adaptive, adaptive: fixed}\n");
  EXPECT_THAT(labels(renamed), ElementsAre("fixed", "adaptive")) << "each is renamed once";
  EXPECT_EQ(renamed.series[0].points[0].y, with("").series[0].points[0].y) << "numbers stay with their series";
  EXPECT_THAT(labels(with("order: [fixed]\n")), ElementsAre("fixed", "adaptive"));
  EXPECT_THAT(labels(with("order: [All, adaptive]\nlabels: {fixed: All}\n")), ElementsAre("All", "adaptive"));
  const Figure both = figure(
      "figure: F\nx: seed\ny: test.bpc\nseries: [model.span_type, model.span]\n"
      "labels: {fixed: F, 64: short, 'adaptive, span limit 256': long}\n");
  EXPECT_THAT(labels(both), ElementsAre("adaptive, short", "long", "F, short", "F, span limit 256"));
  const Figure named = figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nlabels: {fixed: Fixed}\n");
  EXPECT_THAT(named.x_names, ElementsAre("adaptive", "Fixed"));
}

TEST_F(Looks, WarnOfWhatTheFigureDoesNotHave) {
  EXPECT_THAT(with("labels: {fixed: F}\norder: [fixed]\n").warnings, IsEmpty());
  EXPECT_THAT(with("labels: {fixt: F}\norder: [adaptve]\n").warnings,
              ElementsAre(HasSubstr("'fixt' in `labels`, but shows no such value: it has 'adaptive', 'fixed'"),
                          HasSubstr("'adaptve' in `order`")));
}

TEST_F(Looks, ThatMeanNothingAreErrors) {
  EXPECT_THAT(problem_of("legend: {place: middle}\n"), HasSubstr("middle"));
  EXPECT_THAT(problem_of("legend: {places: right}\n"), HasSubstr("places"));
  EXPECT_THAT(problem_of("legend: [right]\n"), HasSubstr("description.yaml"));
  EXPECT_THAT(problem_of("labels: [a]\n"), HasSubstr("labels is a map"));
  EXPECT_THAT(problem_of("order: a\n"), HasSubstr("order is a list"));
  EXPECT_THAT(problem_of("references: [{y: 1, x: 2}]\n"), HasSubstr("either x or y"));
  EXPECT_THAT(problem_of("references: [{y: high}]\n"), HasSubstr("y of a reference line is a number"));
  EXPECT_THAT(problem_of("references: {y: 1}\n"), HasSubstr("list of maps with x, y, label"));
  EXPECT_THAT(problem_of("references: [{y: 1, size: 3}]\n"), HasSubstr("size"));
}

TEST_F(Looks, LegendsStandWhereTheyAreTold) {
  const auto plot = [](const Figure& figure) { return layout_of(figure).plot; };
  const Figure right = with("legend: right\n");
  EXPECT_GT(legend_of(right).left, plot(right).right);
  const Figure below = with("legend: {place: below}\n");
  EXPECT_LT(legend_of(below).top, plot(below).bottom);
  EXPECT_EQ(legend_of(below).top, legend_of(below).bottom) << "one row";
  const Figure stacked = with("legend: {place: below, columns: 1}\n");
  EXPECT_GT(legend_of(stacked).top, legend_of(stacked).bottom);
  for (const auto& [place, at_left, at_top] :
       {std::tuple("top-left", true, true), std::tuple("bottom-right", false, false)}) {
    const Figure corner = with(fmt::format("legend: {}\n", place));
    const Box box = legend_of(corner);
    const Box axes = plot(corner);
    EXPECT_EQ((box.left + box.right) / 2 < (axes.left + axes.right) / 2, at_left) << place;
    EXPECT_EQ((box.bottom + box.top) / 2 > (axes.bottom + axes.top) / 2, at_top) << place;
    EXPECT_GT(box.left, axes.left) << place;
    EXPECT_GT(box.bottom, axes.bottom) << place;
  }
  const Figure inside = with("legend: inside\n");
  EXPECT_GT(legend_of(inside).left, plot(inside).left);
  EXPECT_EQ(data_in(inside, layout_of(inside), legend_of(inside)), 0);
  EXPECT_THAT(layout_of(with("legend: none\n")).samples, IsEmpty());
  EXPECT_EQ(plotly_figure(with("legend: none\n"))["layout"]["showlegend"], false);
  EXPECT_EQ(plotly_figure(below)["layout"]["legend"]["orientation"], "h");
  EXPECT_THAT(gnuplot_script(with("legend: {title: Kind of span}\n"), PictureFormat::kSvg),
              HasSubstr("set label 'Kind of span' at screen"));
}

TEST_F(Looks, TitleCaptionAndSizeOfTexts) {
  const std::string plain = gnuplot_script(with("name: plain\n"), PictureFormat::kPdf);
  EXPECT_THAT(plain, HasSubstr("set label 'F' at screen"));
  EXPECT_THAT(plain, HasSubstr("over 2 seeds"));
  const Figure bare = with("show_title: false\nshow_caption: false\nfont_size: 7\n");
  const std::string script = gnuplot_script(bare, PictureFormat::kPdf);
  EXPECT_THAT(script, Not(HasSubstr("set label 'F' at screen")));
  EXPECT_THAT(script, Not(HasSubstr("over 2 seeds")));
  EXPECT_THAT(script, HasSubstr("font 'DejaVu Sans,7' fontscale 0.75 "));
  EXPECT_GT(layout_of(bare).plot.height(), layout_of(with("")).plot.height());
}

TEST_F(Looks, ReferenceLinesAreDrawnAtTheirNumbers) {
  const Figure drawn = with("references: [{y: 1.2, label: paper}, {x: 100, label: here}]\n");
  EXPECT_LE(y_axis(drawn).range.low, 1.2) << "the axis reaches the line";
  const FigureLayout layout = layout_of(drawn);
  ASSERT_EQ(layout.references.size(), 2U);
  const Range& range = layout.y.range;
  EXPECT_NEAR(layout.references[0].place,
              layout.plot.bottom + layout.plot.height() * (1.2 - range.low) / (range.high - range.low), 1e-6);
  EXPECT_TRUE(layout.references[1].upright);
  EXPECT_EQ(plotly_figure(drawn)["layout"]["shapes"][0]["y0"], 1.2);
  EXPECT_EQ(plotly_figure(drawn)["layout"]["annotations"][1]["text"], "here");
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  const std::vector<SvgText> texts = svg_texts(run_gnuplot(gnuplot_script(drawn, PictureFormat::kSvg)));
  for (const char* text : {"paper", "here"}) {
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(), [&](const SvgText& one) { return one.text == text; }), 1);
  }
}

TEST_F(Looks, NotesTouchNoOtherText) {
  const Figure crowded =
      with("legend: inside\nreferences: [{y: 1.8, label: first}, {y: 1.81, label: second}, {x: 100, label: third}]\n");
  const FigureLayout layout = layout_of(crowded);
  for (std::size_t i = 0; i < layout.texts.size(); ++i) {
    const Box one = box_of(layout.texts[i]);
    for (std::size_t k = 0; k < i; ++k) {
      const Box other = box_of(layout.texts[k]);
      const bool apart =
          one.left >= other.right || other.left >= one.right || one.bottom >= other.top || other.bottom >= one.top;
      EXPECT_TRUE(apart) << layout.texts[i].text << " and " << layout.texts[k].text;
    }
  }
  std::string many = "references: [";
  for (int i = 0; i < 80; ++i) many += "{y: 1.8, label: a label that is as long as half of the plot}, ";
  EXPECT_THROW(layout_of(with(many + "]\n")), UsageError) << "so many texts have no room along one line";
}

TEST_F(Looks, LabelsOfLinesStandBetweenBars) {
  const Figure bars =
      figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nreferences: [{y: 1.0, label: paper}]\n");
  const FigureLayout layout = layout_of(bars);
  const auto label = std::find_if(layout.texts.begin(), layout.texts.end(),
                                  [](const PlacedText& text) { return text.text == "paper"; });
  ASSERT_NE(label, layout.texts.end());
  const Box box = box_of(*label);
  for (const FigurePoint& point : bars.series.at(0).points) {
    ASSERT_GT(point.y, 1.5) << "higher than the label";
    const BarEnds bar = ends_of_bar(bars, 0, point.x);
    EXPECT_NEAR((bar.left + bar.right) / 2, point.x, 1e-12) << "the only bar of its place";
    EXPECT_TRUE(box.left >= spot_of(bars, layout, bar.right, 0).x || box.right <= spot_of(bars, layout, bar.left, 0).x);
  }
}

TEST_F(Looks, NotesNeedAnAxisOfNumbers) {
  EXPECT_THAT(problem_of("references: [{y: 1}]\n"), IsEmpty());
  EXPECT_THROW(spec_of("figure: F\nkind: heatmap\nx: seed\ny: model.span\nvalue: test.bpc\nreferences: [{y: 1}]\n"),
               UsageError);
  const Figure named =
      figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nreferences: [{x: 1, label: one}, {y: 1.5}]\n");
  EXPECT_THAT(named.warnings, ElementsAre(HasSubstr("its places on x are names, not numbers")));
  EXPECT_EQ(layout_of(named).references.size(), 1U);
  const Figure linear = with("y_scale: log\nreferences: [{y: 0}]\n");
  EXPECT_THAT(linear.warnings, ElementsAre(HasSubstr("a line of `references` is at y of zero or less")));
}

TEST_F(Looks, LinesAndMarksAreThinnerInASmallPicture) {
  EXPECT_THAT(gnuplot_script(with(""), PictureFormat::kSvg),
              HasSubstr("linewidth 2 dashtype 1 pointtype 7 pointsize 1.2"));
  EXPECT_THAT(gnuplot_script(with("width: 4.8\n"), PictureFormat::kSvg),
              HasSubstr("linewidth 1.5 dashtype 1 pointtype 7 pointsize 0.9"));
}

TEST_F(Looks, AreTheSameForAValueInAllFiguresOfAFile) {
  SharedLooks looks;
  const auto made = [&](const std::string& keys) { return std::get<Figure>(looks.applied(built(kLooks + keys))); };
  const Figure first = made("");
  EXPECT_EQ(first.series[1].label, "fixed");
  EXPECT_EQ(first.series[1].look, 1U);
  const Figure second = made("where: {model.span_type: fixed}\nlabels: {fixed: other name}\n");
  EXPECT_EQ(second.series[0].look, 1U);
  EXPECT_THAT(gnuplot_script(second, PictureFormat::kSvg), HasSubstr(series_look(1).colour));
  EXPECT_EQ(plotly_figure(second)["data"][0]["line"]["color"], series_look(1).colour);
  EXPECT_EQ(made("order: [fixed]\n").series[0].look, 1U);
  const Figure other = std::get<Figure>(looks.applied(built("figure: G\nx: seed\ny: test.bpc\nseries: model.span\n")));
  EXPECT_EQ(other.series[0].look, 0U) << "another column begins again";
}

TEST_F(Looks, OfLatexAreItsOwn) {
  const Figure drawn = with("labels: {fixed: 'a_b & 5%'}\n");
  const std::string script = gnuplot_script(drawn, PictureFormat::kTex);
  EXPECT_THAT(script, HasSubstr("set terminal tikz size 6.4in,4.2in"));
  EXPECT_THAT(script, HasSubstr("'a\\_b \\& 5\\%'"));
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  EXPECT_THAT(run_gnuplot(script), HasSubstr("\\begin{tikzpicture}"));
}

}  // namespace
}  // namespace xlm
