// What must be said of runs of programs where their numbers and failures stand.
#include <gmock/gmock.h>

#include "base/json.h"
#include "results/judgement/verdict.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramWords : public ProgramOfUser {
 protected:
  /// Two settings of three seeds, whose numbers have four digits. `number`: in Python, of x and seed.
  ProgramResult sweep_of_digits(const std::string& number) {
    write_script("digits.py",
                 "import sys\nx, seed = int(sys.argv[1]), int(sys.argv[2])\nprint(f'valid {" + number + ":.4f}')\n");
    configure("[python3, digits.py, \"{x}\", \"{seed}\"]",
              R"(  metrics: [{lines: 'valid (?<valid.loss>\S+)'}])"
              "\n",
              "options: {x: 1}\nsweep: {grid: {options.x: [1, 2], seed: [1, 2, 3]}}\n"
              "tables: [{table: T, rows: options.x, columns: [{value: valid.loss}]}]\n"
              "claims: [{claim: C, value: valid.loss, a: {options.x: 1}, b: {options.x: 2}}]\n");
    return run({"sweep", "run.yaml"});
  }

  /// All places in which a verdict or a mean of seeds stands.
  std::vector<std::string> pages() {
    return {run({"compare", "options.x=1", "options.x=2", "--value", "valid.loss"}).out,
            run({"claims", "run.yaml"}).out, run({"claims", "run.yaml", "--format", "markdown"}).out,
            run({"table", "run.yaml"}).out};
  }
};

TEST_F(ProgramWords, ASeedThatIsIgnoredIsSaidWhereTheVerdictStands) {
  const ProgramResult sweep = sweep_of_digits("0.5123 + 0.1111 * x");
  ASSERT_EQ(sweep.code, kDone) << sweep.err;
  EXPECT_THAT(sweep.out, HasSubstr(std::string(kSeedsSayNothing)));
  for (const std::string& page : pages()) EXPECT_THAT(page, HasSubstr(std::string(kSeedsSayNothing)));
  const Json compared =
      parse_json(run({"compare", "options.x=1", "options.x=2", "--value", "valid.loss", "--json"}).out, "compare");
  EXPECT_EQ(compared["ignores_seeds"], true);
}

TEST_F(ProgramWords, OneSettingThatIgnoresItIsEnough) {
  ASSERT_EQ(sweep_of_digits("0.5 + 0.1 * x + (seed / 100 if x == 2 else 0)").code, kDone);
  for (const std::string& page : pages()) EXPECT_THAT(page, HasSubstr(std::string(kSeedsSayNothing)));
}

TEST_F(ProgramWords, NothingIsSaidOfSeedsThatChangeTheNumber) {
  ASSERT_EQ(sweep_of_digits("0.5 + 0.1 * x + seed / 1000").code, kDone);
  for (const std::string& page : pages()) EXPECT_THAT(page, Not(HasSubstr(std::string(kSeedsSayNothing))));
}

TEST_F(ProgramWords, WhatNeverCameIsSaidAtTheEndAndInLists) {
  write_script("talk.sh", "echo step 1 loss 2");
  configure("[sh, talk.sh]",
            R"(  metrics: [{lines: 'step (?<step>.) loss (?<loss>.)'}, {lines: 'val (?<valid.loss>.)'}, {csv: a.csv}])"
            "\n");
  const ProgramResult trained = run({"sweep", "run.yaml"});
  EXPECT_EQ(trained.code, kDone) << trained.err;
  EXPECT_THAT(trained.out, AllOf(HasSubstr("done, warning"),
                                 HasSubstr("a.csv was never there; no line of the output fits 'val (?<valid.loss>.)';"),
                                 HasSubstr("xlm runs reread FILE"), Not(HasSubstr("'step"))));
  EXPECT_THAT(run({"runs", "ls"}).out, AllOf(HasSubstr("done, warning"), HasSubstr("fits 'val (?<valid.loss>.)'")));
  configure("[sh, talk.sh]", R"(  metrics: [{lines: 'step (?<step>.) loss (?<loss>.)'}])"
                             "\n");
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().reason, "");
}

TEST_F(ProgramWords, WhatMayHaveChangedANumberStandsWhereItStands) {
  write_script("ranks.sh", "echo step 1 loss 2 valid 4; echo step 1 loss 3 valid 4");
  configure("[sh, ranks.sh]",
            R"(  metrics: [{lines: 'step (?<step>.) loss (?<loss>.) valid (?<valid.loss>.)'}])"
            "\n",
            "tables: [{table: T, rows: seed, columns: [{label: ours, value: valid.loss}]}]\n"
            "claims: [{claim: C, value: valid.loss, at_most: 5}]\n");
  const ProgramResult trained = run({"sweep", "run.yaml"});
  EXPECT_EQ(trained.code, kDone) << trained.err;
  const std::string doubt = "came behind another one of the same name and step";
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr(doubt));
  EXPECT_THAT(run({"table", "run.yaml"}).out, HasSubstr(doubt));
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr(doubt));
  EXPECT_EQ(run({"runs", "reread", "run.yaml"}).code, kDone);
  EXPECT_THAT(only_run().reason, HasSubstr(doubt)) << "reading again finds the same";
}

TEST_F(ProgramWords, RunsThatFailAlikeAreToldOnce) {
  write_script("fail.py",
               "import os, sys\nsys.exit(f'cannot open {os.getcwd()}/x' if sys.argv[1] != '4' else 'other')\n");
  configure("[python3, fail.py, \"{seed}\"]", "", "sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  const ProgramResult sweep = run({"sweep", "run.yaml"});
  EXPECT_EQ(sweep.code, kFailed);
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = sweep.out.find(word); at != std::string::npos; at = sweep.out.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("cannot open"), 1U) << sweep.out;
  EXPECT_EQ(count("and 2 other runs failed: "), 1U) << sweep.out;
  EXPECT_EQ(count("\nother\n"), 1U) << sweep.out;
}

TEST_F(ProgramWords, AFolderOfRunsHasOneName) {
  configure_training();
  ASSERT_EQ(run({"train", "run.yaml", "--runs", "./nowhere/../" + runs_.filename().string() + "/"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 1U);
  EXPECT_THAT(run({"runs", "ls", "--runs", "a/.././b"}).err, HasSubstr("there is no folder of runs b\n"));
}

}  // namespace
}  // namespace xlm
