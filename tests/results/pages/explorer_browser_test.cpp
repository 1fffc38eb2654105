// The explorer of runs in a real browser, in a file: filters, order, curves, and that conditions are those of --where.
#include <fmt/format.h>

#include "results/pages/report.h"
#include "tests/results/pages/browser.h"

namespace xlm {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kRow = "<td class=\"choice\">";
constexpr const char* kPointOfCurve = "<path class=\"point plotly-customdata\"";

/// A script that runs when the page has drawn itself. `act` may use `find` and `ask`, which fills the conditions.
std::string after_a_while(const std::string& act) {
  return "<script>setTimeout(() => {\n"
         "  const find = (selector) => [...document.querySelectorAll('#explorer ' + selector)];\n"
         "  const ask = (where) => { const form = find('form')[0]; form.where.value = where; form.requestSubmit(); "
         "};\n" +
         act + "\n}, 500);</script>\n";
}

std::string report_with(Store& store, const Table& table) {
  Report report{.title = "R", .origin = "", .recipes = {}};
  report.recipes.push_back({.title = "a", .file = "a.yaml", .exhibits = {table}});
  return report_page(store, report);
}

TEST_F(Browser, AReportsRunsCanBeFilteredSortedAndLaidOver) {
  const std::string page = report_with(store_, grid());
  const std::string at_first = shown(page);
  EXPECT_EQ(occurrences(at_first, kRow), 12U);
  EXPECT_THAT(at_first, HasSubstr("12 of 12 runs"));
  const std::string after = shown(page + after_a_while("ask('model.span=256,seed<3');\n"
                                                       "setTimeout(() => {\n"
                                                       "  find('td.choice input').forEach((box) => box.click());\n"
                                                       "  find('th[title=\"test.bpc\"] button')[0].click();\n"
                                                       "}, 500);"));
  EXPECT_EQ(occurrences(after, kRow), 4U) << "two types, two seeds";
  EXPECT_EQ(occurrences(after, kPointOfCurve), 4U * 2U);
  EXPECT_THAT(after, HasSubstr("aria-sort=\"ascending\""));
  EXPECT_THAT(after, HasSubstr("4 of 12 runs"));
  const std::string explorer = after.substr(after.find("<section id=\"explorer\">"));
  EXPECT_LT(explorer.find("<td>adaptive</td>"), explorer.find("<td>fixed</td>")) << "the better ones come first";
  EXPECT_THAT(after, HasSubstr("span type adaptive, seed 1")) << "a curve is named by what differs";
  EXPECT_THAT(requests(), IsEmpty());
}

TEST_F(Browser, AFileSaysWhatIsWrongWithConditions) {
  const std::string page = report_with(store_, grid());
  const std::string problem = "<p class=\"problem\" role=\"alert\">";
  EXPECT_THAT(shown(page), Not(HasSubstr(problem)));
  EXPECT_THAT(shown(page + after_a_while("ask('nonsense');")), HasSubstr(problem + "'nonsense' is not a condition"));
  EXPECT_THAT(shown(page + after_a_while("ask('model.spam=1');")),
              HasSubstr(problem + "no run of this page has a column 'model.spam'"));
  EXPECT_THAT(shown(page + after_a_while("ask('seed=9');")), HasSubstr("no run meets these conditions"));
}

TEST_F(Browser, AFileAndTheProgramTakeConditionsAlike) {
  const MadeRun odd{.id = "odd", .experiment = "2023", .type = "a b", .span = 7, .state = "failed", .time = 60000};
  maker_.make(odd);
  maker_.journal(odd).append("remark", {{"tag", "first"}, {"given", true}});
  maker_.journal(odd).append("remark", {{"tag", "second"}, {"given", true}});
  maker_.journal(odd).append("remark", {{"note", "x, y"}});
  maker_.journal(odd).append("remark", {{"bad", "so"}});
  store_.sync(maker_.runs());
  const std::vector<std::string> conditions{"model.span=256",
                                            "model.span=64,7",
                                            "model.span != 64",
                                            "seed<2",
                                            "seed>=2,model.span=64",
                                            "test.bpc<1.7",
                                            "test.bpc=null",
                                            "test.bpc!=null",
                                            "status=done",
                                            "status!=done,failed",
                                            "experiment=2023",
                                            "experiment=\"2023\"",
                                            "experiment!=spans",
                                            "model.span_type=a b",
                                            "model.span_type=\"a b\"",
                                            "model.span_type='a b',adaptive",
                                            "note=\"x, y\"",
                                            "note=x",
                                            "tag=first",
                                            "tag=second",
                                            "tag!=first",
                                            "tag=null",
                                            "bad=so",
                                            "is_bad=1",
                                            "train.tf32=false",
                                            "train.tf32=true",
                                            "params>1e7",
                                            "step<=50",
                                            "optimizer.lr=0.07",
                                            "optimizer.lr=7e-2",
                                            "run_id=odd"};
  RunTable runs(store_);
  std::vector<std::string> expected;
  for (const std::string& condition : conditions) {
    std::string line = condition + ":";
    for (const std::size_t row : runs.select(parse_filters({condition}))) line += " " + runs.id(row);
    expected.push_back(line);
  }
  const std::string page = runs_page(store_, "All", runs.ids());
  const std::string after =
      shown(page + fmt::format("<script>const told = document.createElement('p');\n"
                               "told.id = 'told';\n"
                               "const lines = {}.map((text) => {{\n"
                               "  const conditions = xlm_conditions.parse(text);\n"
                               "  const met = Object.values(xlm_page.page.runs).filter((run) =>\n"
                               "    conditions.every((condition) => xlm_conditions.holds(condition, run)));\n"
                               "  return [text + ':', ...met.map((run) => run.run_id)].join(' ');\n"
                               "}});\n"
                               "told.append(JSON.stringify(lines));\n"
                               "document.body.append(told);</script>\n",
                               Json(conditions).dump()));
  const std::string begin = "<p id=\"told\">";
  ASSERT_THAT(after, HasSubstr(begin));
  std::string told = after.substr(after.find(begin) + begin.size());
  told = told.substr(0, told.find("</p>"));
  for (const auto& [escaped, sign] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&amp;", "&")}) {
    for (std::size_t at = 0; (at = told.find(escaped, at)) != std::string::npos;) {
      told.replace(at, std::string(escaped).size(), sign);
    }
  }
  const std::vector<std::string> lines = Json::parse(told);
  EXPECT_THAT(lines, ElementsAreArray(expected));
}

TEST_F(Browser, TheExplorerSuitsADarkScreenAndAPhone) {
  const std::string page = report_with(store_, grid()) + after_a_while("find('td.choice input')[0].click();");
  EXPECT_THAT(shown(page, "--blink-settings=preferredColorScheme=0"), HasSubstr("background: rgb(21, 24, 28)"));
  EXPECT_THAT(shown(page), Not(HasSubstr("background: rgb(21, 24, 28)")));
  const std::string width = "e.scrollWidth > e.clientWidth ? 'too wide: ' + e.scrollWidth : 'fits ' + e.clientWidth";
  std::string whole = report_with(store_, grid());
  whole.insert(whole.rfind("</body>"), after_a_while("find('td.choice input')[0].click();"));
  EXPECT_THAT(told_by_a_phone(whole, width), HasSubstr("fits 3"));
  std::string desk = whole;
  desk.insert(desk.rfind("</body>"),
              "<script>setTimeout(() => { const e = document.documentElement; "
              "document.body.append(" +
                  width + "); }, 2000)</script>");
  EXPECT_THAT(shown(desk, "--window-size=1400,900"), HasSubstr("fits 1"));
}

}  // namespace
}  // namespace xlm
