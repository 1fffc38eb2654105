// Pictures of every kind at the widths of papers: axes rise, texts do not touch, and nothing leaves the picture.
#include <array>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "results/figures/figure_layout.h"
#include "results/figures/gnuplot_process.h"
#include "tests/needs.h"
#include "tests/results/figures/figures.h"
#include "tests/results/figures/gnuplot_installed.h"
#include "tests/results/figures/svg_texts.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kDotsOfPoint = 119.0 / 72;  // of an SVG
constexpr std::array<double, 3> kWidths{3.25, 4.8, 6.75};

/// Runs of six kinds and of a text, which are many for a column of a paper.
class Layouts : public Figures {
 protected:
  Layouts() {
    int number = 0;
    for (const char* type : {"alpha", "banded", "causal", "dynamic", "entropy", "full attention"}) {
      for (const int span : {16, 32, 64, 128, 256, 512, 1024}) {
        for (const int seed : {1, 2}) {
          ++number;
          maker_.make({.id = fmt::format("layout-{}", number),
                       .experiment = "layout",
                       .type = type,
                       .span = span,
                       .seed = seed,
                       .bpc = 1.2 + 0.013 * number - 0.0005 * span + 0.02 * seed,
                       .flops = 3.7e5 * span * (1 + number % 5)});
        }
      }
    }
    maker_.make({.id = "of-a-text", .experiment = "text", .text = std::string(120, 'e')});
    store_.sync(maker_.runs());
  }

  /// The picture of a description, drawn by gnuplot.
  std::string drawn(const Figure& figure) {
    const std::string svg = run_gnuplot(gnuplot_script(figure, PictureFormat::kSvg));
    if (const char* folder = std::getenv("XLM_TEST_PICTURES")) {  // to look at
      const std::string name = fmt::format("{}/{}-{}", folder, figure.description.name, figure.description.width);
      std::ofstream(name + ".svg") << svg;
      std::ofstream(name + ".pdf") << run_gnuplot(gnuplot_script(figure, PictureFormat::kPdf));
    }
    return svg;
  }
};

constexpr const char* kLayoutRuns = "where: {experiment: layout}\n";

/// Descriptions of every kind, with names.
const std::vector<std::string>& layout_cases() {
  static const std::vector<std::string> cases{
      "figure: Bits per character against the limit of the span\nname: line\nkind: line\nx: model.span\ny: test.bpc\n"
      "series: model.span_type\nx_scale: log\n",
      "figure: F\nname: line-linear\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n",
      "figure: Arithmetic\nname: scatter\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\n",
      "figure: Arithmetic, logarithmic on both axes and with a title that is long\nname: scatter-log\n"
      "x: flops_per_token\ny: test.bpc\nseries: model.span_type\nx_scale: log\ny_scale: log\n",
      "figure: Names on x\nname: scatter-names\nx: model.span_type\ny: test.bpc\nseries: model.span\n",
      "figure: Bars\nname: bars\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n",
      "figure: Bars of one series\nname: bars-one\nkind: bars\nx: model.span\ny: test.bpc\n"
      "y_label: bits per character of the test split after all steps of training\n",
      "figure: Training\nname: steps\nkind: line\nx: step\ny: bpc\nseries: model.span_type\n",
      "figure: Long labels\nname: labels\nkind: line\nx: model.span\ny: test.bpc\n"
      "series: [model.span_type, model.layers, optimizer.lr]\n",
      "figure: Cells\nname: heatmap\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n",
      "figure: A grid\nname: heatmap-grid\nkind: heatmap\ngrid: spans\ny_scale: log\n",
      "figure: A grid as points\nname: scatter-grid\nkind: scatter\ngrid: spans\n",
      "figure: A grid as lines\nname: line-grid\nkind: line\ngrid: spans\n"};
  return cases;
}

double text_bottom(const FigureLayout& layout) { return (layout.height - layout.plot.bottom) * kDotsOfPoint; }

void expect_legible(const FigureLayout& layout, const std::vector<SvgText>& texts, bool may_be_inside) {
  const double scale_x = std::round(layout.width * kDotsOfPoint / 10) * 10 / layout.width;
  const double scale_y = std::round(layout.height * kDotsOfPoint / 10) * 10 / layout.height;
  const SvgText plot{.text = "the plot",
                     .left = layout.plot.left * scale_x,
                     .right = layout.plot.right * scale_x,
                     .top = (layout.height - layout.plot.top) * scale_y,
                     .bottom = (layout.height - layout.plot.bottom) * scale_y};
  EXPECT_LT(plot.left, plot.right);
  EXPECT_LT(plot.top, plot.bottom);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const SvgText& text = texts[i];
    EXPECT_GE(text.left, 0) << text.text;
    EXPECT_GE(text.top, 0) << text.text;
    EXPECT_LE(text.right, layout.width * scale_x) << text.text;
    EXPECT_LE(text.bottom, layout.height * scale_y) << text.text;
    EXPECT_GE(text.size, 5.99 * kDotsOfPoint) << text.text;
    EXPECT_TRUE(may_be_inside || !text.touches(plot)) << text.text;
    for (std::size_t other = 0; other < i; ++other) {
      EXPECT_FALSE(text.touches(texts[other])) << text.text << " and " << texts[other].text;
    }
  }
}

