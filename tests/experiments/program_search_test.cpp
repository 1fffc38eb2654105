// Searches by the program, from end to end: asked of Optuna, killed, shared by workers, and asked again.
#include <cmath>
#include <map>
#include <random>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/program_fixture.h"
#include "tests/experiments/slurm_fixture.h"
#include "tests/needs.h"
#include "tests/readers.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// (x − 0.3)² + (log10(lr) + 2)², and a little for each seed. It fails where x is above options.limit.
constexpr const char* kQuadratic = R"(import json, math, os, sys
options = json.load(open(os.environ["XLM_CONFIG"]))["options"]
if options["x"] > options["limit"]:
    sys.exit("x is too large")
loss = (options["x"] - 0.3) ** 2 + (math.log10(options["lr"]) + 2) ** 2 + 0.0001 * int(os.environ["XLM_SEED"])
with open(os.environ["XLM_METRICS"], "a") as file:
    file.write(json.dumps({"split": "valid", "step": 1, "loss": loss, "final": True}) + "\n")
)";

class ProgramSearch : public ProgramTest {
 protected:
  void SetUp() override {
    if (!fs::exists(fs::path(XLM_READERS) / "optuna")) GTEST_SKIP() << needs::kReaders;
    ::setenv("PYTHONPATH", XLM_READERS, 1);
  }
  void TearDown() override {
    ::unsetenv("PYTHONPATH");
    ::unsetenv("XLM_PYTHON");
  }

  /// sweep.yaml of a native model: six trials of a learning rate and a width, two seeds each.
  void write_native(const std::string& more = "", const std::string& train = "") {
    write_sweep(train +
                "sweep:\n"
                "  search:\n"
                "    {measure: valid.loss, trials: 6, together: 2, seeds: 2,\n"
                "     keys: {optimizer.lr: {low: 0.001, high: 0.1, log: true}, model.width: [8, 16]}}\n" +
                more);
  }

  void write_quadratic(const std::string& search, double limit = 10) {
    create_folders(folder_.path() / "code");
    write_file(folder_.path() / "code" / "quadratic.py", kQuadratic);
    write_file(
        folder_.path() / "sweep.yaml",
        fmt::format("program:\n  command: [python3, quadratic.py]\n  folder: code\n  code: [\"*\"]\n"
                    "options: {{x: 0.0, lr: 0.1, limit: {}}}\n"
                    "sweep:\n  search:\n    measure: valid.loss\n    {}\n"
                    "    keys: {{options.x: {{low: -1.0, high: 1.0}}, options.lr: {{low: 0.0001, high: 1.0, log: "
                    "true}}}}\n",
                    limit, search));
  }

  /// The ids of runs, each with its final loss on validation.
  static std::map<std::string, double> results_in(const fs::path& runs) {
    std::map<std::string, double> results;
    for (const auto& entry : fs::directory_iterator(runs)) {
      if (entry.path().filename().string().starts_with('.')) continue;  // a kill left a folder that was not yet a run
      if (!fs::exists(entry.path() / "journal.jsonl")) continue;
      const xlm::Run found = read_live_run(entry.path());
      double& value = results[found.id];
      value = std::nan("");
      for (const RunEvaluation& evaluation : found.evaluations) {
        if (evaluation.main && evaluation.split == "valid") value = evaluation.values.at("loss");
      }
    }
    return results;
  }

  /// The results of the same search in another folder of runs, done at one go.
  std::map<std::string, double> results_elsewhere(const std::string& jobs = "3") {
    const ProgramResult result = run({"sweep", "sweep.yaml", "--runs", "elsewhere", "--jobs", jobs});
    EXPECT_EQ(result.code, kDone) << result.err << result.out;
    return results_in(folder_.path() / "elsewhere");
  }
};

TEST_F(ProgramSearch, FindsTheLowestPointOfAQuadratic) {
  write_quadratic("trials: 30\n    together: 3\n    generator: 1");
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "3"});
  EXPECT_EQ(result.code, kDone) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("30 of 30 runs done"),
                                HasSubstr("30 of at most 30 settings tried; the best by valid.loss:\n")));
  double least = 100;
  for (const auto& [id, loss] : results_in(runs_)) least = std::min(least, loss);
  EXPECT_LT(least, 0.1) << "the range goes up to 5.7";
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(again.code, kDone) << again.err;
  EXPECT_EQ(results_in(runs_).size(), 30U);
}

