// `evaluate` of a sweep of a user's program: a second command that measures finished runs.
#include <cmath>

#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// It reads what training saved, and says what it measured. It waits while the file `hold` is there.
constexpr const char* kEvaluationScript = R"(import json, os, sys, time
load, split, window = sys.argv[1], sys.argv[2], int(sys.argv[3])
weight = json.load(open(load))["weight"]
assert split == os.environ["XLM_SPLIT"]
assert json.load(open(os.environ["XLM_CONFIG"]))["options"]["window"] == window
with open(os.path.join(os.environ["XLM_RUN"], "evaluated.txt"), "a") as file:
    file.write(f"{split} {window} {os.environ['XLM_DATA']}\n")
while os.path.exists(sys.argv[4]):
    time.sleep(0.01)
print("a", split, "loss of", weight + window / 100 + len(split))
)";

class ProgramEvaluationsOfUser : public ProgramOfUser {
 protected:
  ProgramEvaluationsOfUser() { write_script("eval.py", kEvaluationScript); }

  fs::path evaluation_hold() const { return folder_.path() / "hold-evaluation"; }

  /// A sweep of two seeds whose runs are evaluated: `what` are further keys of `evaluate`.
  void configure_sweep(const std::string& what, const std::string& rest = "") {
    configure("[python3, train.py]", "",
              fmt::format("options: {{lr: 0.1, window: 1, hold: {}}}\nsweep: {{grid: {{seed: [1, 2]}}}}\n"
                          "evaluate:\n  - command: [python3, eval.py, '{{checkpoints}}/last.json', '{{split}}', "
                          "'{{window}}', {}]\n    metrics: [{{lines: 'loss of (?<loss>\\S+)'}}]\n{}{}",
                          hold().string(), evaluation_hold().string(), what, rest));
  }

  static std::string made(const fs::path& folder) {
    return fs::exists(folder / "evaluated.txt") ? read_file(folder / "evaluated.txt") : "";
  }

  static double weight() { return 4 * std::pow(0.9, 20); }

  /// The loss of the evaluation of a split that differs from the run as `at` says.
  static double loss_at(const xlm::Run& run, const std::string& split, const std::string& at) {
    double loss = std::nan("");
    for (const RunEvaluation& one : run.evaluations) {
      if (one.split == split && at_text(one.at) == at && (one.main || !at.empty())) loss = one.values.at("loss");
    }
    return loss;
  }
};

TEST_F(ProgramEvaluationsOfUser, ASettingOfANamedCommandIsFoundWithThatName) {
  configure_sweep("    name: probe\n    options.window: [2]\n");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  const ProgramResult alone = run({"runs", "ls", "--where", "at.options.window=2"});
  EXPECT_THAT(alone.out + alone.err, HasSubstr("also have at.evaluation.name=probe: name that setting too"));
  const ProgramResult both = run({"runs", "ls", "--where", "at.options.window=2", "--where", "at.evaluation.name=probe",
                                  "--columns", "test.loss", "--format", "csv"});
  EXPECT_EQ(split(both.out, '\n').size(), 4U) << "a head, two evaluations and the end: " << both.out << both.err;
}

TEST_F(ProgramEvaluationsOfUser, ASecondCommandMeasuresEachFinishedRunOnce) {
  configure_sweep("    split: [valid, test]\n    options.window: [1, 50]\n",
                  "tables: [{table: Windows, rows: seed, columns: [{value: test.loss, digits: 4}, "
                  "{label: wide, value: test.loss@options.window=50, digits: 4}]}]\n");
  const ProgramResult plan = run({"sweep", "run.yaml", "--dry-run"});
  ASSERT_EQ(plan.code, kDone) << plan.err;
  EXPECT_THAT(plan.out, AllOf(HasSubstr("2 of 2 runs to do, 8 evaluations"), HasSubstr("new, then 4 evaluations")));
  const ProgramResult first = run({"sweep", "run.yaml"});
  ASSERT_EQ(first.code, kDone) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("2 of 2 runs done, 8 of 8 evaluations"));
  for (const fs::path& folder : run_folders()) {
    const xlm::Run done = read_live_run(folder);
    EXPECT_EQ(made(folder), "valid 1 \nvalid 50 \ntest 1 \ntest 50 \n");
    EXPECT_NEAR(loss_at(done, "valid", ""), weight() + 0.01 + 5, 1e-12) << "not what training reported";
    EXPECT_NEAR(loss_at(done, "test", ""), weight() + 0.01 + 4, 1e-12);
    EXPECT_NEAR(loss_at(done, "valid", "options.window=50"), weight() + 0.5 + 5, 1e-12);
    EXPECT_NEAR(loss_at(done, "test", "options.window=50"), weight() + 0.5 + 4, 1e-12);
    EXPECT_FALSE(fs::exists(folder / "work")) << "nothing but code was in it";
    EXPECT_EQ(done.step, 20);
  }
  const ProgramResult table = run({"table", "run.yaml"});
  EXPECT_THAT(table.out, AllOf(HasSubstr(fmt::format("{:.4f}", weight() + 4.01)),
                               HasSubstr(fmt::format("{:.4f}", weight() + 4.5))))
      << table.err;
  EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  EXPECT_EQ(made(run_folders().front()), "valid 1 \nvalid 50 \ntest 1 \ntest 50 \n") << "made again";
  EXPECT_THAT(run({"sweep", "run.yaml", "--check"}).out, Not(HasSubstr("test.loss@options.window")));
}

