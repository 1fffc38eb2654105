// The forms of a sheet.
#include "results/sheets/sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Sheet small_sheet() {
  Sheet sheet{.title = "Small & short",
              .name = "small sheet",
              .columns = {{"model"}, {"bpc", true}, {"runs", true}},
              .notes = {"A note of several words."}};
  sheet.rows.push_back(
      {{"a_1"}, {.text = "1.5", .best = true, .behind = " ± 0.1", .star = true, .printed = "1.4"}, {"3"}});
  sheet.add({"b", "–", "12"});
  return sheet;
}

TEST(Sheets, HaveTheFormsOfTables) {
  EXPECT_EQ(render_sheet(small_sheet(), TableFormat::kText),
            "Small & short\n\n"
            "model                bpc  runs\n"
            "─────  ─────────────────  ────\n"
            "a_1    ▸1.5 ± 0.1* [1.4]     3\n"
            "b                      –    12\n\n"
            "A note of several words.\n");
  EXPECT_THAT(render_sheet(small_sheet(), TableFormat::kMarkdown), HasSubstr("| **1.5** ± 0.1* [1.4] |"));
  EXPECT_THAT(render_sheet(small_sheet(), TableFormat::kMarkdown), HasSubstr("\n\nA note of several words.\n"));
  EXPECT_EQ(render_sheet(small_sheet(), TableFormat::kCsv), "model,bpc,runs\na_1,▸1.5 ± 0.1* [1.4],3\nb,–,12\n");
  const std::string latex = render_sheet(small_sheet(), TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("  \\caption{Small \\& short}\n  \\label{tab:smallsheet}\n  \\begin{tabular}{lrr}\n"));
  EXPECT_THAT(latex, HasSubstr("    a\\_1 & \\textbf{1.5} $\\pm$ 0.1$^{*}$ {[}1.4] & 3 \\\\\n    b & -- & 12 \\\\\n"));
  EXPECT_THAT(latex, HasSubstr("  A note of several words.\\par\n"));
}

TEST(Sheets, ColumnsOfOneValueHaveOneHeadInLatex) {
  const Sheet sheet{.columns = {{"model"}, {"64", true}, {"64 test", true}, {"640", true}, {"256 test", true}},
                    .under_head = "valid_bpc"};
  EXPECT_THAT(render_sheet(sheet, TableFormat::kLatex),
              HasSubstr("    \\toprule\n     & \\multicolumn{2}{c}{64} &  &  \\\\\n"
                        "    model & valid\\_bpc & test & 640 & 256 test \\\\\n    \\midrule"));
}

TEST(Sheets, GoOnBelowOrAreCut) {
  Sheet sheet = small_sheet();
  const auto lines = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  EXPECT_EQ(lines(render_sheet(sheet, TableFormat::kText, 26), "model"), 1U);
  sheet.goes_on_below = true;
  const std::string text = render_sheet(sheet, TableFormat::kText, 26);
  EXPECT_EQ(lines(text, "model"), 2U);
  EXPECT_THAT(text, HasSubstr("▸1.5 ± 0.1* [1.4]"));
  EXPECT_THAT(text, HasSubstr("A note of several words.\n"));
  EXPECT_THAT(render_sheet(sheet, TableFormat::kText, 10), HasSubstr("A note of\nseveral\nwords.\n"));
}

TEST(Sheets, WithoutATitleBeginWithTheirColumns) {
  Sheet sheet = small_sheet();
  sheet.title.clear();
  EXPECT_EQ(render_sheet(sheet, TableFormat::kText).substr(0, 5), "model");
  EXPECT_THAT(render_sheet(sheet, TableFormat::kMarkdown), Not(HasSubstr("Small")));
}

}  // namespace
}  // namespace xlm
