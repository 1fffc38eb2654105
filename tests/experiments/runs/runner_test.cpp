#include "experiments/runs/runner.h"

#include <gmock/gmock.h>

#include <fstream>
#include <new>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "core/api/hourglass_options.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/environment.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {}

  PlannedRun plan(const std::string& more = "") {
    return Planner(runs_).plan(read_run_options(parse_yaml(run_config(data_, more), "run.yaml")));
  }

  PlannedRun submitted(const std::string& more = "") {
    PlannedRun run = plan(more);
    submit(run);
    return run;
  }

  PlannedRun submitted_with_batch(std::int64_t batch) {
    std::string text = run_config(data_);
    text.replace(text.find("batch: 2"), 8, "batch: " + std::to_string(batch));
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(text, "run.yaml")));
    submit(run);
    return run;
  }

  RunReport work(const PlannedRun& run, bool retry = false) {
    settings_.retry = retry;
    return execute(
        run.paths.folder, [this]() -> Core& { return core_; }, settings_);
  }

  /// Stops the next worker before its `step`-th step.
  void stop_before(int step) {
    settings_.sink.should_stop = [step, asked = 0]() mutable { return ++asked >= step; };
  }

  std::vector<std::string> steps(const PlannedRun& run) {
    std::ifstream file(run.paths.folder / "steps.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  FakeCore core_;
  WorkSettings settings_;
};

TEST_F(RunnerTest, SubmittingMakesAWholeQueuedRun) {
  const PlannedRun run = submitted("experiment: first\n");
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.status, RunStatus::kQueued);
  EXPECT_THAT(read.experiments, ElementsAre("first"));
  EXPECT_EQ(read.environment["dataset"], "abc");
  EXPECT_EQ(read.environment["fingerprint"], run.inputs.data.fingerprint);
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).data.path, data_.string());
  for (const auto& entry : fs::directory_iterator(runs_)) EXPECT_NE(entry.path().filename().string().front(), '.');
}

TEST_F(RunnerTest, ARunThatRunsOutOfMemoryGoesOnWithFewerRowsAtOnceAndSaysSo) {
  const PlannedRun run = submitted_with_batch(8);
  core_.orders = "memory-for=2";
  EXPECT_EQ(work(run).code, kDone);
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.status, RunStatus::kDone);
  EXPECT_EQ(read.micro_batch, 2);
  std::vector<std::string> causes;
  for (const RunState& state : read.history) causes.push_back(state.state + state.cause);
  EXPECT_THAT(causes, ElementsAre("queued", "running", "queuedmemory", "running", "queuedmemory", "running", "done"));
  EXPECT_THAT(read.history[4].reason, HasSubstr("4 rows of the batch at once, and goes on with 2"));
  EXPECT_EQ(steps(run).size(), 14U) << "two attempts of two steps and one of ten";
  EXPECT_THAT(read_file(run.paths.journal()), HasSubstr("note: out of memory")) << "said on the screen, too";
}

TEST_F(RunnerTest, WithOneRowAtOnceARunOutOfMemoryHasFailed) {
  const PlannedRun run = submitted_with_batch(6);
  core_.orders = "memory-for=0";
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kOutOfResources);
  EXPECT_EQ(report.status, RunStatus::kFailed);
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.status, RunStatus::kFailed);
  EXPECT_EQ(read.history.back().cause, "memory");
  EXPECT_THAT(read.reason, HasSubstr("1 row of the batch at once"));
  core_.orders = "memory-for=1";
  EXPECT_EQ(work(run).code, kDone) << "with the rows that it found before";
}

TEST_F(RunnerTest, WithoutMemoryForTheModelItselfARunHasFailedAndItsJobsMemoryIsKept) {
  const PlannedRun run = submitted_with_batch(8);
  core_.orders = "memory-limit-at=2";
  ::setenv("SLURM_MEM_PER_NODE", "500", 1);
  EXPECT_EQ(work(run).code, kOutOfResources);
  ::unsetenv("SLURM_MEM_PER_NODE");
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.status, RunStatus::kFailed);
  EXPECT_EQ(read.history.back().cause, "memory");
  EXPECT_EQ(read.history.back().memory, 500 * 1048576.0);
  EXPECT_EQ(read.micro_batch, 0) << "fewer rows would not help";
}