TEST_F(ProgramSearch, NumberOfJobsChangesNothing) {
  write_native();
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "1"});
  EXPECT_EQ(result.code, kDone) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("12 of 12 runs done"), HasSubstr("± 0.00"), HasSubstr("over 2 seeds")));
  const std::map<std::string, double> results = results_in(runs_);
  EXPECT_EQ(results.size(), 12U);
  EXPECT_EQ(results, results_elsewhere());
  EXPECT_THAT(run({"runs", "ls", "--columns", "optimizer.lr,valid.loss"}).out, HasSubstr("valid"));
}

TEST_F(ProgramSearch, AKilledSearchAsksTheSameAgain) {
  write_native();
  const std::map<std::string, double> whole = results_elsewhere();
  std::mt19937 random(7);
  int kills = 0;
  for (;; ++kills) {
    BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
    const auto pause = std::uniform_int_distribution<useconds_t>(100'000, 2'500'000)(random);
    if (kills < 8) {
      for (useconds_t waited = 0; waited < pause && program.is_running(); waited += 10'000) ::usleep(10'000);
      if (program.is_running()) {
        program.kill(SIGKILL);
        program.wait();
        continue;
      }
    }
    const ProgramResult result = program.wait();
    EXPECT_EQ(result.code, kDone) << result.err << result.out;
    break;
  }
  EXPECT_GE(kills, 1);
  EXPECT_EQ(results_in(runs_), whole);
}

TEST_F(ProgramSearch, AWorkerThatIsKilledIsNoResult) {
  write_native();
  const std::map<std::string, double> whole = results_elsewhere();
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  for (const fs::path& folder : run_folders()) {
    const xlm::Run one = read_live_run(folder);
    if (one.status == RunStatus::kRunning) ::kill(static_cast<pid_t>(one.history.back().pid), SIGKILL);
  }
  fs::remove(hold());
  sweep.wait();
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(again.code, kDone) << again.err << again.out;
  EXPECT_EQ(results_in(runs_), whole) << "the same settings were asked for";
}

TEST_F(ProgramSearch, WorkersOfOneListAgree) {
  write_native("", "resources: {cpus: 1}\n");
  const ProgramResult submitted = run({"sweep", "sweep.yaml", "--launcher", "manual"});
  EXPECT_EQ(submitted.code, kDone) << submitted.err;
  EXPECT_THAT(submitted.out, HasSubstr("4 of 4 runs to do"));
  std::smatch match;
  ASSERT_TRUE(std::regex_search(submitted.out, match, std::regex("\n  (.* worker --sweep .*)\n"))) << submitted.out;
  const std::vector<std::string> command = split(match[1].str(), ' ');
  create_folders(folder_.path() / "far");
  BackgroundProgram one(command, folder_.path());
  BackgroundProgram two(command, folder_.path() / "far");
  const ProgramResult all = run({"sweep", "sweep.yaml", "--launcher", "manual", "--wait"});
  EXPECT_EQ(all.code, kDone) << all.err << all.out;
  EXPECT_THAT(all.out, HasSubstr("12 of 12 runs done"));
  const ProgramResult ended = one.wait();
  EXPECT_EQ(ended.code, kDone) << ended.err;
  EXPECT_EQ(two.wait().code, kDone);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
  EXPECT_EQ(results_in(runs_), results_elsewhere());
}

TEST_F(ProgramSearch, TrialsOfARoundAreStoppedEarly) {
  write_sweep(
      "sweep:\n"
      "  search: {measure: valid.loss, trials: 8, together: 4, sampler: random,\n"
      "           keys: {optimizer.lr: {low: 0.001, high: 0.5}}}\n"
      "  early_stopping: {measure: valid.loss, rungs: [4], keep: 1/2}\n");
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "2", "train.eval_every=2"});
  EXPECT_EQ(result.code, kDone) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("4 of 8 runs done, 4 pruned"), HasSubstr("4 stopped early")));
  const ProgramResult other = run({"sweep", "sweep.yaml", "--jobs", "1", "train.eval_every=2", "--runs", "elsewhere"});
  EXPECT_EQ(other.code, kDone) << other.err;
  std::set<std::string> pruned;
  std::set<std::string> pruned_elsewhere;
  for (const fs::path& folder : run_folders()) {
    const std::string id = folder.filename().string();
    if (read_live_run(folder).status == RunStatus::kPruned) pruned.insert(id);
    if (read_live_run(folder_.path() / "elsewhere" / id).status == RunStatus::kPruned) pruned_elsewhere.insert(id);
  }
  EXPECT_EQ(pruned, pruned_elsewhere);
}