/// Where texts are in the picture, among those for which `is_meant` holds.
template <class IsMeant>
std::vector<SvgText> places_of(const std::vector<std::string>& names, const std::vector<SvgText>& texts,
                               const IsMeant& is_meant) {
  std::vector<SvgText> places;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    const auto found = std::find_if(texts.begin(), texts.end(),
                                    [&](const SvgText& text) { return text.text == name && is_meant(text); });
    if (found == texts.end()) {
      ADD_FAILURE() << "the axis has no " << name;
    } else {
      places.push_back(*found);
    }
  }
  return places;
}

void expect_rising_axes(const FigureLayout& layout, const std::vector<SvgText>& texts) {
  const double left = layout.plot.left * kDotsOfPoint;
  const bool named = !layout.x_names.empty();
  const std::vector<SvgText> on_x = places_of(named ? layout.x_names : tick_texts(layout.x), texts,
                                              [&](const SvgText& text) { return text.top > text_bottom(layout) - 4; });
  ASSERT_GE(on_x.size(), named ? 1U : 2U);
  for (std::size_t i = 1; i < on_x.size(); ++i) EXPECT_GT(on_x[i].x(), on_x[i - 1].x()) << on_x[i].text;
  const bool heatmap = !layout.y_names.empty();
  const std::vector<SvgText> on_y = places_of(heatmap ? layout.y_names : tick_texts(layout.y), texts,
                                              [&](const SvgText& text) { return text.right < left + 4; });
  ASSERT_GE(on_y.size(), 2U);
  for (std::size_t i = 1; i < on_y.size(); ++i) EXPECT_LT(on_y[i].y(), on_y[i - 1].y()) << on_y[i].text;
}

TEST_F(Layouts, OfEveryKindAreLegibleAtTheWidthsOfPapers) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  for (const std::string& text : layout_cases()) {
    for (const double width : kWidths) {
      const Figure made = figure(text + kLayoutRuns + fmt::format("width: {}\n", width));
      SCOPED_TRACE(fmt::format("{} at {} inches", made.description.name, width));
      const std::vector<SvgText> texts = svg_texts(drawn(made));
      const FigureLayout layout = layout_of(made);
      EXPECT_NEAR(layout.width, 72 * width, 1e-9);
      expect_legible(layout, texts, !made.grid.empty());
      expect_rising_axes(layout, texts);
      for (const LegendEntry& entry : legend_entries(made)) {
        const std::string first = entry.label.substr(0, entry.label.find(' '));
        EXPECT_TRUE(!has_legend(made) || std::any_of(texts.begin(), texts.end(), [&](const SvgText& shown) {
          return shown.text.starts_with(first);
        })) << entry.label;
      }
    }
  }
}

TEST_F(Layouts, AsUsualAreLegible) {
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  for (const std::string& text : layout_cases()) {
    const Figure made = figure(text + kLayoutRuns);
    SCOPED_TRACE(made.description.name);
    const FigureLayout layout = layout_of(made);
    const std::vector<SvgText> texts = svg_texts(drawn(made));
    expect_legible(layout, texts, !made.grid.empty());
    expect_rising_axes(layout, texts);
  }
}

TEST_F(Layouts, OfTokensHaveRoomForEachOrAreRefused) {
  const std::string text = "figure: F\nname: text\nkind: text\ny: span\nwhere: {experiment: text}\n";
  const auto refusal = [&](const std::string& keys) { return thrown_message([&] { layout_of(figure(text + keys)); }); };
  EXPECT_THAT(refusal("width: 3.25\n"), HasSubstr("the figure 'F' is not legible at a width of 3.25 inches: its 100 "
                                                  "tokens on x have room for "));
  EXPECT_THAT(refusal("width: 3.25\ntokens: 50\n"), IsEmpty());
  EXPECT_THAT(refusal("tokens: 120\n"), IsEmpty());
  if (!gnuplot_is_installed()) GTEST_SKIP() << needs::kGnuplot;
  const Figure made = figure(text + "width: 3.25\ntokens: 50\n");
  const std::vector<SvgText> texts = svg_texts(drawn(made));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_LE(texts[i].right, 3.25 * 120);
    for (std::size_t k = 0; k < i; ++k) EXPECT_FALSE(texts[i].touches(texts[k])) << texts[i].text << texts[k].text;
  }
}

TEST_F(Layouts, ThatHaveNoRoomAreRefused) {
  const std::string text = "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\n";
  for (const char* size : {"width: 1\n", "width: 3.3\nheight: 0.8\n", "height: 1\n"}) {
    const Figure made = figure(text + kLayoutRuns + size);
    EXPECT_THROW(gnuplot_script(made, PictureFormat::kSvg), UsageError) << size;
    EXPECT_NO_THROW(plotly_figure(made)) << "a page has the reader's width";
  }
}

TEST(TextMeasure, BreaksLinesAtBlanks) {
  EXPECT_THAT(wrapped_text("one two three", 1000, 10), ::testing::ElementsAre("one two three"));
  EXPECT_THAT(wrapped_text("one two three", text_width("one two", 10), 10), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped_text("unbreakable", 1, 10), ::testing::ElementsAre("unbreakable"));
  EXPECT_THAT(wrapped_text("", 100, 10), IsEmpty());
  EXPECT_NEAR(text_width("0", 10), 6.36, 0.01);
}

}  // namespace
}  // namespace xlm