TEST_F(RunnerTest, AnotherExperimentSharesTheRun) {
  const PlannedRun run = submitted("experiment: first\n");
  EXPECT_EQ(submitted("experiment: second\n").id(), run.id());
  submitted("experiment: second\n");
  EXPECT_THAT(read_run(run.paths.folder).experiments, ElementsAre("first", "second"));
}

TEST_F(RunnerTest, AFolderOfOtherWorkIsNoRunOfItsName) {
  const PlannedRun run = submitted();
  Yaml config = read_yaml(run.paths.config());
  config.set("seed", make_scalar("2", "test"));
  write_file(run.paths.config(), to_text(config));
  try {
    plan();
    FAIL() << "taken for the same work";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(run.id()), HasSubstr("holds another run than its name says")));
  }
}

TEST_F(RunnerTest, AFolderWithAnEarlierVersionsNameIsFoundWhereItHoldsTheSameWork) {
  const PlannedRun run = submitted();
  work(run);
  const fs::path earlier = runs_ / earlier_run_id(run.id());
  fs::rename(run.paths.folder, earlier);
  EXPECT_EQ(plan().paths.folder, earlier);
  EXPECT_THAT(work(submitted()).message, HasSubstr("done already"));
  Yaml config = read_yaml(RunPaths{earlier}.config());
  config.set("seed", make_scalar("2", "test"));
  write_file(RunPaths{earlier}.config(), to_text(config));
  EXPECT_EQ(plan().paths.folder, run.paths.folder) << "another run with the same 32 bits";
  fs::remove(RunPaths{earlier}.config());
  EXPECT_EQ(plan().paths.folder, run.paths.folder) << "nobody knows what it holds";
}

TEST_F(RunnerTest, OtherDataMakeAFolderWithAnEarlierNameOtherWork) {
  const PlannedRun run = submitted();
  const fs::path earlier = runs_ / earlier_run_id(run.id());
  fs::rename(run.paths.folder, earlier);
  Json environment = read_json(RunPaths{earlier}.environment());
  environment["contents"]["model.init_from"] = "other weights";
  write_file(RunPaths{earlier}.environment(), environment.dump());
  EXPECT_EQ(plan().paths.folder, run.paths.folder);
  environment.erase("contents");
  environment["fingerprint"] = "other data";
  write_file(RunPaths{earlier}.environment(), environment.dump());
  EXPECT_EQ(plan().paths.folder, run.paths.folder);
}

TEST_F(RunnerTest, DoesARunAndRecordsIt) {
  const PlannedRun run = submitted();
  settings_.command = {"xlm", "train", "run.yaml"};
  settings_.threads = 3;
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kDone);
  const auto done = read_live_run(run.paths.folder);
  EXPECT_EQ(done.status, RunStatus::kDone);
  EXPECT_EQ(done.evaluations.size(), 2U);
  EXPECT_EQ(done.costs.at("params"), 1000);
  EXPECT_EQ(done.environment["libtorch"], "none");
  EXPECT_EQ(done.environment["threads"], 3);
  EXPECT_EQ(done.environment["command"][1], "train");
  EXPECT_EQ(done.environment["executable_sha256"].get<std::string>().size(), 64U);
  EXPECT_THAT(read_file(run.paths.log()), HasSubstr("test (final)"));
  EXPECT_THAT(read_file(run.paths.model() / "config.yaml"), HasSubstr("span: 16"));
}

TEST_F(RunnerTest, AFinishedRunIsNotTouched) {
  const PlannedRun run = submitted();
  work(run);
  const std::string journal = read_file(run.paths.journal());
  const RunReport again = execute(
      run.paths.folder, []() -> Core& { throw Error("core must not be opened"); }, settings_);
  EXPECT_EQ(again.code, kDone);
  EXPECT_THAT(again.message, HasSubstr("done already"));
  EXPECT_EQ(read_file(run.paths.journal()), journal);
  EXPECT_EQ(steps(run).size(), 10U);
}