TEST_F(ProgramSearch, AFailedTrialIsTheWorstAndIsNotTriedAgainOnceTheSearchHasGoneOn) {
  write_quadratic("trials: 12\n    together: 3", 0.5);
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "3"});
  EXPECT_EQ(result.code, kFailed) << result.err << result.out;
  EXPECT_THAT(result.out, AllOf(HasSubstr("12 of at most 12 settings tried"), HasSubstr("which counts as the worst"),
                                HasSubstr("x is too large")));
  const auto attempts = [&] {
    std::size_t count = 0;
    for (const fs::path& folder : run_folders()) {
      for (const RunState& state : read_live_run(folder).history) count += state.state == "running" ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(attempts(), 12U);
  EXPECT_EQ(run_folders().size(), 12U);
  const std::string plan = run({"sweep", "sweep.yaml", "--dry-run"}).out;
  EXPECT_THAT(plan, HasSubstr("failed; its trial counts as the worst"));
  run({"sweep", "sweep.yaml"});
  EXPECT_EQ(run_folders().size(), 12U) << "the same settings";
}

TEST_F(ProgramSearch, WhatWasAskedForHoldsAlthoughAnEarlierRunEndsOtherwiseNow) {
  write_quadratic("trials: 12\n    together: 3", 0.5);
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--jobs", "3"}).code, kFailed);
  const std::map<std::string, double> before = results_in(runs_);
  std::string failed;
  for (const auto& [id, loss] : before) {
    if (std::isnan(loss)) failed = id;
  }
  ASSERT_NE(failed, "");
  // A user mends the run: its loss becomes the least.
  Journal journal(runs_ / failed / "journal.jsonl");
  journal.append("evaluation", {{"step", 1},
                                {"split", "valid"},
                                {"tokens", 0},
                                {"loss", 0.000001},
                                {"seconds", 0.0},
                                {"flops", 0.0},
                                {"final", true},
                                {"values", {{"loss", 0.000001}}}});
  journal.append("state", {{"state", "done"}}, true);
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_THAT(again.out, HasSubstr("12 of at most 12 settings tried")) << again.err;
  EXPECT_EQ(results_in(runs_).size(), 12U) << "no further settings";
  const ProgramResult more = run({"sweep", "sweep.yaml", "sweep.search.trials=15"});
  EXPECT_THAT(more.out, HasSubstr("15 of at most 15 settings tried")) << more.err;
  EXPECT_EQ(results_in(runs_).size(), 15U) << "the first twelve are the same";
}

TEST_F(ProgramSearch, AnotherOptunaGoesOnFromWhatIsRecorded) {
  write_quadratic("trials: 6\n    together: 2");
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const std::map<std::string, double> before = results_in(runs_);
  // From here on, another sampler asks for the second round and all later ones.
  const fs::path python = folder_.path() / "python";
  write_file(python,
             "#!/bin/sh\n"
             "exec python3 \"$1\" \"$2\" \"$(printf '%s' \"$3\" | sed 's/^    trial = study.ask(distributions)$/"
             "    trial = [len(study.trials) > 1 and study.sampler.reseed_rng(), study.ask(distributions)][1]/')\"\n");
  fs::permissions(python, fs::perms::owner_all);
  ::setenv("XLM_PYTHON", python.c_str(), 1);
  const ProgramResult elsewhere = run({"sweep", "sweep.yaml", "--runs", "elsewhere"});
  EXPECT_EQ(elsewhere.code, kDone) << elsewhere.err;
  EXPECT_NE(results_in(folder_.path() / "elsewhere"), before) << "this Optuna asks for other settings";
  const ProgramResult more = run({"sweep", "sweep.yaml", "sweep.search.trials=8"});
  EXPECT_EQ(more.code, kDone) << more.err;
  const std::map<std::string, double> after = results_in(runs_);
  EXPECT_EQ(after.size(), 8U);
  for (const auto& [id, loss] : before) EXPECT_EQ(after.at(id), loss);
}

TEST_F(ProgramSearch, StoppedBetweenRoundsItGoesOn) {
  write_native();
  const std::map<std::string, double> whole = results_elsewhere();
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return fs::exists(runs_) && run_folders().size() >= 4; });
  program.kill(SIGINT);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.code, kStopped) << stopped.err << stopped.out;
  EXPECT_THAT(stopped.out, Not(HasSubstr("its folder was moved or removed")));
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  EXPECT_EQ(results_in(runs_), whole);
}

