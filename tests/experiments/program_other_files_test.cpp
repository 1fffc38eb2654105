// Files in the folder of a program's code that are no code of training: the recipe, and what only evaluations read.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "base/text.h"
#include "experiments/configuration/program_inputs.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProgramOtherFiles : public ProgramOfUser {
 protected:
  /// `more` is added to what the script says the loss is.
  void write_evaluation(const std::string& more) {
    write_script("eval.py",
                 "import json, sys\nprint('loss of', json.load(open(sys.argv[1]))['weight'] + " + more + ")\n");
  }

  /// A sweep of two seeds that eval.py measures; `code` is the line of `evaluate` about its code.
  void configure_evaluated(const std::string& code) {
    configure_training("",
                       "sweep: {grid: {seed: [1, 2]}}\n"
                       "evaluate:\n  - command: [python3, eval.py, '{checkpoints}/last.json']\n"
                       "    metrics: [{lines: 'loss of (?<loss>\\S+)'}]\n" +
                           code);
  }

  void expect_measured_and_trained_once(double more) const {
    ASSERT_EQ(run_folders().size(), 2U);
    for (const fs::path& folder : run_folders()) {
      const xlm::Run done = read_live_run(folder);
      EXPECT_EQ(done.status, RunStatus::kDone) << done.reason;
      double loss = std::nan("");
      for (const RunEvaluation& one : done.evaluations) {
        if (one.split == "test" && one.main) loss = one.values.at("loss");
      }
      EXPECT_NEAR(loss, 4 * std::pow(0.9, 20) + more, 1e-12);
      const auto began = [](const RunState& state) { return state.state == name_of(RunStatus::kRunning); };
      EXPECT_EQ(std::count_if(done.history.begin(), done.history.end(), began), 1);
      EXPECT_FALSE(fs::exists(folder / "work")) << "nothing but code was in it";
    }
  }
};

TEST_F(ProgramOtherFiles, TheRecipeIsNoCodeAndOtherSettingsAre) {
  const auto configure_here = [&](const std::string& rest) {
    write_file(config(),
               "program: {command: [python3, code/train.py], folder: ., code: [code, '*.yaml']}\n"
               "options: {lr: 0.1, hold: none}\nsweep: {grid: {seed: [1, 2]}}\n" +
                   rest);
  };
  configure_here("");
  write_file(folder_.path() / "settings.yaml", "width: 8\n");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_here("tables: [{table: Loss, rows: seed, cells: {value: test.loss}}]\n");
  const ProgramResult again = run({"sweep", "run.yaml"});
  EXPECT_EQ(again.code, kDone) << again.err;
  EXPECT_EQ(run_folders().size(), 2U) << "an edited recipe has made other runs";
  write_file(folder_.path() / "settings.yaml", "width: 9\n");
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 4U);
}

TEST_F(ProgramOtherFiles, AnEditedScriptOfAnEvaluationMeasuresAgainAndTrainsNothing) {
  write_evaluation("1");
  configure_evaluated("    code: [eval.py]\n");
  const ProgramResult first = run({"sweep", "run.yaml"});
  ASSERT_EQ(first.code, kDone) << first.out << first.err;
  expect_measured_and_trained_once(1);
  const std::string code = read_live_run(run_folders().front()).contents.at("program.folder");
  EXPECT_FALSE(fs::exists(code_folder(frozen_programs(runs_), code) / "eval.py"));
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).out, HasSubstr("0 of 2 runs to do"));
  write_evaluation("2");
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).out, HasSubstr("0 of 2 runs to do, 2 evaluations"));
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  expect_measured_and_trained_once(2);
  EXPECT_EQ(run({"train", (run_folders().front() / "config.yaml").string()}).code, kDone);
  EXPECT_EQ(run({"train", "run.yaml", "seed=1"}).code, kDone);
  EXPECT_EQ(run_folders().size(), 2U) << "train and sweep name one run differently";
}