TEST_F(RunnerTest, WhatAnotherWorkerFinishedMeanwhileIsNotDoneAgain) {
  const PlannedRun run = submitted();
  LockSettings elsewhere;
  elsewhere.holder = ProcessIdentity{.host = "node7", .machine = "another boot", .pid = 12, .started = 34};
  std::optional<RunLock> other;
  other.emplace(run.paths.folder, elsewhere);
  settings_.lock.clock =
      [&] {  // asked whether that one lives: after the first look at the run, before the lock is taken
        if (other) Journal(run.paths.journal(), nullptr, other->token()).append("state", {{"state", "done"}});
        other.reset();
        return wall_seconds() + 200;
      };
  const RunReport report = execute(
      run.paths.folder, []() -> Core& { throw Error("core must not be opened"); }, settings_);
  EXPECT_FALSE(other.has_value());
  EXPECT_EQ(report.code, kDone);
  EXPECT_THAT(report.message, HasSubstr("done already"));
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kDone);
}

TEST_F(RunnerTest, AStoppedRunGoesOnFromItsCheckpoint) {
  const PlannedRun run = submitted();
  stop_before(7);
  EXPECT_EQ(work(run).code, kStopped);
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kPreempted);
  EXPECT_EQ(checkpoint_step(read_run(run.paths.folder)), 6);
  settings_.sink.should_stop = nullptr;
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_EQ(steps(run).size(), 10U);
}

TEST_F(RunnerTest, ARunThatLostItsLockFilesIsNotThrownAway) {
  const PlannedRun run = submitted();
  for (const int step : {3, 6}) {
    stop_before(step);
    EXPECT_EQ(work(run).code, kStopped);
  }
  for (const auto& entry : fs::directory_iterator(run.paths.folder)) {
    if (entry.path().stem() == "lock") fs::remove(entry.path());
  }
  settings_.sink.should_stop = nullptr;
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kDone) << "no record of it is outdated";
}

TEST_F(RunnerTest, MaxHoursStopsWithACheckpoint) {
  const PlannedRun run = submitted("seed: 2\n");
  Yaml config = read_yaml(run.paths.config());
  config.set("train.max_hours", make_scalar("1", "test"));
  write_file(run.paths.config(), to_text(config));
  settings_.sink.clock = [now = 0.0]() mutable { return now += 1000; };
  EXPECT_EQ(work(run).code, kStopped);
}

TEST_F(RunnerTest, ThreadsAreKeptWhenARunIsResumed) {
  const PlannedRun run = submitted();
  settings_.threads = 3;
  stop_before(2);
  work(run);
  settings_.threads = 7;
  settings_.sink.should_stop = nullptr;
  work(run);
  EXPECT_EQ(read_run(run.paths.folder).environment["threads"], 3);
}

TEST_F(RunnerTest, ThreadsOfTheConfigurationComeFirst) {
  const PlannedRun run = submitted("seed: 3\n");
  Yaml config = read_yaml(run.paths.config());
  config.set("train.threads", make_scalar("5", "test"));
  write_file(run.paths.config(), to_text(config));
  settings_.threads = 3;
  work(run);
  EXPECT_EQ(read_run(run.paths.folder).environment["threads"], 5);
}

TEST_F(RunnerTest, DivergenceIsReportedAndOnlyRetriedOnRequest) {
  core_.orders = "diverge-at=5";
  const PlannedRun run = submitted();
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kDiverged);
  EXPECT_THAT(report.message, HasSubstr("NaN at step 5"));
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kDiverged);
  EXPECT_EQ(work(run).code, kDiverged);
  EXPECT_EQ(steps(run).size(), 5U);
  EXPECT_EQ(work(run, true).code, kDiverged);
  EXPECT_EQ(steps(run).size(), 6U);  // from the checkpoint of step 4
}

TEST_F(RunnerTest, AFailedRunIsTriedAgainFromItsCheckpoint) {
  core_.orders = "fail-at=5";
  const PlannedRun run = submitted();
  EXPECT_EQ(work(run).code, kFailed);
  const auto failed = read_live_run(run.paths.folder);
  EXPECT_EQ(failed.status, RunStatus::kFailed);
  EXPECT_EQ(failed.reason, "something broke");
  core_.orders.clear();
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_EQ(steps(run).size(), 11U);
}

