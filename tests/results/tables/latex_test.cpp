// LaTeX tables compile, whatever their labels hold.
#include <cstdlib>

#include "results/sheets/sheet.h"
#include "results/tables/table.h"
#include "results/tables/table_text.h"
#include "tests/experiments/program.h"
#include "tests/needs.h"
#include "tests/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Table awkward_table() {
  Table table;
  table.title = "100 % of R&D_#1: λ ≤ ½·10⁰, “Müller–Lüdenscheidt” and café ~ ^ \\ {x} $y$ a|b <c>";
  table.corner = "model.span_type \\ model.span";
  table.columns.resize(2);
  table.columns[0].label = "#Params (%)";
  table.columns[1].label = "bpc ± sd";
  TableCell full{.value = 1.136, .spread = 0.004, .runs = {"a"}, .groups = 3, .star = true, .printed = "1.1*"};
  TableCell missing{.printed = "[38M]", .missing = "no run"};
  for (const char* label :
       {"[in brackets]", "*starred", "λ = 2·10⁻⁶ – größer", "→ α, β, Σ ≥ ∞", "¼ ¾ ÷ ¬ \u00A7 ¶ † ‡ • ‰ 1ª 2º 3°"}) {
    table.rows.push_back({label, {full, missing}});
  }
  table.notes = {"[…] is the value that the paper prints.", "* better than a & b, p < 0.05.", "– not there yet: x_1."};
  return table;
}

TEST(LatexTables, NoteAfterALineEndKeepsItsStar) {
  const std::string latex = render_table(awkward_table(), TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("1.136 $\\pm$ 0.004$^{*}$ {[}1.1{*}]"));
  EXPECT_THAT(latex, HasSubstr("  {*} better than a \\& b, p $<$ 0.05.\\par\n"));
  EXPECT_THAT(latex, Not(HasSubstr("±")));
}

/// What LaTeX says of a table, twice, after these lines of an article's head, with no font but those that are
/// installed: MKTEXPK=0 keeps it from making others, which wants METAFONT and a folder that may be written.
ProgramResult compiled(const std::string& table, const std::string& options, const std::string& head) {
  const TemporaryFolder folder;
  write_file(folder.path() / "table.tex", table);
  write_file(folder.path() / "paper.tex",
             "\\documentclass" + options + "{article}\n" + head +
                 "\\begin{document}\n\\input{table.tex}\n\\input{table.tex}\n\\end{document}\n");
  return shell(folder.path(), "MKTEXPK=0 timeout 120 pdflatex -interaction=nonstopmode -halt-on-error paper.tex");
}

void compile(const std::string& head) {
  const ProgramResult outcome = compiled(render_table(awkward_table(), TableFormat::kLatex), "", head);
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, Not(HasSubstr("Missing character"))) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("Output written on paper.pdf"));
}

TEST(LatexTables, CompileWithoutAnyPackage) {
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << needs::kLatex;
  compile("");
}

TEST(LatexTables, CompileWithAPartOfTheRulesAndWithoutCaptionSkips) {
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << needs::kLatex;
  compile("\\let\\toprule\\hline\n");
  compile("\\let\\toprule\\hline\\let\\midrule\\hline\n");
  // Without the lengths, the class itself has other captions.
  compile(
      "\\let\\abovecaptionskip\\undefined\\let\\belowcaptionskip\\undefined\n"
      "\\makeatletter\\long\\def\\@makecaption#1#2{#1: #2\\par}\\makeatother\n");
}

TEST(LatexTables, CompileWithBooktabs) {
  if (std::system("kpsewhich booktabs.sty >/dev/null 2>&1") != 0) GTEST_SKIP() << needs::kLatex;
  compile("\\usepackage{booktabs}\n");
}

TEST(LatexTables, LongTextIsBrokenSoThatItFitsAPage) {
  Sheet sheet{.title = "Claims", .columns = {{"claim"}, {"verdict"}, {"ours", true}}};
  sheet.add({"Two letters of context beat one", "confirmed", "-0.168"});
  EXPECT_THAT(render_sheet(sheet, TableFormat::kLatex), HasSubstr("{llr}\n"));
  std::string reason = "undecided (";
  for (int i = 0; i < 20; ++i) reason += "so many seeds decide ";
  sheet.add({"A third saves 0.1 more than the second, which is a long sentence", reason + ")", "-0.09"});
  const std::string latex = render_sheet(sheet, TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("\\begin{table*}\n"));
  EXPECT_THAT(latex, HasSubstr("{\\raggedright A third"));
  if (std::system("command -v pdflatex >/dev/null 2>&1") != 0) GTEST_SKIP() << needs::kLatex;
  for (const char* options : {"", "[twocolumn]"}) {
    const ProgramResult outcome = compiled(latex, options, "");
    EXPECT_EQ(outcome.code, 0) << outcome.out;
    EXPECT_THAT(outcome.out, Not(HasSubstr("Overfull \\hbox"))) << latex;
  }
}

TEST(LatexTables, HaveALabelAndTheRulesOfTheDocument) {
  Table table = awkward_table();
  table.name = "table_1{x}";
  const std::string latex = render_table(table, TableFormat::kLatex);
  EXPECT_THAT(latex, HasSubstr("\\label{tab:table1x}\n"));
  EXPECT_THAT(latex, HasSubstr("\\ifdefined\\midrule\\else\\let\\midrule\\hline\\fi "));
  for (const char* rule : {"    \\toprule\n", "    \\midrule\n", "    \\bottomrule\n"}) {
    EXPECT_THAT(latex, HasSubstr(rule));
  }
}

}  // namespace
}  // namespace xlm
