// Runs of one experiment that were made with different versions of a program's code: they can be told apart.
#include <set>

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// It reports its learning rate as a loss, a little more for each seed.
constexpr const char* kMeasuring = R"(import json, os
lr = json.load(open(os.environ["XLM_CONFIG"]))["options"]["lr"]
loss = lr * (1 + int(os.environ["XLM_SEED"]) / 100)
with open(os.environ["XLM_METRICS"], "a") as file:
    for split in ["valid", "test"]:
        file.write(json.dumps({"step": 10, "split": split, "loss": loss, "final": True}) + "\n")
    file.write(json.dumps({"costs": {"params": 1000 * lr}}) + "\n")
)";

class ProgramCodeVersions : public ProgramOfUser {
 protected:
  ProgramCodeVersions() { write_script("measure.py", kMeasuring); }

  void edit() { write_script("measure.py", std::string(kMeasuring) + "print('edited')\n"); }

  void configure_measuring(const std::string& rates) {
    configure("[python3, measure.py]", "",
              "options: {lr: 0.1}\nsweep: {grid: {options.lr: " + rates +
                  ", seed: [1, 2]}}\n"
                  "tables: [{table: T, rows: options.lr, cells: {value: test.loss}}]\n"
                  "claims: [{claim: C, value: test.loss, a: {options.lr: 0.1}, b: {options.lr: 0.4}, better: a}]\n");
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

TEST_F(ProgramCodeVersions, AreNamedWhereRunsOfBothMakeOneNumber) {
  configure_measuring("[0.1, 0.4]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"table", "run.yaml"}).out, Not(HasSubstr("program.fingerprint")));
  const std::set<std::string> old = fingerprints();
  ASSERT_EQ(old.size(), 1U);
  edit();
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ASSERT_EQ(fingerprints().size(), 2U);
  const auto said = [](const ProgramResult& result) { return result.out + result.err; };
  EXPECT_THAT(said(run({"table", "run.yaml"})), HasSubstr("program.fingerprint"));
  EXPECT_THAT(said(run({"claims", "run.yaml"})), HasSubstr("differ in program.fingerprint"));
  const std::vector<std::string> front{"pareto", "--x", "params", "--y", "test.loss", "--group-by", "options.lr"};
  EXPECT_THAT(said(run(front)), HasSubstr("program.fingerprint"));
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
  configure_measuring("[0.1]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  edit();
  configure_measuring("[0.4]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"claims", "run.yaml"}).out,
              AllOf(HasSubstr("confirmed"), HasSubstr("with different versions of the program's code")));
}

TEST_F(ProgramCodeVersions, AreNoOneSettingAmongWhichAnotherSweepChooses) {
  configure_measuring("[0.1, 0.4]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  edit();
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  write_file(folder_.path() / "asking.yaml",
             "experiment: asking\nprogram: {command: [python3, measure.py], folder: code, code: [\"*\"]}\n"
             "options: {lr: {best_of: run.yaml, by: test.loss}}\nsweep: {grid: {seed: [7]}}\n");
  const ProgramResult refused = run({"sweep", "asking.yaml"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("differ in program.fingerprint"));
}

}  // namespace
}  // namespace xlm