TEST_F(RunnerTest, FailuresOfTheCoreBecomeExitCodes) {
  const auto code_of = [&](const PlannedRun& run, const std::function<Core&()>& open) {
    return execute(run.paths.folder, open, settings_).code;
  };
  const PlannedRun run = submitted();
  EXPECT_EQ(code_of(run, []() -> Core& { throw ResourceError("disk full"); }), kOutOfResources);
  EXPECT_EQ(code_of(run, []() -> Core& { throw std::bad_alloc(); }), kOutOfResources);
  EXPECT_EQ(code_of(run, []() -> Core& { throw DataError("bad checkpoint"); }), kBadData);
  EXPECT_EQ(code_of(run, []() -> Core& { throw std::runtime_error("first\nbacktrace"); }), kFailed);
  EXPECT_EQ(read_run(run.paths.folder).reason, "first");
}

TEST_F(RunnerTest, ARunOfAnotherLiveWorkerIsNotTouched) {
  const PlannedRun run = submitted();
  const std::string journal = read_file(run.paths.journal());
  const RunLock lock(run.paths.folder);
  EXPECT_THROW(work(run), RunLockedError);
  EXPECT_EQ(read_file(run.paths.journal()), journal);
}

TEST_F(RunnerTest, AWorkerThatWasTakenOverWritesNothingMore) {
  const PlannedRun run = submitted();
  std::string journal;
  settings_.sink.should_stop = [&, asked = 0]() mutable {
    if (++asked == 3) {
      write_file(run.paths.folder / "lock.2", "{}");
      journal = read_file(run.paths.journal());
    }
    return false;
  };
  EXPECT_EQ(work(run).code, kFailed);
  EXPECT_EQ(read_file(run.paths.journal()), journal);
  EXPECT_TRUE(fs::exists(run.paths.folder / "lock.2"));
}

TEST_F(RunnerTest, AJournalLineThatAKillCutShortDoesNotSwallowTheNext) {
  core_.orders = "fail-at=5";
  const PlannedRun run = submitted();
  work(run);
  std::ofstream(run.paths.journal(), std::ios::app) << R"({"type":"metric","st)";
  core_.orders.clear();
  EXPECT_EQ(work(run).code, kDone);
  const auto done = read_run(run.paths.folder);
  EXPECT_EQ(done.status, RunStatus::kDone);
  EXPECT_EQ(done.malformed, 1);
  EXPECT_EQ(done.evaluations.size(), 2U);
}

TEST_F(RunnerTest, ChangedDataIsRefused) {
  const PlannedRun run = submitted();
  make_data(data_, "cba");
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kBadData);
  EXPECT_THAT(report.message, HasSubstr("not what the run"));
  make_data(data_);
  EXPECT_EQ(work(run).code, kDone);
}

TEST_F(RunnerTest, MissingDataIsRefused) {
  const PlannedRun run = submitted();
  fs::rename(data_, folder_.path() / "moved");
  EXPECT_EQ(work(run).code, kBadData);
  EXPECT_THROW(plan("seed: 5\n"), DataError);
}

TEST_F(RunnerTest, SubmittingAnUnfinishedRunAgainTakesOverWhereAndHow) {
  const PlannedRun run = submitted();
  RunOptions options = run.options;
  options.train.max_hours = 2;
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).train.max_hours, 2);
  work(run);
  options.train.max_hours = 3;
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).train.max_hours, 2);  // done: nothing left to decide
}

TEST_F(RunnerTest, SubmittingARunThatIsBeingDoneChangesNothingButItsExperiments) {
  const PlannedRun run = submitted("experiment: first\n");
  const RunLock lock(run.paths.folder);
  Journal(run.paths.journal()).append("state", {{"state", "running"}});
  const std::string config = read_file(run.paths.config());
  RunOptions options = run.options;
  options.train.max_hours = 2;
  options.experiment = "second";
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_file(run.paths.config()), config);
  EXPECT_THAT(read_run(run.paths.folder).experiments, ElementsAre("first", "second"));
}

TEST_F(RunnerTest, AFileInTheWayIsNamed) {
  const PlannedRun run = plan();
  create_folders(runs_);
  write_file(run.paths.folder, "");
  EXPECT_THROW(submit(run), DataError);
  write_file(folder_.path() / "file", "");
  PlannedRun nowhere = run;
  nowhere.paths.folder = folder_.path() / "file" / "runs" / "id";
  EXPECT_THROW(submit(nowhere), Error);
}