TEST_F(ProgramEvaluationsOfUser, AnEvaluationThatIsAddedLaterTrainsNothing) {
  configure_training("", "sweep: {grid: {seed: [1, 2]}}\n", ", window: 1");
  ASSERT_EQ(run({"sweep", "run.yaml"}).code, kDone);
  configure_sweep("    name: wide\n    options.window: 7\n");
  const ProgramResult second = run({"sweep", "run.yaml"});
  ASSERT_EQ(second.code, kDone) << second.out << second.err;
  ASSERT_EQ(run_folders().size(), 2U);
  for (const fs::path& folder : run_folders()) {
    const xlm::Run done = read_live_run(folder);
    expect_whole(done);
    EXPECT_NEAR(loss_at(done, "test", "evaluation.name=wide@options.window=7"), weight() + 0.07 + 4, 1e-12);
    EXPECT_EQ(
        std::count_if(done.history.begin(), done.history.end(), [](const auto& s) { return s.state == "running"; }), 1);
  }
  const ProgramResult list =
      run({"runs", "ls", "--columns", "seed,test.loss@evaluation.name=wide@options.window=7", "--format", "csv"});
  EXPECT_THAT(list.out, HasSubstr(fmt::format("1,{:.3f}", weight() + 4.07))) << list.out;
}

TEST_F(ProgramEvaluationsOfUser, TheSecondsOfACommandCountOnceHoweverManySplitsItReports) {
  configure_training("", "evaluate: [{command: [python3, both.py], split: test}]\n");
  write_script("both.py", R"(import json, os
with open(os.environ["XLM_METRICS"], "a") as file:
    for split in ["valid", "test"]:
        file.write(json.dumps({"step": 20, "split": split, "loss": 1.5}) + "\n")
)");
  const ProgramResult result = run({"sweep", "run.yaml"});
  ASSERT_EQ(result.code, kDone) << result.out << result.err;
  std::map<std::string, std::size_t> timed;
  for (const RunEvaluation& one : only_run().evaluations) {
    if (one.values.at("loss") == 1.5) timed[one.split] += one.values.count("seconds");
  }
  EXPECT_EQ(timed, (std::map<std::string, std::size_t>{{"test", 1}, {"valid", 0}}));
}

TEST_F(ProgramEvaluationsOfUser, OneThatFailsSaysHowAndAMendedCommandTakesItsPlace) {
  configure_sweep("    split: valid\n");
  const std::string right = read_file(config());
  std::string wrong = right;
  wrong.replace(wrong.find("'{window}'"), 10, "many");
  write_file(config(), wrong);
  const ProgramResult failed = run({"sweep", "run.yaml"});
  EXPECT_EQ(failed.code, kFailed);
  EXPECT_THAT(failed.out + failed.err, HasSubstr("an evaluation failed"));
  EXPECT_THAT(read_file(run_folders().front() / "log.txt"),
              AllOf(HasSubstr("the evaluation valid failed: exit code 1"), HasSubstr("invalid literal for int()")));
  for (const fs::path& folder : run_folders()) expect_whole(read_live_run(folder));
  write_file(config(), right);
  const ProgramResult mended = run({"sweep", "run.yaml"});
  EXPECT_EQ(mended.code, kDone) << mended.out << mended.err;
  for (const fs::path& folder : run_folders()) EXPECT_EQ(made(folder), "valid 1 \n");
}

