// Runs of one experiment that were made with different versions of a program's code: they can be told apart.
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
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

  static constexpr const char* kOfOlder = "of older versions of the program's code";
  static constexpr const char* kOlder = "of older versions of the program's code are left out";

  void edit() { write_program("print('edited')\n"); }

  static std::string said(const ProgramResult& result) { return result.out + result.err; }

  static std::vector<std::string> with(std::vector<std::string> command, const std::string& condition) {
    command.insert(command.end(), {"--where", condition});
    return command;
  }

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

TEST_F(ProgramCodeVersions, TheNewestIsShownAndTheOthersAreCounted) {
  configure_reporting("[0.1, 0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(said(run({"table", "run.yaml"})), Not(HasSubstr("program.fingerprint")));
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
  const std::vector<std::string> compare{"compare", "options.lr=0.1", "options.lr=0.4", "--value", "test.loss"};
  const std::vector<std::string> claims{"claims", "run.yaml"};
  const std::vector<std::string> table{"table", "run.yaml"};
  const std::string hidden = fmt::format("4 runs {}; the condition program.fingerprint!=null includes them.", kOlder);
  for (const std::vector<std::string>& command : {table, claims, compare}) {
    EXPECT_THAT(said(run(command)), AllOf(HasSubstr(hidden), Not(HasSubstr("differ in program"))))
        << join(command, " ");
    EXPECT_THAT(said(run(with(command, "program.fingerprint!=null"))), HasSubstr("program.fingerprint"));
    EXPECT_THAT(said(run(with(command, "program.fingerprint=" + *old.begin()))), Not(HasSubstr(kOlder)));
  }
  EXPECT_THAT(said(pareto()), HasSubstr(hidden));
  const std::string chosen = "program.fingerprint=" + *old.begin();
  const ProgramResult list =
      run({"runs", "ls", "--where", chosen, "--columns", "program.fingerprint,seed", "--format", "csv"});
  EXPECT_EQ(split(list.out, '\n').size(), 6U) << "a head, four runs and the end: " << list.out << list.err;
  EXPECT_THAT(said(run(with(claims, chosen))), AllOf(HasSubstr("confirmed"), Not(HasSubstr("differ in"))));
}

TEST_F(ProgramCodeVersions, AnEditThatIsTakenBackIsToldByTheSweep) {
  configure_reporting("[0.1]", "0.1", "", "[1]");
  const std::string before = read_file(folder_.path() / "code/report.py");
  const ProgramResult first = run({"sweep", "run.yaml"});
  ASSERT_EQ(first.code, kDone);
  const std::string old = *fingerprints().begin();
  edit();
  const ProgramResult second = run({"sweep", "run.yaml"});
  ASSERT_EQ(second.code, kDone);
  write_file(folder_.path() / "code/report.py", before);
  const std::string_view warning = "warning: 1 of these runs was made before those of another version";
  EXPECT_THAT(run({"sweep", "run.yaml"}).out,
              AllOf(HasSubstr(warning), HasSubstr("--where program.fingerprint=" + old)));
  EXPECT_THAT(first.out + second.out, Not(HasSubstr(warning)));
  write_file(runs_ / "results.db", "no store");
  const ProgramResult without = run({"sweep", "run.yaml"});
  EXPECT_EQ(without.code, kDone) << without.err;
  EXPECT_THAT(without.out, AllOf(HasSubstr("1 of 1 runs done"), Not(HasSubstr(warning))));
}

TEST_F(ProgramCodeVersions, NumbersThatWereReadByOtherMetricsAreTold) {
  configure_reporting("[0.1]", "0.1", "", "[1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::string_view note = "were read by different `metrics` (program.metrics)";
  const std::vector<std::string> table{"table", "run.yaml", "--where", "seed=1,2"};
  EXPECT_THAT(said(run(table)), Not(HasSubstr(note)));
  configure_reporting("[0.1]", "0.1", "", "[1, 2]");
  EXPECT_EQ(run({"sweep", "run.yaml", "program.metrics=[{lines: '(?<gap>.)'}]"}).code, kDone);
  EXPECT_THAT(said(run(table)), HasSubstr(note));
}

TEST_F(ProgramCodeVersions, AreNamedWhereEachSideOfAClaimHasItsOwn) {
  configure_reporting("[0.1]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  edit();
  configure_reporting("[0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(said(run({"claims", "run.yaml"})), HasSubstr(fmt::format("all runs are {}", kOfOlder)));
  EXPECT_THAT(said(run({"claims", "run.yaml", "--where", "program.fingerprint!=null"})),
              AllOf(HasSubstr("confirmed"), HasSubstr("with different versions of the program's code")));
}

TEST_F(ProgramCodeVersions, AnotherSweepChoosesByTheNewest) {
  configure_reporting("[0.1, 0.4]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::string old = *fingerprints().begin();
  edit();
  configure_reporting("[0.4, 0.7]", "0.1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const ProgramResult newest = sweep_with_best_rate();
  EXPECT_EQ(newest.code, kDone) << newest.err;
  EXPECT_THAT(said(newest), HasSubstr("options.lr is 0.4, the best of run.yaml"));
  configure_reporting("[0.1, 0.4]", "0.1");
  const ProgramResult chosen = sweep_with_best_rate("{program.fingerprint: \"" + old + "\"}");
  EXPECT_THAT(said(chosen), HasSubstr("options.lr is 0.1, the best of run.yaml"));
}

TEST_F(ProgramCodeVersions, OtherPackagesAreSaidWhereANumberIsOfBoth) {
  configure_reporting("[0.1]", "0.1", "", "[1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const fs::path site = folder_.path() / "site";
  create_folders(site / "further-1.0.dist-info");
  write_file(site / "further-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: further\nVersion: 1.0\n");
  ::setenv("PYTHONPATH", site.c_str(), 1);
  configure_reporting("[0.1]", "0.1", "", "[1, 2]");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ::unsetenv("PYTHONPATH");
  const std::string table = said(run({"table", "run.yaml"}));
  EXPECT_THAT(table, AllOf(HasSubstr("2 seeds in every cell"), HasSubstr("2 sets of Python packages")));
  EXPECT_THAT(said(run({"table", "run.yaml", "--where", "seed=2"})), Not(HasSubstr("sets of Python packages")));
}

}  // namespace
}  // namespace xlm
