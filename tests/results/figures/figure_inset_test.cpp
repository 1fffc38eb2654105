// Insets: a part of the plot enlarged, in a corner that covers nothing.
#include <array>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figure_inset.h"
#include "results/figures/figure_layout.h"
#include "results/figures/gnuplot_process.h"
#include "results/figures/layout_parts.h"
#include "results/figures/plot_room.h"
#include "tests/needs.h"
#include "tests/results/figures/figures.h"
#include "tests/results/figures/gnuplot_installed.h"
#include "tests/results/figures/svg_texts.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two runs whose curves fall and then lie close to each other.
class Insets : public Figures {
 protected:
  Insets() {
    for (const int seed : {1, 2}) {
      const MadeRun run{.id = fmt::format("curve-{}", seed), .experiment = "curves", .seed = seed};
      maker_.write_config(run);
      Journal out = maker_.journal(run);
      out.append("state", {{"state", "running"}, {"host", "here"}, {"pid", 42}});
      for (int step = 100; step <= 4000; step += 100)
        out.append("metric", {{"step", step}, {"values", {{"bpc", 1.2 + 0.02 * seed + 300.0 / step}}}});
    }
    store_.sync(maker_.runs());
  }

  Figure curves(const std::string& keys) {
    return figure("figure: Curves\nname: inset\nkind: line\nx: step\ny: bpc\nseries: seed\n" +
                  std::string("where: {experiment: curves}\n") + keys);
  }

