// Pages of results as files: their content, what is escaped, and that every number links to its runs.
#include "results/pages/page.h"

#include <regex>
#include <set>

#include "results/figures/figures.h"
#include "results/figures/plot_style.h"
#include "results/pages/assets.h"
#include "results/pages/exhibit_pages.h"
#include "results/pages/report.h"
#include "tests/results/pages/pages.h"
#include "tests/results/tables/paper_with.h"

namespace xlm {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A page without the program's own parts.
std::string own_part(std::string page) {
  for (const std::string_view part :
       {plotly_script(), page_script(), run_conditions_script(), run_explorer_script(), page_style()}) {
    if (const std::size_t at = page.find(part); at != std::string::npos) page.erase(at, part.size());
  }
  return page;
}

Json trace_of(const Json& figure, const std::string& name) {
  for (const Json& trace : figure["data"]) {
    if (trace.value("name", "") == name) return trace;
  }
  ADD_FAILURE() << "there is no " << name;
  return Json();
}

using Pages = PagesTest;

TEST_F(Pages, DecidedClaimsComeFirstAndUntriedOnesAreFolded) {
  const ClaimList list = claims();
  const std::string page = own_part(claims_page(store_, list));
  std::size_t last = 0;
  for (const char* claim : {"<b>right</b>", "<b>wrong</b>", "<b>open</b>", "<details class=\"untried\">", "<li>none"}) {
    const std::size_t at = page.find(claim);
    ASSERT_NE(at, std::string::npos) << claim;
    EXPECT_GT(at, last) << claim;
    last = at;
  }
  EXPECT_EQ(occurrences(page, "<svg class=\"forest\""), 4) << "of each comparison that has a number";
  EXPECT_THAT(page, HasSubstr("<div>64: adaptive − fixed<span class=\"note\">p"));
  for (const std::string& run : list.claims[2].parts[0].runs) EXPECT_THAT(page, HasSubstr(run));
  EXPECT_THAT(page, HasSubstr("the same verdict with half the margin"));
}

TEST_F(Pages, APictureHasTheIntervalTheLimitAndThePapersNumber) {
  ClaimList list = claims();
  JudgedClaim& claim = list.claims.back();
  claim.parts.resize(1);
  claim.parts[0].value = -0.4;
  claim.parts[0].half_width = 0.2;
  claim.parts[0].limits = {.high = 0, .open = true};
  claim.paper = -0.3;
  list.claims = {claim};
  const std::string page = claims_page(store_, list);
  // From -0.6 at 10 to 0 at 230, so 0.1 is 36.67.
  EXPECT_THAT(page, HasSubstr(R"(<line class="ours" x1="10.0" x2="156.7" y1="10" y2="10"/><circle cx="83.3")"));
  EXPECT_THAT(page, HasSubstr(R"(<rect class="holds" x="0.0" y="1" width="230.0")"));
  EXPECT_THAT(page, HasSubstr(R"(<line class="limit" x1="230.0")"));
  EXPECT_THAT(page, HasSubstr(R"(<path class="paper" d="M120.0 4)"));
}

TEST_F(Pages, CellsLeadToTheirRuns) {
  const Table made = grid();
  const std::string page = tables_page(store_, {made});
  const Json runs = page_data(page)["runs"];
  for (const TableRow& row : made.rows) {
    for (const TableCell& cell : row.cells) {
      if (!cell.value) continue;
      EXPECT_THAT(page, HasSubstr(runs_attributes(cell.runs)));
      for (const std::string& run : cell.runs) {
        ASSERT_TRUE(runs.contains(run)) << run;
        EXPECT_EQ(runs[run]["params"]["optimizer.lr"], 0.07);
        EXPECT_EQ(runs[run]["status"], "done");
      }
    }
  }
  EXPECT_THAT(page, HasSubstr("title=\"3 runs:\nadaptive-span-text8-00000007\n"));
  EXPECT_THAT(page, HasSubstr(">1.856 ± 0.010</button><span class=\"star\">*</span>"));
  EXPECT_THAT(page, HasSubstr("[1.9]</span>"));
  EXPECT_THAT(page, HasSubstr("<li>* better than fixed"));
}

TEST_F(Pages, MissingCellsSayWhy) {
  const std::string page = tables_page(store_, {grid()});
  EXPECT_THAT(page, HasSubstr("<span title=\"1 failed\" aria-label=\"missing: 1 failed\">–</span>"));
  EXPECT_THAT(page, HasSubstr("<span title=\"no run\""));
}

TEST_F(Pages, ContainTheirScriptsAndStyles) {
  const fs::path folder = fs::path(XLM_SOURCE_DIR) / "results/pages";
  EXPECT_EQ(page_script(), read_file(folder / "page.js"));
  EXPECT_EQ(page_style(), read_file(folder / "page.css"));
}

TEST_F(Pages, TablesNeedNoPlotly) {
  EXPECT_LT(tables_page(store_, {grid()}).size(), 200000);
  EXPECT_THAT(std::string(plotly_script()), HasSubstr("plotly.js v"));
  EXPECT_EQ(std::string(plotly_script()).find("</script"), std::string::npos);
}

TEST_F(Pages, NothingThatUsersWriteBecomesMarkup) {
  const std::string title = "'" + std::string(kAwkward) + "'";
  const std::string drawn = figure_page(
      store_, figure("figure: " + title + "\nname: f\nkind: line\nx: model.span\ny: test.bpc\nx_label: " + title +
                     "\nseries: model.span_type\n"));
  const std::string written = tables_page(store_, {table("table: " + title + "\nrows: [{label: " + title +
                                                         "}]\n"
                                                         "cells: {value: test.bpc}\n")});
  for (const std::string& page : {drawn, written}) {
    const std::string own = own_part(page);
    EXPECT_THAT(own, HasSubstr("&lt;/script&gt;&lt;b&gt;&amp;&quot;x&quot; ü – λ"));
    EXPECT_THAT(own, Not(HasSubstr("<b>&")));
    EXPECT_EQ(occurrences(own, "<script"), occurrences(own, "</script"));
    EXPECT_NO_THROW(page_data(page));
  }
  EXPECT_EQ(page_data(drawn)["figures"][0]["layout"]["xaxis"]["title"]["text"],
            "&lt;/script&gt;&lt;b&gt;&amp;\"x\" ü – λ")
      << "plotly.js reads tags";
}

TEST_F(Pages, ReferToNothingOutsideThemselves) {
  Report report{.title = "R", .origin = "test", .recipes = {}};
  report.recipes.push_back({.title = "a", .file = "a.yaml", .exhibits = {figure(line_yaml()), grid()}});
  for (const std::string& page :
       {figure_page(store_, figure(line_yaml())), tables_page(store_, {grid()}), report_page(store_, report)}) {
    EXPECT_THAT(own_part(page), Not(HasSubstr("http:")));
    EXPECT_THAT(own_part(page), Not(HasSubstr("https:")));
    EXPECT_THAT(own_part(page), Not(HasSubstr("src=")));
    EXPECT_THAT(own_part(page), Not(HasSubstr("url(")));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  }
  EXPECT_THAT(std::string(page_script()) + std::string(page_style()), Not(HasSubstr("http")));
}

TEST_F(Pages, PointsHaveHoverTexts) {
  const Figure made = figure(line_yaml());
  const Json plot = plotly_figure(made);
  const Json trace = trace_of(plot, "adaptive");
  EXPECT_EQ(trace["x"], Json({64.0, 256.0})) << "two series share these places: neither is moved";
  EXPECT_EQ(trace["mode"], "lines+markers");
  EXPECT_EQ(trace["line"]["color"], series_look(0).colour);
  EXPECT_FALSE(trace.contains("error_y"));
  const Json& band = plot["data"][0];
  EXPECT_EQ(band["fill"], "toself");
  EXPECT_NEAR(band["y"][1].get<double>() - trace["y"][1].get<double>(), 0.01, 1e-12) << "the upper side at 256";
  EXPECT_NEAR(band["y"][2].get<double>() - trace["y"][1].get<double>(), -0.01, 1e-12) << "and the lower one";
  EXPECT_EQ(trace["customdata"][1], Json(made.series[0].points[1].runs));
  const std::string hover = trace["hovertext"][1];
  EXPECT_THAT(hover,
              StartsWith("<b>adaptive</b><br>span limit: 256<br>test bpc: 1.664 ± 0.01<br>adaptive-span-text8-"));
  for (const std::string& run : made.series[0].points[1].runs) EXPECT_THAT(hover, HasSubstr(run));
  EXPECT_EQ(plot["layout"]["xaxis"]["type"], "log");
  EXPECT_EQ(plot["layout"]["xaxis"]["ticktext"], Json({"64", "256"}));
  const Axis axis = x_axis(made);
  EXPECT_NEAR(plot["layout"]["xaxis"]["range"][0].get<double>(), std::log10(axis.range.low), 1e-12);
}

TEST_F(Pages, EveryKindOfFigureIsTraceable) {
  const auto plot = [&](const std::string& yaml) { return plotly_figure(figure("figure: F\n" + yaml)); };
  const Json front = plot("x: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\n");
  EXPECT_EQ(trace_of(front, "Pareto front")["hoverinfo"], "skip");
  EXPECT_EQ(front["data"][0]["name"], "Pareto front") << "below the points";
  const Json bars = plot("kind: bars\nx: model.span_type\ny: test.bpc\nseries: model.span\n");
  EXPECT_EQ(trace_of(bars, "span limit 64")["type"], "bar");
  EXPECT_EQ(trace_of(bars, "span limit 64")["customdata"][0].size(), 3);
  EXPECT_EQ(bars["layout"]["xaxis"]["ticktext"], Json({"adaptive", "fixed"}));
  EXPECT_EQ(bars["layout"]["yaxis"]["range"][0], 0);
  const Json spans = plot("kind: heatmap\ngrid: spans\ny_scale: log\nwhere: {run_id: adaptive-span-text8-00000001}\n");
  EXPECT_NEAR(spans["data"][0]["z"][0][0].get<double>(), std::log10(32), 1e-12);
  EXPECT_EQ(spans["data"][0]["text"][0][0], "32") << "in the cell stands the span";
  EXPECT_EQ(spans["data"][0]["customdata"][1][1], Json({"adaptive-span-text8-00000001"}));
  const Json heat = plot("kind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_EQ(heat["data"][0]["customdata"][0][1].size(), 3);
  EXPECT_THAT(heat["data"][0]["hovertext"][0][1].get<std::string>(),
              HasSubstr("span limit: 256<br>span type: adaptive<br>test bpc: 1.664<br>"));
}

TEST_F(Pages, HolesInAHeatmapStayHoles) {
  maker_.make({.id = "lone", .type = "fixed", .span = 512});
  store_.sync(maker_.runs());
  const Figure made = figure("figure: F\nkind: heatmap\nx: model.span\ny: model.span_type\nvalue: test.bpc\n");
  EXPECT_TRUE(plotly_figure(made)["data"][0]["z"][0][2].is_null());
  EXPECT_THAT(own_part(figure_page(store_, made)), HasSubstr("<td class=\"number\">–</td>"));
}

TEST_F(Pages, LongLinesHaveABandInsteadOfBars) {
  for (const int seed : {1, 2}) {
    const MadeRun run{.id = "long" + std::to_string(seed), .experiment = "long", .seed = seed};
    maker_.write_config(run);
    Journal journal = maker_.journal(run);
    for (int step = 1; step <= 40; ++step) {
      journal.append("metric", {{"step", step}, {"values", {{"loss", 5.0 / step + seed}}}});
    }
  }
  store_.sync(maker_.runs());
  const Json plot = plotly_figure(figure("figure: F\nkind: line\nx: step\ny: loss\nwhere: {experiment: long}\n"));
  ASSERT_EQ(plot["data"].size(), 2);
  EXPECT_EQ(plot["data"][0]["fill"], "toself");
  EXPECT_EQ(plot["data"][1]["mode"], "lines");
  EXPECT_FALSE(plot["data"][1].contains("error_y"));
}

TEST_F(Pages, TicksOfOneAxisHaveTheSameDigits) {
  EXPECT_THAT(tick_texts({.range = {}, .log = false, .ticks = {1.0, 1.05, 1.1}}), ElementsAre("1.00", "1.05", "1.10"));
  EXPECT_THAT(tick_texts({.range = {}, .log = true, .ticks = {0.1, 1, 10}}), ElementsAre("0.1", "1", "10"));
  EXPECT_THAT(tick_texts({.range = {}, .log = false, .ticks = {0, 5000, 10000}}), ElementsAre("0", "5000", "10k"));
}

Report two_recipes(const Figure& figure, const Table& table, const std::vector<std::string>& runs) {
  Report report{.title = "All of it", .origin = "made by a test", .recipes = {}};
  report.recipes.push_back({.title = "spans",
                            .file = "spans.yaml",
                            .profile = "smoke",
                            .command = "xlm sweep spans.yaml --profile smoke",
                            .exhibits = {table, figure, NothingToShow{"Later", "no run fulfils its conditions"}},
                            .runs = runs});
  report.recipes.push_back(
      {.title = "bare", .file = "bare.yaml", .exhibits = {NothingToShow{"Elsewhere", "no run has it"}}});
  return report;
}

TEST_F(Pages, ReportsLinkNumbersToRuns) {
  const std::string page = report_page(store_, two_recipes(figure(line_yaml()), grid(), {"adaptive-span-text8-dead"}));
  const std::string own = own_part(page);
  std::set<std::string> anchors;
  const std::regex anchor(" id=\"([^\"]+)\"");
  for (std::sregex_iterator match(own.begin(), own.end(), anchor), end; match != end; ++match) {
    EXPECT_TRUE(anchors.insert((*match)[1]).second) << (*match)[1] << " is there twice";
  }
  int links = 0;
  const std::regex link("href=\"#([^\"]+)\"");
  for (std::sregex_iterator match(own.begin(), own.end(), link), end; match != end; ++match, ++links) {
    EXPECT_TRUE(anchors.contains((*match)[1])) << (*match)[1];
  }
  EXPECT_EQ(links, 8) << "two recipes, four exhibits, the table with printed values, the runs";
  const Json data = page_data(page);
  EXPECT_EQ(data["runs"].size(), 13U) << "twelve with numbers, one without";
  EXPECT_EQ(data["explorer"]["whole"]["list"]["rows"].size(), 13U);
  EXPECT_EQ(data["runs"]["adaptive-span-text8-dead"]["status"], "failed");
  const Json& run = data["runs"]["adaptive-span-text8-00000007"];
  EXPECT_EQ(run["params"]["optimizer.lr"], 0.07) << "the whole configuration";
  EXPECT_THAT(run["results"].get<std::string>(), HasSubstr("valid bpc 1."));
  EXPECT_EQ(occurrences(page, std::string(plotly_script().substr(0, 200))), 1);
}

TEST_F(Pages, ReportsSayHowToMakeMissingRuns) {
  const std::string own = own_part(report_page(store_, two_recipes(figure(line_yaml()), grid(), {})));
  EXPECT_THAT(own, HasSubstr("Nothing to show: no run fulfils its conditions. To make its runs: "
                             "<code>xlm sweep spans.yaml --profile smoke</code>. To check whether they can fill this, "
                             "add <code>--check</code>"));
  EXPECT_THAT(own, HasSubstr("Nothing to show: no run has it. To list the runs: <code>xlm runs ls</code>"));
}

TEST_F(Pages, ReportsWithoutRunsCountThoseBehindTheirNumbers) {
  const std::string own = own_part(report_page(store_, two_recipes(figure(line_yaml()), grid(), {})));
  EXPECT_THAT(own, HasSubstr("12 runs: 12 done"));
  EXPECT_THAT(own, HasSubstr("<code>bare.yaml</code>; 0 runs"));
}

TEST_F(Pages, ReportsHaveContentsWhereThereIsMoreThanOneRecipe) {
  Report report = two_recipes(figure(line_yaml()), grid(), {});
  EXPECT_THAT(report_page(store_, report), HasSubstr("<nav>"));
  report.recipes.pop_back();
  EXPECT_THAT(own_part(report_page(store_, report)), Not(HasSubstr("<nav>")));
}

TEST_F(Pages, OnlyTheBestAreBoldIfTheyAreMarked) {
  const std::string page = tables_page(
      store_, {table("table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc, best: true}\n")});
  EXPECT_THAT(page, HasSubstr("><b>1.856</b></button>"));
  EXPECT_THAT(page, HasSubstr(">1.957</button>"));
}

TEST_F(Pages, SuitADarkScreen) {
  const std::string page = report_page(store_, two_recipes(figure(line_yaml()), grid(), {}));
  EXPECT_THAT(page, HasSubstr("@media screen and (prefers-color-scheme: dark)")) << "paper stays white";
}

TEST_F(Pages, ReportsBeginWithAComparisonWithThePapers) {
  const Table printed = table(
      "table: Printed <once>\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc}\n"
      "printed: {fixed: {64: 1.95, 256: 1.9}, adaptive: {64: '–'}, dynamic: {64: 1.2, 256: 1.1}}\n");
  Report report = two_recipes(figure(line_yaml()), printed, {});
  report.recipes[1].exhibits.emplace_back(grid());
  const PrintedCounts counts = count_printed(report);
  EXPECT_THAT(counts.of, ElementsAre(0, 2, 1, 0, 0, 2, 1));
  const std::string own = own_part(report_page(store_, report));
  const std::string summary = own.substr(own.find("id=\"summary\""), own.find("<nav>") - own.find("id=\"summary\""));
  EXPECT_THAT(
      summary,
      HasSubstr("Printed values: 6. Ours in comparison: agrees: 0, consistent: 2, differs: 1, undecided: 0, not "
                "comparable: 0, missing: 2, no verdict: 1."));
  EXPECT_THAT(summary, HasSubstr("<a href=\"#exhibit-1-1\">Printed &lt;once&gt;</a></th><td class=\"number\">5</td>"));
  EXPECT_THAT(summary, HasSubstr("<a href=\"#exhibit-2-2\">Bits per character</a></th><td class=\"number\">1</td>"));
}

TEST_F(Pages, CellsCompareOursWithThePrintedValue) {
  const std::string yaml =
      "table: T\nrows: model.span_type\ncolumns: model.span\ncells: {value: test.bpc}\n"
      "printed: {fixed: {64: 1.95, 256: 1.9}, adaptive: {64: '–'}}\n";
  const std::string page = tables_page(store_, {table(yaml)});
  EXPECT_THAT(page,
              HasSubstr("<span class=\"printed\" title=\"printed in the paper; ours: consistent, +0.00667 ± 0.0546 (95 "
                        "% interval of the difference by Student's t)\">[1.95]</span>"
                        "<span class=\"verdict\">consistent, +0.00667 ± 0.0546</span>"));
  EXPECT_THAT(page, HasSubstr("<span class=\"verdict\">differs, -0.135 ± 0.0996</span>"));
  EXPECT_THAT(page, HasSubstr("title=\"printed in the paper\">[–]</span></td>")) << "no number is printed";
  TableDescription small =
      read_table_description(find_exhibits(parse_yaml(yaml, "t.yaml"), ExhibitKind::kTable).front());
  small.paper = paper_with({{"model.layers", 12}});
  RunTable runs(store_);
  const std::string smaller = tables_page(store_, {std::get<Table>(build_table(runs, small, {}))});
  EXPECT_THAT(smaller, HasSubstr("ours: not comparable, -0.135 (model.layers=2 (paper: 12))"))
      << "when it is hovered over";
  EXPECT_THAT(own_part(smaller), Not(HasSubstr("class=\"verdict\""))) << "there is no verdict to read";
}

TEST_F(Pages, ReportsOfNothingAreReportsToo) {
  Store empty = Store::in_memory();
  const Report report{.title = "R",
                      .origin = "",
                      .recipes = {{.title = "a", .file = "a.yaml", .exhibits = {NothingToShow{"T", "no run"}}}}};
  const std::string page = report_page(empty, report);
  EXPECT_THAT(page, HasSubstr("There are no runs yet."));
  EXPECT_LT(page.size(), 100000) << "no figure, no plotly.js";
}

TEST_F(Pages, NumbersOfRunsAreNeverPowersOfTen) {
  Report report{.title = "R", .origin = "", .recipes = {}};
  report.recipes.push_back({.title = "a", .file = "a.yaml", .exhibits = {grid()}});
  const std::string page = report_page(store_, report);
  const Json runs = page_data(page)["runs"];
  EXPECT_EQ(runs["adaptive-span-text8-00000001"]["measured"]["params"], "38.1M");
  EXPECT_EQ(runs["adaptive-span-text8-00000001"]["costs"]["params"], 38.1e6) << "in full for scripts";
}

}  // namespace
}  // namespace xlm