/// Runs with windows, and evaluations that are wanted of them.
class WantedEvaluations : public RunnerTest {
 protected:
  PlannedRun wanting(const std::vector<int>& overlaps) {
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(window_config(data_), "run.yaml")));
    submit(run);
    std::vector<WantedEvaluation> wanted;
    for (const int overlap : overlaps) wanted.push_back({"test", {{"model.overlap", overlap}}});
    want(run.paths, wanted);
    return run;
  }

  /// The overlaps of the evaluations that were made, in order.
  static std::vector<std::string> made(const PlannedRun& run) {
    std::ifstream file(run.paths.folder / "evaluations.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  static std::map<std::string, double> bpc(const PlannedRun& run) {
    std::map<std::string, double> values;
    for (const RunEvaluation& evaluation : read_run(run.paths.folder).evaluations) {
      if (evaluation.split == "test") values[at_text(evaluation.at)] = evaluation.values.at("bpc");
    }
    return values;
  }
};

TEST_F(WantedEvaluations, AreMadeOnceWhenTheTrainingIsDone) {
  const PlannedRun run = wanting({0, 2, 4});
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 2", "test 4")) << "overlap 0 is the run's own";
  const auto values = bpc(run);
  EXPECT_NEAR(values.at(""), 2.01, 1e-9);
  EXPECT_NEAR(values.at("model.overlap=4"), 2.006, 1e-9);
  EXPECT_THAT(read_file(run.paths.log()), HasSubstr("test@model.overlap=4  loss"));
  const std::string journal = read_file(run.paths.journal());
  EXPECT_THAT(work(run).message, HasSubstr("done already"));
  EXPECT_EQ(read_file(run.paths.journal()), journal);
}

TEST_F(WantedEvaluations, OfARunThatIsDoneAreMadeWithoutTraining) {
  const PlannedRun run = wanting({});
  work(run);
  want(run.paths, {{"test", {{"model.overlap", 2}}}});
  want(run.paths, {{"test", {{"model.overlap", 2}}}, {"valid", {{"model.overlap", 2}}}});
  EXPECT_EQ(read_run(run.paths.folder).wanted.size(), 2U);
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 2", "valid 2"));
  EXPECT_EQ(steps(run).size(), 10U);
}

TEST_F(WantedEvaluations, OnOtherDataBelongToTheirRun) {
  const PlannedRun run = wanting({});
  const fs::path other = make_data(folder_.path() / "other", "bcc");
  want(run.paths, {{"test", {{"data.path", other.string()}}}});
  EXPECT_EQ(work(run).code, kDone);
  const auto values = bpc(run);
  EXPECT_EQ(values.size(), 2U) << "the run's own, and the other";
  for (const auto& [at, value] : values) {
    EXPECT_NEAR(value, at.empty() ? 2.01 : 2.11, 1e-9) << at;
  }
}

TEST_F(WantedEvaluations, GoOnAfterAStopWhereTheyWere) {
  const PlannedRun run = wanting({1, 2, 3});
  // Asked before each of ten steps; then before the first evaluation, within it, and before the second.
  stop_before(13);
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kStopped);
  EXPECT_EQ(report.status, RunStatus::kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1"));
  stop_before(2);  // within the evaluation: nothing of it is kept
  EXPECT_EQ(work(run).code, kStopped);
  EXPECT_EQ(bpc(run).size(), 2U);
  settings_.sink.should_stop = nullptr;
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1", "test 2", "test 2", "test 3"));
  EXPECT_EQ(bpc(run).size(), 4U);
}

TEST_F(WantedEvaluations, ThatFailLeaveTheRunDoneAndTheOthersMade) {
  core_.orders = "fail-at-overlap=1";
  const PlannedRun run = wanting({1, 2});
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kFailed);
  EXPECT_THAT(report.message, HasSubstr("test@model.overlap=1 failed: no such overlap"));
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kDone);
  EXPECT_EQ(bpc(run).size(), 2U);
  core_.orders.clear();
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1", "test 2", "test 1"));
}

TEST_F(WantedEvaluations, WhoseDataAreGoneSaySo) {
  const PlannedRun run = wanting({});
  want(run.paths, {{"test", {{"data.path", "/nowhere"}}}});
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kBadData);
  EXPECT_THAT(report.message, HasSubstr("/nowhere"));
}

