// Numbers of a user's program of which more is better: declared, recorded, and never guessed.
#include <algorithm>

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// It reports its learning rate as an accuracy, a little more for each seed, and a cost that rises with it.
constexpr const char* kScoring = R"(import json, os
lr = json.load(open(os.environ["XLM_CONFIG"]))["options"]["lr"]
accuracy = lr * (1 + int(os.environ["XLM_SEED"]) / 100)
with open(os.environ["XLM_METRICS"], "a") as file:
    for split in ["valid", "test"]:
        file.write(json.dumps({"step": 10, "split": split, "accuracy": accuracy, "final": True}) + "\n")
    file.write(json.dumps({"costs": {"params": 1000 * lr}}) + "\n")
)";

constexpr const char* kHigher = "  better: {accuracy: higher}\n";

class ProgramDirections : public ProgramOfUser {
 protected:
  ProgramDirections() { write_script("score.py", kScoring); }

  void configure_scoring(const std::string& program, const std::string& seeds = "[1, 2]") {
    configure(
        "[python3, score.py]", program,
        "options: {lr: 0.1}\nsweep: {grid: {options.lr: [0.1, 0.2, 0.4], seed: " + seeds +
            "}}\n"
            "tables: [{table: T, rows: options.lr, cells: {value: test.accuracy, best: true}}]\n"
            "claims: [{claim: C, value: test.accuracy, a: {options.lr: 0.4}, b: {options.lr: 0.1}, better: a}]\n");
  }

  ProgramResult pareto(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words{"pareto",     "--x",        "params",   "--y", "test.accuracy",
                                   "--group-by", "options.lr", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
};

TEST_F(ProgramDirections, EarlyStoppingKeepsTheSettingOfTheHighestAccuracy) {
  std::string training = kTraining;
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
  until([&] {
    if (!fs::exists(runs_) || run_folders().size() < 3) return false;
    const std::vector<fs::path> folders = run_folders();
    return std::all_of(folders.begin(), folders.end(),
                       [](const fs::path& f) { return !read_live_run(f).evaluations.empty(); });
  });
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
  for (const ProgramResult& result : {run({"table", "run.yaml"}), run({"claims", "run.yaml"}), pareto()}) {
    EXPECT_EQ(result.code, kUsage) << result.out;
    EXPECT_THAT(result.err, HasSubstr("program: {better: {accuracy: higher}}"));
  }
  EXPECT_THAT(pareto().err, HasSubstr("--maximize test.accuracy, or --minimize test.accuracy"));
  EXPECT_EQ(Json::parse(pareto({"--maximize", "y"}).out)["front"].size(), 3U);
  EXPECT_EQ(Json::parse(pareto({"--minimize", "y"}).out)["front"].size(), 1U);
  EXPECT_EQ(pareto({"--minimize", "y", "--maximize", "test.accuracy"}).code, kUsage);
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
  EXPECT_EQ(Json::parse(pareto().out)["front"].size(), 3U);
  ASSERT_EQ(run({"--runs", "other", "runs", "merge", "runs"}).code, kDone);
  EXPECT_THAT(run({"--runs", "other", "claims", "run.yaml"}).out, HasSubstr("confirmed"));
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
  write_file(folder_.path() / "asking.yaml",
             "experiment: asking\nprogram: {command: [python3, score.py], folder: code, code: [\"*\"]}\n"
             "options: {lr: {best_of: run.yaml, by: test.accuracy}}\nsweep: {grid: {seed: [7]}}\n");
  const ProgramResult refused = run({"sweep", "asking.yaml"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("program: {better: {accuracy: higher}}"));
  configure_scoring(kHigher);  // the file alone says it
  const ProgramResult chosen = run({"sweep", "asking.yaml"});
  EXPECT_EQ(chosen.code, kDone) << chosen.err;
  EXPECT_THAT(chosen.out + chosen.err, HasSubstr("options.lr is 0.4, the best of run.yaml by test.accuracy"));
}

TEST_F(ProgramDirections, ASearchMayLeaveItToTheProgramAndMustNotContradictIt) {
  const auto search = [&](const std::string& better) {
    configure("[python3, score.py]", kHigher,
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
