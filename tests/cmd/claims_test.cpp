// xlm claims: verdicts, forms, exit codes, and the section of reports.
#include <gmock/gmock.h>

#include "tests/cmd/results_commands_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kTwoClaims =
    "experiment: spans\n"
    "claims:\n"
    "  - claim: Adaptive spans beat fixed ones\n"
    "    value: test.bpc\n"
    "    where: {model.span: 64}\n"
    "    a: {model.span_type: adaptive}\n"
    "    b: {model.span_type: fixed}\n"
    "    printed: -0.1\n"
    "  - claim: Dynamic spans beat adaptive ones\n"
    "    value: test.bpc\n"
    "    a: {model.span_type: dynamic}\n"
    "    b: {model.span_type: adaptive}\n";

TEST_F(ResultsCommands, ClaimsAreJudged) {
  make_sweep();
  write("claims.yaml", kTwoClaims);
  const ProgramResult text = xlm("claims claims.yaml");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("confirmed  Adaptive spans beat fixed ones"), HasSubstr("paper: -0.1, consistent"),
                    HasSubstr("not tried  Dynamic spans"), HasSubstr("2 claims: 1 confirmed, 1 not tried")));
  const Json one = json("claims claims.yaml --name adaptive-spans-beat-fixed-ones --where seed=1");
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0]["verdict"], "undecided") << "one seed has no interval";
  EXPECT_EQ(one[0]["parts"][0]["runs"].size(), 2U);
}

TEST_F(ResultsCommands, ClaimsWithoutAnyRunsAreNotTried) {
  write("claims.yaml", kTwoClaims);
  const ProgramResult result = xlm("claims claims.yaml");
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, HasSubstr("2 claims: 2 not tried"));
  write("none.yaml", "experiment: spans\ntables: []\n");
  const ProgramResult none = xlm("claims none.yaml");
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("describes no claim"));
  write("wrong.yaml", "claims: [{claim: c, value: test.bpc, a: {seed: 1}}]\n");
  EXPECT_THAT(xlm("claims wrong.yaml").err, HasSubstr("wrong.yaml:1: the claim 'c' does not say"));
}

TEST_F(ResultsCommands, WhatSeedsWillShowIsSaidBeforeRuns) {
  write("claims.yaml",
        kTwoClaims +
            "data: {path: data/text8}\nmodel: {type: adaptive-span, layers: 2, heads: 2, span: 64}\n"
            "train: {steps: 100}\nsweep: {grid: {model.span_type: [fixed, adaptive, dynamic], seed: [1, 2, 3]}}\n");
  const Json guessed = json("claims claims.yaml --power 0.002 --runs none");
  ASSERT_EQ(guessed.size(), 2U);
  EXPECT_EQ(guessed[0]["seeds"], 3);
  EXPECT_NEAR(guessed[0]["decided_from"].get<double>(), 0.009232109, 1e-7) << "SciPy";
  EXPECT_EQ(json("claims claims.yaml --power --runs none")[0]["why_not"], "no spread known");
  make_sweep();
  EXPECT_GT(json("claims claims.yaml --power")[0]["deviation"].get<double>(), 0);
  EXPECT_EQ(xlm("claims claims.yaml --power=-1").code, kUsage);
}

TEST_F(ResultsCommands, OwnClaimsHaveNoColumnForAPaper) {
  make_sweep();
  write("claims.yaml", kTwoClaims);
  EXPECT_THAT(xlm("claims claims.yaml --format markdown").out, HasSubstr("| paper"));
  std::string own = kTwoClaims;
  own.erase(own.find("    printed: -0.1\n"), std::string("    printed: -0.1\n").size());
  write("claims.yaml", own);
  const ProgramResult result = xlm("claims claims.yaml --format markdown");
  EXPECT_THAT(result.out, AllOf(HasSubstr("| seeds"), Not(HasSubstr("paper"))));
}

TEST_F(ResultsCommands, ClaimsHaveTheFormsOfTables) {
  make_sweep();
  write("claims.yaml", kTwoClaims);
  for (const std::string name : {"claims.md", "claims.csv", "claims.tex", "claims.json", "claims.html"}) {
    const ProgramResult result = xlm("claims claims.yaml --out " + name);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(read_file(temporary_.path() / name), HasSubstr("confirmed")) << name;
  }
  const std::string page = read_file(temporary_.path() / "claims.html");
  EXPECT_THAT(page, HasSubstr("<span class=\"claim-verdict not-tried\">not tried</span>"));
  EXPECT_THAT(page, HasSubstr("Adaptive spans beat fixed ones"));
}

TEST_F(ResultsCommands, AReportBeginsWithWhatIsClaimed) {
  make_sweep();
  write("claims.yaml", kTwoClaims + "tables:\n  - {table: Bits, rows: model.span_type, cells: {value: test.bpc}}\n");
  const Json summary = json("report claims.yaml --out report.html");
  EXPECT_EQ(summary["claims"]["confirmed"], 1);
  EXPECT_EQ(summary["claims"]["not tried"], 1);
  const std::string page = read_file(temporary_.path() / "report.html");
  const std::size_t claims = page.find("What is claimed");
  ASSERT_NE(claims, std::string::npos);
  EXPECT_LT(claims, page.find("<h3>Bits</h3>"));
  EXPECT_THAT(page.substr(claims), HasSubstr("2 claims: 1 confirmed, 1 not tried."));
}

TEST_F(ResultsCommands, RunsThatAreNotThePapersSaySo) {
  make_sweep();
  write("claims.yaml", kTwoClaims +
                           "data: {path: data/text8}\nmodel: {type: adaptive-span, layers: 12, heads: 2, span: 64}\n"
                           "train: {steps: 100}\nsweep: {grid: {model.span_type: [fixed, adaptive], seed: [1, 2]}}\n"
                           "profiles: {quick: {}, paper: {model: {span: 512}}}\n");
  const ProgramResult quick = xlm("claims claims.yaml --profile quick");
  EXPECT_THAT(quick.out, AllOf(HasSubstr("confirmed  Adaptive"), HasSubstr("paper: -0.1, not comparable"),
                               HasSubstr("not configured as the paper's"), HasSubstr("model.span=64 (paper: 512)")));
}

}  // namespace
}  // namespace xlm