TEST_F(RunnerTest, ATokenizersFileIsNamedFromEverywhere) {
  const fs::path tokenizer = folder_.path() / "pieces.model";
  write_file(tokenizer, "pieces");
  const auto planned = [&](const std::string& name) {
    const std::string model = "{type: hourglass, boundaries: {type: unigram, tokenizer: " + name + "}}";
    return Planner(runs_).plan(
        read_run_options(parse_yaml("data: {path: " + data_.string() + "}\nmodel: " + model +
                                        "\ntrain: {steps: 10, batch: 2, block: 4}\noptimizer: {warmup_steps: 1}\n",
                                    "run.yaml")));
  };
  const PlannedRun run = planned(fs::relative(tokenizer).string());
  EXPECT_EQ(run.options.model.get<HourglassOptions>().boundaries.tokenizer, tokenizer.string());
  EXPECT_EQ(run.id(), planned(tokenizer.string()).id());
}

TEST_F(RunnerTest, InitialWeightsAreFoundByRunIdAndThoseOfAFolderAreAMatterOfContent) {
  const PlannedRun first = submitted();
  work(first);
  const auto with_init = [&](const std::string& model) {
    RunOptions options = first.options;
    options.init_from = model;
    return Planner(runs_).plan(options);
  };
  const PlannedRun by_prefix = with_init("adaptive-span-abc");
  EXPECT_EQ(by_prefix.options.init_from, first.paths.model().string());
  EXPECT_NE(by_prefix.id(), first.id());
  EXPECT_EQ(with_init(first.paths.model()).id(), by_prefix.id());
  EXPECT_THROW(with_init("nothing-like-it"), DataError);
  const fs::path folder = folder_.path() / "weights";
  fs::copy(first.paths.model(), folder);
  const PlannedRun by_content = with_init(folder);
  EXPECT_NE(by_content.id(), by_prefix.id()) << "a run's model is what the run's id says";
  submit(by_content);
  write_file(folder / "model.safetensors", "other weights");
  EXPECT_EQ(work(by_content).code, kBadData);
  EXPECT_NE(with_init(folder).id(), by_content.id());
}

TEST_F(RunnerTest, ARunGoesOnOnTheKindOfDeviceThatItBeganOn) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(6);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  core_.device = "cpu";
  const RunReport refused = work(run);
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("on cuda and would go on on cpu"), HasSubstr("--anyway")));
  EXPECT_EQ(steps(run).size(), 5U) << "nothing was trained";
  settings_.anyway = true;
  EXPECT_EQ(work(run).status, RunStatus::kDone);
  EXPECT_EQ(read_run(run.paths.folder).environment["first"]["device"], "cuda");
  EXPECT_EQ(read_run(run.paths.folder).environment["device"], "cpu");
  EXPECT_THAT(read_file(run.paths.log()), HasSubstr("as --anyway says"));
}

TEST_F(RunnerTest, AnotherGpuIsTheSameKindOfDevice) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(6);
  work(run);
  settings_.sink.should_stop = nullptr;
  core_.device = "cuda:3";
  EXPECT_EQ(work(run).status, RunStatus::kDone);
}

TEST_F(RunnerTest, ARunGoesOnWithTheProgramThatItBeganWith) {
  const PlannedRun run = submitted();
  stop_before(6);
  work(run);
  settings_.sink.should_stop = nullptr;
  Json environment = read_json(run.paths.environment());
  environment["first"]["commit"] = "0123456789ab";
  environment["first"]["core_sha256"] = std::string(64, 'f');
  environment["first"].erase("xlm");
  write_file(run.paths.environment(), environment.dump());
  const Json changed = environment["first"];
  EXPECT_THAT(work(run).message, HasSubstr("0123456789ab"));
  EXPECT_THAT(work(run).message, HasSubstr("0123456789ab")) << "also when asked again";
  settings_.anyway = true;
  EXPECT_EQ(work(run).status, RunStatus::kDone);
  EXPECT_EQ(read_run(run.paths.folder).environment["first"], changed);
}

TEST_F(RunnerTest, ARunWithoutACheckpointBeginsAnew) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(1);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  core_.device = "cpu";
  EXPECT_EQ(work(run).status, RunStatus::kDone);
  EXPECT_EQ(read_run(run.paths.folder).environment["first"]["device"], "cpu");
}

}  // namespace
}  // namespace xlm