TEST_F(ProgramOtherFiles, RunsThatWereMadeWithTheScriptAmongTheirCodeAreFound) {
  write_evaluation("1");
  configure_evaluated("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  expect_measured_and_trained_once(1);
  write_evaluation("2");
  configure_evaluated("    code: [eval.py]\n");
  const ProgramResult again = run({"sweep", "run.yaml"});
  EXPECT_EQ(again.code, kDone) << again.out << again.err;
  expect_measured_and_trained_once(2);
}

/// The copy of the code comes along, by which a run is known that was named after it.
TEST_F(ProgramOtherFiles, MergedAndPackedRunsAreFoundAlthoughTheScriptCountedAsTheirCode) {
  write_evaluation("1");
  write_script("tool.sh", "#!/bin/sh\n");
  fs::permissions(folder_.path() / "code" / "tool.sh", fs::perms(0755));
  fs::create_symlink("train.py", folder_.path() / "code" / "link.py");
  configure_evaluated("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ASSERT_EQ(run({"runs", "pack", "--where", "seed=1,2", "--checkpoints", "--out", "packed.tar.zst"}).code, kDone);
  ASSERT_EQ(run({"--runs", "merged", "runs", "merge", "runs"}).code, kDone);
  ASSERT_EQ(run({"--runs", "unpacked", "runs", "merge", "packed.tar.zst"}).code, kDone);
  fs::remove_all(runs_);
  write_evaluation("2");
  configure_evaluated("    code: [eval.py]\n");
  for (const char* folder : {"merged", "unpacked"}) {
    const ProgramResult again = run({"--runs", folder, "sweep", "run.yaml"});
    EXPECT_EQ(again.code, kDone) << again.out << again.err;
    runs_ = folder_.path() / folder;
    expect_measured_and_trained_once(2);
  }
}

TEST_F(ProgramOtherFiles, ASecondMergeBringsACopyThatTheFirstOneDidNot) {
  write_evaluation("1");
  configure_evaluated("");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  fs::remove_all(folder_.path() / "other" / ".programs");
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  const std::string code = read_live_run(run_folders().front()).contents.at("program.folder");
  EXPECT_NO_THROW(check_frozen_code(frozen_programs(folder_.path() / "other"), code));
}

TEST_F(ProgramOtherFiles, WhatRunsWriteIsNoCodeOfAnEvaluation) {
  write_evaluation("1");
  configure_evaluated("    code: [eval.py, '**/*.json']\n");
  write_script("settings.json", "{}");
  const std::vector<std::string> sweep{"--runs", "code/runs", "sweep", "run.yaml"};
  const ProgramResult first = run(sweep);
  ASSERT_EQ(first.code, kDone) << first.out << first.err;
  const ProgramResult planned = run({"--runs", "code/runs", "sweep", "run.yaml", "--dry-run"});
  EXPECT_THAT(planned.out, HasSubstr("0 of 2 runs to do")) << planned.err;
  EXPECT_EQ(planned.out.find("evaluations"), std::string::npos) << planned.out;
  write_script("settings.json", "{\"width\": 1}");
  EXPECT_THAT(run({"--runs", "code/runs", "sweep", "run.yaml", "--dry-run"}).out, HasSubstr("2 evaluations"));
}

TEST_F(ProgramOtherFiles, QueuedRunsTakeTheCodeOfTheirEvaluationsToAnotherFolder) {
  write_evaluation("1");
  configure_evaluated("    code: [eval.py]\n");
  ASSERT_EQ(run({"sweep", "run.yaml", "--launcher", "manual"}).code, kDone);
  write_script("eval.py", "raise SystemExit('edited while its runs were queued')\n");
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  fs::remove_all(runs_);
  runs_ = folder_.path() / "other";
  for (const fs::path& folder : run_folders()) EXPECT_EQ(run({"worker", folder.string()}).code, kDone);
  expect_measured_and_trained_once(1);
}

TEST_F(ProgramOtherFiles, CodeOfAnEvaluationThatIsNotThereIsRefused) {
  write_evaluation("1");
  configure_evaluated("    code: [eval.py, lost.py]\n");
  const ProgramResult lost = run({"sweep", "run.yaml"});
  EXPECT_EQ(lost.code, kUsage);
  EXPECT_THAT(lost.err, HasSubstr("lost.py fits no file in"));
  configure_evaluated("    code: eval.py\n");
  EXPECT_THAT(run({"sweep", "run.yaml"}).err, HasSubstr("code of evaluate must be a list"));
  EXPECT_FALSE(fs::exists(runs_ / ".workers"));
}

}  // namespace
}  // namespace xlm