TEST_F(ProgramSearch, DryRunShowsWhatIsKnown) {
  write_native();
  const ProgramResult text = run({"sweep", "sweep.yaml", "--dry-run"});
  EXPECT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("4 of 4 runs to do"),
                              HasSubstr("up to 4 trials follow from results: at most 8 more runs"),
                              HasSubstr("nothing was written")));
  EXPECT_FALSE(fs::exists(runs_));
  const Json json = Json::parse(run({"sweep", "sweep.yaml", "--dry-run", "--json"}).out);
  ASSERT_EQ(json.size(), 4U);
  EXPECT_EQ(json[3]["trial"], 2);
}

TEST_F(ProgramSearch, WithoutOptunaTheErrorSaysHowToInstallIt) {
  write_native();
  ::setenv("PYTHONPATH", "", 1);
  ::setenv("XLM_PYTHON", "/usr/bin/no python", 1);
  const ProgramResult none = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(none.code, kUsage);
  EXPECT_THAT(none.err, AllOf(HasSubstr("sweep.search needs Optuna"), HasSubstr("cannot be started"),
                              HasSubstr("'/usr/bin/no python' -m pip install optuna\n")));
  write_file(folder_.path() / "python", "#!/bin/sh\necho 'it is broken' >&2\nexit 1\n");
  fs::permissions(folder_.path() / "python", fs::perms::owner_all);
  ::setenv("XLM_PYTHON", (folder_.path() / "python").c_str(), 1);
  EXPECT_THAT(run({"sweep", "sweep.yaml"}).err, HasSubstr("it is broken"));
  EXPECT_FALSE(fs::exists(runs_));
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--check"}).code, kDone) << "a check needs no Python";
}

TEST_F(ProgramSearch, AMeasureThatNoRunHasIsAnError) {
  write_sweep(
      "sweep: {search: {measure: valid.accuracy, better: higher, trials: 4, together: 2, keys: {optimizer.lr: [0.1, "
      "0.2]}}}\n");
  const ProgramResult result = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(result.code, kUsage) << result.out;
  EXPECT_THAT(result.err, AllOf(HasSubstr("has no valid.accuracy"), HasSubstr("valid.loss")));
}

class SearchOnSlurm : public ProgramSearch {
 protected:
  void SetUp() override {
    ProgramSearch::SetUp();
    if (IsSkipped()) return;
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(2);
  }
  void TearDown() override {
    slurm_.stop();
    ProgramSearch::TearDown();
  }

  LocalSlurm slurm_{folder_.path()};
};

TEST_F(SearchOnSlurm, PreemptedJobsGoOnWithTheSameSettings) {
  write_native("", "resources: {cpus: 1}\n");
  const std::map<std::string, double> whole = results_elsewhere();
  const ProgramResult submitted = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "2"});
  ASSERT_EQ(submitted.code, kDone) << submitted.err;
  LocalSlurm::until([&] { return run_folders().size() > 4; });  // the second round
  ASSERT_EQ(shell(folder_.path(), "sbatch -p urgent -n 2 --wrap 'sleep 1'").code, 0);
  LocalSlurm::until([&] {
    slurm_.start_requeued();
    return run_folders().size() == 12 && slurm_.jobs().empty();
  });
  EXPECT_EQ(results_in(runs_), whole);
  const ProgramResult ended = run({"sweep", "sweep.yaml", "--launcher", "slurm", "--wait"});
  EXPECT_EQ(ended.code, kDone) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("6 of at most 6 settings tried"));
}

TEST_F(ProgramSearch, WinnersOfOtherSweepsAreRefused) {
  write_file(folder_.path() / "rates.yaml", run_config("data", "sweep: {grid: {optimizer.lr: [0.3, 0.0625]}}\n"));
  ASSERT_EQ(run({"sweep", "rates.yaml"}).code, kDone);
  const std::size_t before = run_folders().size();
  write_sweep(
      "optimizer: {lr: {best_of: rates.yaml, by: valid.loss}}\n"
      "sweep: {search: {measure: valid.loss, trials: 2, keys: {model.width: [8, 16]}}}\n");
  const ProgramResult result = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(result.code, kUsage);
  EXPECT_THAT(result.err, HasSubstr("sweep.search cannot be used with best_of"));
  EXPECT_EQ(run_folders().size(), before);
}

}  // namespace
}  // namespace xlm
