// Pages of results in a real browser without a network: what is drawn, what a click shows, and that nothing is loaded.
#include <fmt/format.h>

#include "results/pages/report.h"
#include "tests/results/pages/browser.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPoint = "<path class=\"point plotly-customdata\"";

/// Clicks the centre of the first element that `selector` finds, like a mouse.
constexpr const char* kClick =
    "<script>setTimeout(() => {{\n"
    "  const box = document.querySelector('{0}').getBoundingClientRect();\n"
    "  const at = {{clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, view: window}};\n"
    "  const layer = document.querySelector('{1}');\n"
    "  layer.dispatchEvent(new MouseEvent('mousemove', at));\n"
    "  setTimeout(() => {{\n"
    "    layer.dispatchEvent(new MouseEvent('mousedown', at));\n"
    "    document.dispatchEvent(new MouseEvent('mouseup', at));\n"
    "  }}, 500);\n"
    "}}, 500);</script>\n";

TEST_F(Browser, DrawsEveryPoint) {
  const std::string shown_line = shown(figure_page(store_, figure(line_yaml())));
  EXPECT_EQ(occurrences(shown_line, kPoint), 4);
  EXPECT_EQ(occurrences(shown_line, "<path class=\"yerror\""), 0) << "bars would overlap";
  EXPECT_EQ(occurrences(shown_line, "<path class=\"js-line\""), 2 + 2 + 2) << "lines, bands, lines of the legend";
  EXPECT_THAT(shown_line, HasSubstr("rgb(0, 114, 178)")) << "the first colour of every figure";
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(Browser, DrawsBarsAndHeatmaps) {
  const std::string bars = shown(figure_page(
      store_, figure("figure: F\nkind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\ny_scale: log\n")));
  EXPECT_EQ(occurrences(bars, "<g class=\"point\">"), 4);
  const std::string heat = shown(
      figure_page(store_, figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n")));
  EXPECT_EQ(occurrences(heat, "<g class=\"heatmap-label\""), 4);
  const std::string spans = shown(figure_page(
      store_, figure("figure: F\nkind: heatmap\ngrid: spans\nwhere: {run_id: adaptive-span-text8-00000001}\n")));
  EXPECT_EQ(occurrences(spans, "<g class=\"heatmap-label\""), 4);
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(Browser, AClickOnAPointShowsItsRuns) {
  const Figure made = figure(line_yaml());
  const std::string after = shown(figure_page(store_, made) + fmt::format(kClick, ".point", ".nsewdrag"));
  const std::size_t panel = after.find("<aside id=\"panel\"");
  ASSERT_NE(panel, std::string::npos);
  const std::string inside = after.substr(panel);
  EXPECT_THAT(inside, HasSubstr("<h2>3 runs</h2>"));
  for (const std::string& run : made.series[0].points[0].runs) EXPECT_THAT(inside, HasSubstr(run));
  EXPECT_LT(inside.find("model.span_type"), inside.find("optimizer.lr")) << "what differs comes first";
  const std::size_t hover = after.find("class=\"hovertext\"");
  ASSERT_NE(hover, std::string::npos) << "hovering shows";
  EXPECT_THAT(after.substr(hover, 3000), HasSubstr(made.series[0].points[0].runs[0]));
}

TEST_F(Browser, AClickOnACellShowsItsRuns) {
  const std::string page = tables_page(store_, {grid()});
  const std::string after = shown(page + "<script>document.querySelector('td button').click()</script>");
  const std::string inside = after.substr(after.find("<aside id=\"panel\""));
  EXPECT_THAT(inside, HasSubstr("<h2>3 runs</h2>"));
  EXPECT_THAT(inside, HasSubstr("optimizer.lr"));
  EXPECT_THAT(shown(page), HasSubstr("<aside id=\"panel\" aria-live=\"polite\" hidden=\"\"></aside>"));
}

TEST_F(Browser, AwkwardTextStaysText) {
  const std::string title = "'" + std::string(kAwkward) + "'";
  const std::string page = figure_page(
      store_, figure("figure: " + title + "\nname: f\nkind: line\nx: model.span\ny: test.bpc\nx_label: " + title +
                     "\nseries: model.span_type\n"));
  const std::string after = shown(page);
  EXPECT_EQ(occurrences(after, kPoint), 4);
  EXPECT_THAT(after, HasSubstr("data-unformatted=\"&amp;lt;/script")) << "the label of the axis";
}

TEST_F(Browser, APhoneNeedNotScrollSideways) {
  Report report{.title = "R", .origin = "", .recipes = {}};
  report.recipes.push_back(
      {.title = "a", .file = "a.yaml", .claims = claims(), .exhibits = {figure(line_yaml()), grid()}});
  const std::string told =
      told_by_a_phone(report_page(store_, report),
                      "e.scrollWidth > e.clientWidth ? 'too wide: ' + e.scrollWidth : 'fits ' + e.clientWidth");
  EXPECT_THAT(told, HasSubstr("fits 3"));
}

TEST_F(Browser, ATextOnAPhoneKeepsRoomForItsLettersAndScrollsAlone) {
  const std::string text(80, 'a');
  maker_.make({.id = "long-text", .text = text});
  store_.sync(maker_.runs());
  const std::string told =
      told_by_a_phone(figure_page(store_, figure("figure: F\nkind: text\ny: span\nwhere: {run_id: long-text}\n")),
                      "(e.scrollWidth > e.clientWidth ? 'page too wide, ' : 'page fits, ') + 'letters of ' + "
                      "Math.floor(document.querySelector('.nsewdrag').getBoundingClientRect().width / 80) + ' px'");
  EXPECT_THAT(told, HasSubstr("page fits, letters of 8 px"));
}

TEST_F(Browser, ADarkScreenAndPaperHaveTheirOwnColours) {
  const std::string page = figure_page(store_, figure(line_yaml()));
  EXPECT_THAT(shown(page), HasSubstr("background: rgb(255, 255, 255)"));
  const std::string dark = "--blink-settings=preferredColorScheme=0";
  EXPECT_THAT(shown(page, dark), HasSubstr("background: rgb(21, 24, 28)"));
  const std::string printed = "<script>dispatchEvent(new Event('beforeprint'))</script>";
  EXPECT_THAT(shown(page + printed, dark), HasSubstr("background: rgb(255, 255, 255)")) << "paper is white";
}

TEST_F(Browser, LoadsNothingFromAnywhere) {
  const std::string image = "<img src=\"http://example.invalid/picture.png\">";
  shown("<html><body>" + image + "</body></html>");
  ASSERT_FALSE(requests().empty()) << "the browser's log shows what a page asks for";
  const std::string page = figure_page(store_, figure(line_yaml()));
  std::string with_image = page;
  with_image.insert(with_image.find("<main"), image);
  write_file(temporary_.path() / "page.html", with_image);
  shell(temporary_.path(), fmt::format("timeout 120 {} --headless --no-sandbox --disable-gpu --user-data-dir=profile "
                                       "--log-net-log=net.json --dump-dom 'file://{}/page.html'",
                                       program_, temporary_.path().string()));
  EXPECT_THAT(requests(), IsEmpty()) << "the page's policy holds back even what would be slipped into it";
}

TEST_F(Browser, ReportsDrawAllTheirFigures) {
  Report report{.title = "R", .origin = "", .recipes = {}};
  report.recipes.push_back({.title = "a",
                            .file = "a.yaml",
                            .exhibits = {figure(line_yaml()), grid(), figure("figure: G\nx: seed\ny: params\n")}});
  const std::string after = shown(report_page(store_, report));
  EXPECT_EQ(occurrences(after, kPoint), 4 + 3);
  EXPECT_THAT(requests(), IsEmpty());
}

}  // namespace
}  // namespace xlm
