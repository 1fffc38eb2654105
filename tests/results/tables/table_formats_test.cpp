// How tables and their numbers are written: for a terminal, in Markdown, CSV, LaTeX and JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "results/quantities/number_format.h"
#include "results/sheets/latex.h"
#include "results/tables/table_text.h"
#include "tests/results/tables/tables.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(Tables, TextFitsTheTerminalByGoingOnBelow) {
  const std::string shown = text(std::string(kGrid) + "stars: {against: [fixed]}\n", 40);
  for (const std::string& line : split(shown, '\n')) EXPECT_LE(display_width(line), 40) << line;
  EXPECT_THAT(shown, HasSubstr("1.664"));
  EXPECT_THAT(shown, HasSubstr("1.856"));
}

TEST_F(Tables, Formats) {
  const Table result = table(std::string(kGrid) + "printed: {fixed: {64: 1.9}}\nstars: {against: [fixed]}\n");
  const std::string markdown = render_table(result, TableFormat::kMarkdown);
  EXPECT_THAT(markdown, HasSubstr("**Bits per character**"));
  EXPECT_THAT(markdown, HasSubstr("| fixed "));
  const std::string csv = render_table(result, TableFormat::kCsv);
  EXPECT_THAT(csv, HasSubstr("model.span_type \\ model.span,64,64 sd,64 n,64 paper,64 verdict,64 difference,64 "
                             "half_width,64 decides,256,256 sd,256 n\n"));
  EXPECT_THAT(csv, HasSubstr(",3,1.9,"));
  const std::string latex = render_table(result, TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("\\begin{tabular}{lrr}"));
  EXPECT_THAT(latex, HasSubstr("$\\pm$ 0.010$^{*}$"));
  EXPECT_THAT(latex, HasSubstr("model.span\\_type \\textbackslash{} model.span"));
  EXPECT_THAT(latex, Not(HasSubstr("±")));
  const Json json = Json::parse(render_table(result, TableFormat::kJson));
  EXPECT_EQ(json["rows"][0]["label"], "fixed");
  EXPECT_EQ(json["rows"][0]["cells"][0]["printed"], "1.9");
  EXPECT_EQ(json["rows"][0]["cells"][0]["n"], 3);
  EXPECT_EQ(json["rows"][1]["cells"][0]["runs"].size(), 3);
}

TEST(Latex, EscapesWhatMeansSomething) {
  EXPECT_EQ(latex_escape("100 % of a_b & {c} ~ ^ \\"),
            "100 \\% of a\\_b \\& \\{c\\} \\textasciitilde{} \\textasciicircum{} \\textbackslash{}");
  EXPECT_EQ(latex_escape("[1] #2 $3 <4>"), "{[}1] \\#2 $\\mathdollar$3 $<$4$>$");
  EXPECT_EQ(latex_escape("--lr --- – —"), "-{}-{}lr -{}-{}- -- ---") << "hyphens are no dashes";
}

TEST(Latex, GivesNegativeNumbersAMinusSign) {
  EXPECT_EQ(latex_escape("-0.240"), "$-0.240$");
  EXPECT_EQ(latex_escape("-0.1 ± 0.2"), "$-0.1$ $\\pm$ 0.2");
  EXPECT_EQ(latex_escape("-12,010.5, (-5.4 %) [-3] fixed/256 -1."),
            "$-12{,}010.5$, ($-5.4$ \\%) {[}$-3$] fixed/256 $-1$.");
  EXPECT_EQ(latex_escape("a-1 2020-10 - --5 -x"), "a-1 2020-10 - -{}-{}5 -x") << "hyphens, no dash of two";
}

TEST_F(Tables, HaveMinusSignsInLatex) {
  const Table result =
      table("table: T\nrows: model.span_type\ncolumns: [{label: it, value: test.bpc, against: fixed, best: true}]\n");
  EXPECT_THAT(render_table(result, TableFormat::kLatex), HasSubstr("& \\textbf{$-0.101$} \\\\\n"));
  EXPECT_THAT(render_table(result, TableFormat::kText), HasSubstr("▸-0.101\n"));
}

TEST(NumberFormats, PrintWhatPapersPrint) {
  EXPECT_EQ(format_number(1.1364, NumberFormat::kNumber, -1), "1.136");
  EXPECT_EQ(format_number(8192, NumberFormat::kNumber, -1), "8192") << "whole: nothing behind the point";
  EXPECT_EQ(format_number(343210.7, NumberFormat::kNumber, -1), "343k");
  EXPECT_EQ(format_number(12010.254, NumberFormat::kNumber, 2), "12,010.25");
  EXPECT_EQ(format_number(-12010, NumberFormat::kNumber, 0), "-12,010");
  EXPECT_EQ(format_number(-0.0001, NumberFormat::kNumber, 3), "0.000") << "what rounds to zero has no sign";
  EXPECT_EQ(format_number(-0.001, NumberFormat::kNumber, 3), "-0.001");
  EXPECT_EQ(format_number(-0.0001, NumberFormat::kPercent, 1), "0.0 %");
  EXPECT_EQ(format_number(9999.5, NumberFormat::kNumber, 1), "9,999.5");
  EXPECT_EQ(format_number(5791.6193, NumberFormat::kNumber, 2), "5,791.62") << "as 13,119.25 below it";
  EXPECT_EQ(format_number(8192, NumberFormat::kNumber, 0), "8192");
  EXPECT_EQ(format_number(38.12e6, NumberFormat::kCount, 0), "38M");
  EXPECT_EQ(format_number(999.6e3, NumberFormat::kCount, 0), "1M");
  EXPECT_EQ(format_number(512, NumberFormat::kCount, 0), "512");
  EXPECT_EQ(format_number(3.1e9, NumberFormat::kBytes, 1), "3.1 GB");
  EXPECT_EQ(format_number(0.125, NumberFormat::kPercent, -1), "12.5 %");
}

}  // namespace
}  // namespace xlm
