// Runs of one experiment that were made with different versions of a program's code: they can be told apart.
#include <set>

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/reporting_program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ProgramCodeVersions : public ReportingProgram {
 protected:
  ProgramCodeVersions() : ReportingProgram("loss") {}

  void edit() { write_program("print('edited')\n"); }

  std::set<std::string> fingerprints() const {
    std::set<std::string> all;
    for (const fs::path& folder : run_folders()) {
      const xlm::Run one = read_live_run(folder);
      EXPECT_NE(one.param(kProgramFingerprint), nullptr);
      all.insert(one.param(kProgramFingerprint)->get<std::string>());
    }
    return all;
  }
};

TEST_F(ProgramCodeVersions, AreNamedWhereRunsOfBothMakeOneNumber) {
  configure_reporting("[0.1, 0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"table", "run.yaml"}).out, Not(HasSubstr("program.fingerprint")));
  const std::set<std::string> old = fingerprints();
  ASSERT_EQ(old.size(), 1U);
  edit();
  const std::string_view change = "the code differs from that of earlier runs, so runs are new: ";
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).err, HasSubstr(change));
  const ProgramResult after = run({"sweep", "run.yaml"});
  ASSERT_EQ(after.code, kDone);
  EXPECT_THAT(after.err, AllOf(HasSubstr(change), HasSubstr(" was edited")));
  EXPECT_THAT(run({"sweep", "run.yaml"}).err, Not(HasSubstr(change))) << "this code has runs now";
  ASSERT_EQ(fingerprints().size(), 2U);
  const auto said = [](const ProgramResult& result) { return result.out + result.err; };
  EXPECT_THAT(said(run({"table", "run.yaml"})), HasSubstr("program.fingerprint"));
  EXPECT_THAT(said(run({"claims", "run.yaml"})), HasSubstr("differ in program.fingerprint"));
  EXPECT_THAT(said(pareto()), HasSubstr("program.fingerprint"));
  EXPECT_THAT(said(run({"compare", "options.lr=0.1", "options.lr=0.4", "--value", "test.loss"})),
              HasSubstr("program.fingerprint"));
  const std::string chosen = "program.fingerprint=" + *old.begin();
  const ProgramResult list =
      run({"runs", "ls", "--where", chosen, "--columns", "program.fingerprint,seed", "--format", "csv"});
  EXPECT_EQ(split(list.out, '\n').size(), 6U) << "a head, four runs and the end: " << list.out << list.err;
  EXPECT_THAT(said(run({"claims", "run.yaml", "--where", chosen})),
              AllOf(HasSubstr("confirmed"), Not(HasSubstr("differ in"))));
}

TEST_F(ProgramCodeVersions, AreNamedWhereEachSideOfAClaimHasItsOwn) {
  configure_reporting("[0.1]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  edit();
  configure_reporting("[0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"claims", "run.yaml"}).out,
              AllOf(HasSubstr("confirmed"), HasSubstr("with different versions of the program's code")));
}

TEST_F(ProgramCodeVersions, AreNoOneSettingAmongWhichAnotherSweepChooses) {
  configure_reporting("[0.1, 0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::string old = *fingerprints().begin();
  edit();
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::set<std::string> all = fingerprints();
  ASSERT_EQ(all.size(), 2U);
  const std::string newest = *all.begin() == old ? *all.rbegin() : *all.begin();
  const ProgramResult refused = sweep_with_best_rate();
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("differ in program.fingerprint"), HasSubstr("the program was edited"),
                                 HasSubstr("where: {program.fingerprint: \"" + newest + "\"}"),
                                 HasSubstr(newest + " (2 runs), " + old + " (2 runs)")));
  const ProgramResult chosen = sweep_with_best_rate("{program.fingerprint: \"" + newest + "\"}");
  EXPECT_EQ(chosen.code, kDone) << chosen.err;
  EXPECT_THAT(chosen.out + chosen.err, HasSubstr("options.lr is 0.1, the best of run.yaml"));
}

}  // namespace
}  // namespace xlm