  static std::string refusal(const Figure& figure) {
    try {
      layout_of(figure);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  static std::string problem_of(const std::string& keys) {
    try {
      spec_of("figure: F\nx: model.span\ny: test.bpc\n" + keys);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
};

constexpr const char* kInset = "inset: {x: [3000, 4000], y: [1.28, 1.36]}\n";

void expect_rising(const std::vector<SvgText>& texts, const std::vector<std::string>& ticks, const Box& ground,
                   double dots, double height, bool on_x) {
  double last = -1e9;
  int count = 0;
  for (const std::string& tick : ticks) {
    for (const SvgText& text : texts) {
      const bool inside = text.x() > ground.left * dots && text.x() < ground.right * dots &&
                          height * dots - text.y() > ground.bottom * dots &&
                          height * dots - text.y() < ground.top * dots;
      if (!inside || text.text != tick) continue;
      const double place = on_x ? text.x() : -text.y();
      EXPECT_GT(place, last) << tick;
      last = place;
      ++count;
    }
  }
  EXPECT_EQ(count, static_cast<int>(ticks.size()));
  EXPECT_GE(count, 2);
}

TEST_F(Insets, AreLegibleAtTheWidthsOfPapersAndCoverNothing) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  for (const double width : {3.25, 4.8, 6.75}) {
    SCOPED_TRACE(fmt::format("{} inches", width));
    const Figure made = curves(kInset + fmt::format("width: {}\n", width));
    const FigureLayout layout = layout_of(made);
    ASSERT_EQ(layout.panels.size(), 1U);
    const FigureLayout& inset = layout.panels[0];
    EXPECT_EQ(data_in(made, layout, inset.ground), 0);
    EXPECT_FALSE(boxes_touch(inset.ground, layout.enlarged));
    EXPECT_GE(inset.ground.left, layout.plot.left);
    EXPECT_LE(inset.ground.top, layout.plot.top);
    const std::string svg = run_gnuplot(gnuplot_script(made, PictureFormat::kSvg));
    if (const char* folder = std::getenv("XLM_TEST_PICTURES"))  // to look at
      std::ofstream(fmt::format("{}/inset-{}.svg", folder, width)) << svg;
    const std::vector<SvgText> texts = svg_texts(svg);
    const double dots = std::round(layout.width * 119 / 720) * 10 / layout.width;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_GE(texts[i].left, 0) << texts[i].text;
      EXPECT_LE(texts[i].right, layout.width * dots) << texts[i].text;
      EXPECT_GE(texts[i].size, 5.99 * 119 / 72) << texts[i].text;
      for (std::size_t k = 0; k < i; ++k)
        EXPECT_FALSE(texts[i].touches(texts[k])) << texts[i].text << " and " << texts[k].text;
    }
    expect_rising(texts, tick_texts(inset.x), inset.ground, dots, layout.height, true);
    expect_rising(texts, tick_texts(inset.y), inset.ground, dots, layout.height, false);
  }
}

TEST_F(Insets, ShowTheNumbersOfTheirPart) {
  const Figure made = curves(std::string(kInset) + "references: [{y: 1.3, label: paper}, {x: 100}]\n");
  const Figure inset = inset_figure(made);
  const Range x = x_axis(inset).range;
  const Range y = y_axis(inset).range;
  EXPECT_THAT((std::array{x.low, x.high, y.low, y.high}), ElementsAre(3000, 4000, 1.28, 1.36));
  EXPECT_EQ(inset.description.looks.references.size(), 1U) << "the other line is elsewhere";
  const FigureLayout layout = layout_of(made);
  const Spot corner = spot_of(made, layout, 3000, 1.28);
  EXPECT_NEAR(layout.enlarged.left, corner.x, 1e-9);
  EXPECT_NEAR(layout.enlarged.bottom, corner.y, 1e-9);
  const Json plot = plotly_figure(made);
  EXPECT_EQ(plot["data"].size(), 4U) << "both curves twice";
  EXPECT_EQ(plot["data"][2]["xaxis"], "x2");
  EXPECT_EQ(plot["data"][2]["showlegend"], false);
  EXPECT_EQ(plot["layout"]["yaxis2"]["range"], Json({1.28, 1.36}));
  EXPECT_EQ(plot["layout"]["shapes"].back()["x0"], 3000);
  EXPECT_GT(plot["layout"]["xaxis2"]["domain"][0], 0.4) << "at the right";
  EXPECT_EQ(plot["layout"]["xaxis2"]["tickmode"], "auto") << "a phone has room for few numbers";
}

TEST_F(Insets, StandWhereTheyAreToldOrAreRefused) {
  const std::string roomy = "y_range: [0, 4.5]\nx_range: [0, 9000]\nlegend: below\n";
  for (const auto& [place, at_left, at_top] :
       {std::tuple("bottom-right", false, false), std::tuple("top-right", false, true)}) {
    const Figure made = curves(fmt::format("inset: {{x: [3000, 4000], y: [1.28, 1.36], place: {}}}\n", place) + roomy);
    const FigureLayout layout = layout_of(made);
    const Box& box = layout.panels.at(0).ground;
    EXPECT_EQ(box.left - layout.plot.left < layout.plot.right - box.right, at_left) << place;
    EXPECT_EQ(layout.plot.top - box.top < box.bottom - layout.plot.bottom, at_top) << place;
  }
  EXPECT_THAT(refusal(curves("inset: {x: [3000, 4000], y: [1.28, 1.36], place: bottom-left}\n")),
              HasSubstr("its inset would cover data or texts"));
  EXPECT_THAT(refusal(curves("inset: {x: [9000, 9900], y: [1, 2]}\n")), HasSubstr("its inset shows no part"));
  EXPECT_THAT(refusal(curves(std::string(kInset) + "width: 3.25\nheight: 1.6\n")), HasSubstr("inset"));
  EXPECT_THAT(refusal(curves(std::string(kInset) + "annotations: [{x: 3500, y: 3.3, text: a long text}]\n")),
              HasSubstr("the annotation 'a long text' has no room"));
  const Figure with_notes = curves(std::string(kInset) + "annotations: [{x: 900, y: 2.5, text: a long text}]\n");
  const FigureLayout layout = layout_of(with_notes);
  for (const PlacedText& text : layout.texts) {
    EXPECT_FALSE(boxes_touch(box_of(text), layout.panels.at(0).ground)) << text.text;
  }
}

TEST_F(Insets, ThatCannotBeAreErrors) {
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [1, 2]}\n"), IsEmpty());
  EXPECT_THAT(problem_of("inset: {x: [1, 2]}\n"), HasSubstr("inset is a map of x, y and place"));
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [2, 1]}\n"), HasSubstr("y of an inset ends before it begins"));
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [1, 2, 3]}\n"), HasSubstr("takes two numbers"));
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [1, 2], places: top-left}\n"), HasSubstr("places"));
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [1, 2]}\nkind: bars\n"), HasSubstr("only a scatter or line shows"));
  EXPECT_THAT(problem_of("inset: {x: [1, 2], y: [1, 2]}\nfacet: seed\n"), HasSubstr("which panels do not show"));
  EXPECT_THAT(problem_of("inset: {x: [0, 2], y: [1, 2]}\nx_scale: log\n"), HasSubstr("zero or less"));
  const Figure named = figure("figure: F\nx: model.span_type\ny: test.bpc\ninset: {x: [1, 2], y: [1, 2]}\n");
  EXPECT_THAT(named.warnings, ElementsAre(HasSubstr("its places on x are names, not numbers")));
  EXPECT_NO_THROW(layout_of(named));
}

TEST_F(Insets, AreDrawnInEveryFormat) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  const Figure made = curves(kInset);
  EXPECT_THAT(run_gnuplot(gnuplot_script(made, PictureFormat::kPdf)), ::testing::StartsWith("%PDF"));
  EXPECT_THAT(run_gnuplot(gnuplot_script(made, PictureFormat::kTex)), HasSubstr("\\begin{tikzpicture}"));
}

}  // namespace
}  // namespace xlm
