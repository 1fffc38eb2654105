// Pictures: what matplotlib draws.
#include "results/figures/picture.h"

#include <cstdlib>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "tests/needs.h"
#include "tests/readers.h"
#include "tests/results/figures/figures.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Pictures : public Figures {
 protected:
  void SetUp() override {
    if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
    ::setenv("PYTHONPATH", XLM_READERS, 1);
  }
  void TearDown() override { ::unsetenv("PYTHONPATH"); }

  std::string svg(const Figure& figure) { return painter_.draw(figure, PictureFormat::kSvg); }

  /// Width and height of an SVG in points.
  static std::pair<double, double> size_of(const std::string& svg) {
    std::smatch found;
    if (!std::regex_search(svg, found, std::regex("width=\"([0-9.]+)pt\" height=\"([0-9.]+)pt\""))) return {};
    return {std::stod(found[1]), std::stod(found[2])};
  }

  Painter painter_;
};

TEST_F(Pictures, AreDrawnOfEveryKindInEveryFormat) {
  maker_.make({.id = "read", .type = "dynamic", .text = "on a\ncat's mat"});
  store_.sync(maker_.runs());
  for (const char* yaml :
       {kLine, "figure: F\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\ny_scale: log\n",
        "figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n",
        "figure: F\nkind: heatmap\ngrid: spans\ny_scale: log\n", "figure: F\nkind: line\ngrid: spans\n",
        "figure: F\nkind: scatter\ngrid: spans\ny_scale: log\n", "figure: F\nx: seed\ny: params\n",
        "figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n",
        "figure: F\nkind: line\nx: step\ny: bpc\nseries: model.span_type\n",
        "figure: F\nkind: line\nx: model.span\ny: test.bpc\nseries: model.span_type\nlegend: right\n",
        "figure: F\nkind: text\ny: span\nwhere: {model.span_type: dynamic}\n"}) {
    const Figure drawn = figure(yaml);
    EXPECT_THAT(svg(drawn), HasSubstr("</svg>")) << yaml;
    EXPECT_THAT(painter_.draw(drawn, PictureFormat::kPdf), StartsWith("%PDF")) << yaml;
    EXPECT_THAT(painter_.draw(drawn, PictureFormat::kPng), StartsWith("\x89PNG")) << yaml;
  }
}

TEST_F(Pictures, HaveTheGivenSizeAndAllTexts) {
  const std::string own = svg(figure(std::string(kLine) + "width: 3.5\nheight: 2.75\n"));
  EXPECT_EQ(size_of(own), std::pair(3.5 * 72, 2.75 * 72));
  for (const char* text : {">Bpc against span<", ">span limit<", ">test bpc<", ">adaptive<", ">fixed<", ">64<", ">256<",
                           ">mean and standard deviation over 2 seeds<"}) {
    EXPECT_THAT(own, HasSubstr(text));
  }
  EXPECT_THAT(svg(figure(std::string(kLine) + "legend: none\n")), Not(HasSubstr(">adaptive<")));
}

TEST_F(Pictures, OfTheSameNumbersAreTheSameFile) {
  const Figure drawn = figure(kLine);
  for (const PictureFormat format : {PictureFormat::kSvg, PictureFormat::kPdf, PictureFormat::kPng}) {
    EXPECT_EQ(painter_.draw(drawn, format), Painter().draw(drawn, format));
  }
}

TEST_F(Pictures, ShowTextsAsTheyAreWritten) {
  for (const char* title : {"'", "$x_1$ \\alpha", "\"\"\"", "`date` %d {}"}) {
    Figure drawn = figure(kLine);
    drawn.description.title = title;
    drawn.y_label = "a < b & c";
    const std::string picture = svg(drawn);
    EXPECT_THAT(picture, HasSubstr(fmt::format(">{}<", title)));
    EXPECT_THAT(picture, HasSubstr(">a &lt; b &amp; c<"));
  }
}

TEST_F(Pictures, ThatCannotBeLegibleAreRefused) {
  const auto problem = [&](const std::string& keys) { return thrown_message([&] { svg(figure(kLine + keys)); }); };
  EXPECT_THAT(problem("width: 1\n"), HasSubstr("the figure 'Bpc against span' is not legible at a width of 1 inches"));
  EXPECT_THAT(problem("height: 0.6\n"), HasSubstr("make it larger (width, height: inches), or show less"));
  EXPECT_THAT(problem("width: 3.25\n"), ::testing::IsEmpty());
  Figure many = figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\n");
  many.x_names.assign(90, "a long name");
  EXPECT_THAT(thrown_message([&] { svg(many); }), HasSubstr("90 names on x have room for"));
}

TEST_F(Pictures, AsAScriptDrawThemselves) {
  Figure drawn = figure(kLine);
  drawn.description.title = "\"\"\" + '''";
  write_file(temporary_.path() / "one.py", Painter().draw(drawn, PictureFormat::kPy));
  read_with_python(temporary_.path(),
                   "import subprocess, sys\nsubprocess.run([sys.executable, 'one.py', 'one.svg'], check=True)\n");
  EXPECT_EQ(read_file(temporary_.path() / "one.svg"), svg(drawn));
}

}  // namespace
}  // namespace xlm