TEST_F(ProgramEvaluationsOfUser, OneThatReportsNothingOrNoNumberIsRecordedNowhere) {
  for (const auto& [script, reason] : {std::pair("print('accuracy 3')\n", "it reported no number of the split test"),
                                       std::pair("print('a test loss of nan')\n", "test"),
                                       std::pair("import missing_package\n", "ModuleNotFoundError"),
                                       std::pair("import os; os.kill(os.getpid(), 11)\n", "signal 11")}) {
    fs::remove_all(runs_);
    write_script("eval.py", script);
    configure_sweep("    split: test\n");
    EXPECT_EQ(run({"sweep", "run.yaml"}).code, kFailed) << script;
    for (const fs::path& folder : run_folders()) {
      EXPECT_THAT(read_file(folder / "log.txt"), AllOf(HasSubstr("the evaluation test failed"), HasSubstr(reason)));
      expect_whole(read_live_run(folder));
    }
  }
}

TEST_F(ProgramEvaluationsOfUser, AKilledOrStoppedEvaluationIsMadeAgainAlone) {
  configure_sweep("    split: [valid, test]\n");
  for (const int signal : {SIGKILL, SIGTERM}) {
    fs::remove_all(runs_);
    write_file(evaluation_hold(), "");
    {
      BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "2"});
      until([&] {
        if (!fs::exists(runs_)) return false;
        const std::vector<fs::path> folders = run_folders();
        return folders.size() == 2 && made(folders[0]) == "valid 1 \n" && made(folders[1]) == "valid 1 \n";
      });
      if (signal == SIGKILL) {
        sweep.kill_group(SIGKILL);
      } else {
        sweep.kill(SIGTERM);
        EXPECT_EQ(sweep.wait().code, kStopped);
      }
    }
    until([&] { return shell(folder_.path(), "grep -l -a -s eval[.]py /proc/[0-9]*/cmdline").out.empty(); });
    fs::remove(evaluation_hold());
    EXPECT_EQ(run({"sweep", "run.yaml"}).code, kDone);
    for (const fs::path& folder : run_folders()) {
      EXPECT_EQ(made(folder), "valid 1 \nvalid 1 \ntest 1 \n");
      EXPECT_NEAR(loss_at(read_live_run(folder), "valid", ""), weight() + 0.01 + 5, 1e-12);
      EXPECT_FALSE(fs::exists(folder / "work"));
    }
  }
}

TEST_F(ProgramEvaluationsOfUser, OtherDataAreKnownByTheirContent) {
  write_file(folder_.path() / "letters.txt", "abc");
  configure_sweep("    data.path: letters.txt\n");
  const ProgramResult result = run({"sweep", "run.yaml"});
  ASSERT_EQ(result.code, kDone) << result.out << result.err;
  for (const fs::path& folder : run_folders()) {
    EXPECT_EQ(made(folder), fmt::format("test 1 {}\n", (folder_.path() / "letters.txt").string()));
    EXPECT_NEAR(loss_at(read_live_run(folder), "test", "data.name=letters"), weight() + 0.01 + 4, 1e-12);
    expect_whole(read_live_run(folder));
  }
  write_file(folder_.path() / "letters.txt", "abcd");
  EXPECT_THAT(run({"sweep", "run.yaml", "--dry-run"}).out, HasSubstr("2 evaluations"));
  configure_sweep("    data.path: nowhere.txt\n");
  EXPECT_EQ(run({"sweep", "run.yaml", "--dry-run"}).code, kBadData);
}

TEST_F(ProgramEvaluationsOfUser, WrongKeysAreRefusedBeforeAnythingStarts) {
  const auto refused = [&](const std::string& what) {
    configure_sweep(what);
    const ProgramResult result = run({"sweep", "run.yaml"});
    EXPECT_EQ(result.code, kUsage) << what;
    EXPECT_FALSE(fs::exists(runs_));
    return result.err;
  };
  EXPECT_THAT(refused("    model.span: 3\n"), HasSubstr("an evaluation cannot change 'model.span'"));
  EXPECT_THAT(refused("    splits: test\n"), HasSubstr("did you mean 'split'"));
  EXPECT_THAT(refused("    split: tets\n"), HasSubstr("did you mean 'test'"));
  EXPECT_THAT(refused("    options.seed: 3\n"), HasSubstr("has a meaning already"));
  EXPECT_THAT(refused("    metrics: [{lines: '('}]\n"), HasSubstr("run.yaml:"));
  EXPECT_THAT(refused("  - split: valid\n"), HasSubstr("add a command"));
  configure("[python3, train.py]", "",
            "options: {lr: 1}\nevaluate: {command: [python3, eval.py, '{width}']}\nsweep: {grid: {seed: [1]}}\n");
  EXPECT_THAT(run({"sweep", "run.yaml"}).err, AllOf(HasSubstr("run.yaml:6"), HasSubstr("{width}"), HasSubstr("split")));
}

}  // namespace
}  // namespace xlm
