// Numbers of a user's program of which more is better: declared, recorded, and never guessed.

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/reporting_program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHigher = "  better: {accuracy: higher}\n";

class ProgramDirections : public ReportingProgram {
 protected:
  ProgramDirections() : ReportingProgram("accuracy") {}

  void configure_scoring(const std::string& program, const std::string& seeds = "[1, 2]") {
    configure_reporting("[0.1, 0.2, 0.4]", "0.4", program, seeds, ", best: true");
  }

  ProgramResult front(std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--format", "json"});
    return pareto(more);
  }
};

TEST_F(ProgramDirections, EarlyStoppingKeepsTheSettingOfTheHighestAccuracy) {
  std::string training = kTrainingScript;
  const std::string loss = "loss=state[\"weight\"] + 1";
  training.replace(training.find(loss), loss.size(), loss + ", accuracy=4 - state[\"weight\"]");
  write_script("train.py", training);
  const std::string rest =
      "train: {steps: 20}\nsweep:\n  grid: {options.lr: [0.05, 0.1, 0.2]}\n"
      "  early_stopping: {measure: valid.accuracy, rungs: [5], keep: 1/3}\n";
  configure_training("", rest);
  const ProgramResult refused = run({"sweep", "run.yaml"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("sweep.early_stopping.measure: 'accuracy' is not among"),
                                 HasSubstr("program: {better: {accuracy: higher}}")));
  EXPECT_FALSE(fs::exists(runs_) && !run_folders().empty());
  configure_training(kHigher, rest);
  write_file(hold(), "");  // so that none is done before it is told to pause
  BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "1"});
  until_evaluated(3);
  fs::remove(hold());
  const ProgramResult result = sweep.wait();
  EXPECT_EQ(result.code, kDone) << result.out << result.err;
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    const bool is_best = *one.param("options.lr") == 0.2;
    EXPECT_EQ(one.status, is_best ? RunStatus::kDone : RunStatus::kPruned) << one.id;
  }
}

TEST_F(ProgramDirections, NothingGuessesWhatNobodyDeclares) {
  configure_scoring("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  for (const ProgramResult& result : {run({"table", "run.yaml"}), run({"claims", "run.yaml"}), front()}) {
    EXPECT_EQ(result.code, kUsage) << result.out;
    EXPECT_THAT(result.err, HasSubstr("program: {better: {accuracy: higher}}"));
  }
  EXPECT_THAT(front().err, HasSubstr("--maximize test.accuracy, or --minimize test.accuracy"));
  EXPECT_EQ(Json::parse(front({"--maximize", "y"}).out)["front"].size(), 3U);
  EXPECT_EQ(Json::parse(front({"--minimize", "y"}).out)["front"].size(), 1U);
  EXPECT_EQ(front({"--minimize", "y", "--maximize", "test.accuracy"}).code, kUsage);
}

TEST_F(ProgramDirections, WhatIsDeclaredLaterIsRecordedWithRunsThatAreDoneAndMerged) {
  configure_scoring("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const std::vector<fs::path> before = run_folders();
  configure_scoring(kHigher);
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(run_folders().size(), before.size()) << "a declaration makes no other run";
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    ASSERT_NE(one.param("program.better.accuracy"), nullptr);
    EXPECT_EQ(*one.param("program.better.accuracy"), "higher");
    EXPECT_EQ(std::count_if(one.history.begin(), one.history.end(),
                            [](const RunState& state) { return state.state == "running"; }),
              1)
        << "it trained once";
  }
  EXPECT_EQ(run({"table", "run.yaml", "--out", "table.csv"}).code, kDone);
  EXPECT_THAT(run({"table", "run.yaml"}).out, HasSubstr("▸"));
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr("confirmed"));
  EXPECT_EQ(Json::parse(front().out)["front"].size(), 3U);
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  EXPECT_THAT(run({"--runs", "other", "claims", "run.yaml"}).out, HasSubstr("confirmed"));
}

TEST_F(ProgramDirections, ASweepEndsWithWhatItsProgramDeclares) {
  configure_scoring(kHigher);
  const std::string out = run({"sweep", "run.yaml"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("valid accuracy"), HasSubstr("test accuracy"), Not(HasSubstr("valid loss"))));
  EXPECT_THAT(out, HasSubstr("best of 3 settings by valid accuracy:\n  0.4060 (mean over 2 seeds)  options.lr=0.4\n"));
}

TEST_F(ProgramDirections, ContradictionsAreRefusedUntilOneIsCorrected) {
  configure_scoring(kHigher);
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_scoring("  better: {accuracy: lower}\n", "[3]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const ProgramResult refused = run({"claims", "run.yaml"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("both directions of 'accuracy'"));
  configure_scoring(kHigher, "[1, 2, 3]");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_THAT(run({"claims", "run.yaml"}).out, HasSubstr("confirmed"));
}

TEST_F(ProgramDirections, TheWinnerOfASweepIsTheOneOfTheHighestAccuracy) {
  configure_scoring("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const ProgramResult refused = sweep_with_best_rate();
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("program: {better: {accuracy: higher}}"));
  configure_scoring(kHigher);  // the file alone says it
  const ProgramResult chosen = sweep_with_best_rate();
  EXPECT_EQ(chosen.code, kDone) << chosen.err;
  EXPECT_THAT(chosen.out + chosen.err, HasSubstr("options.lr is 0.4, the best of run.yaml by test.accuracy"));
}

TEST_F(ProgramDirections, ASearchMayLeaveItToTheProgramAndMustNotContradictIt) {
  const auto search = [&](const std::string& better) {
    configure(kReport, kHigher,
              "options: {lr: 0.1}\nsweep: {search: {measure: valid.accuracy, trials: 2, sampler: random, " + better +
                  "keys: {options.lr: [0.1, 0.2]}}}\n");
    return run({"sweep", "run.yaml", "--check"}).err;
  };
  EXPECT_THAT(search("better: lower, "), HasSubstr("of valid.accuracy higher is better"));
  EXPECT_THAT(search("better: higher, "), Not(HasSubstr("is better")));
  EXPECT_THAT(search(""), Not(HasSubstr("which way is better")));
}

}  // namespace
}  // namespace xlm
