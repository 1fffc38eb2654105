#include "experiments/worker/runner.h"

#include <chrono>
#include <fstream>
#include <new>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/worker/runner_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_THAT(read.history[4].reason, HasSubstr("4 rows of the batch at once, and resumes with 2"));
  EXPECT_EQ(steps(run).size(), 14U) << "two attempts of two steps and one of ten";
  EXPECT_THAT(read_file(run.paths.journal()), HasSubstr("note: out of memory")) << "said on the screen, too";
}

/// Seven of 64 rows were computed at once. Half of what was allowed would be more than that.
TEST_F(RunnerTest, HalfOfTheRowsThatAnAttemptHadChosenIsTriedNext) {
  const PlannedRun run = submitted_with_batch(64);
  core_.orders = "chooses=7 memory-for=3";
  EXPECT_EQ(work(run).code, kDone);
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.micro_batch, 2) << "a divisor of 64";
  std::vector<std::string> causes;
  for (const RunState& state : read.history) causes.push_back(state.state + state.cause);
  EXPECT_THAT(causes, ElementsAre("queued", "running", "queuedmemory", "running", "done"));
  EXPECT_THAT(read.history[2].reason, HasSubstr("it computed 7 rows of the batch at once, and resumes with 2"));
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
  settings_.lock.heartbeat = 0.01;
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

TEST_F(RunnerTest, MaxHoursCountsTheAttemptsThatRanOutOfMemory) {
  const PlannedRun run = submitted_with_batch(8);
  Yaml config = read_yaml(run.paths.config());
  config.set("train.max_hours", make_scalar("1", "test"));
  write_file(run.paths.config(), to_text(config));
  core_.orders = "memory-for=2";
  double now = 0;
  settings_.sink.clock = [&now] { return now; };
  settings_.sink.should_stop = [&now] {  // asked before each step
    now += 600;
    return false;
  };
  EXPECT_EQ(work(run).code, kStopped);
  EXPECT_LE(steps(run).size(), 6U) << "an hour in all, of ten minutes for each step";
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.micro_batch, 2);
  EXPECT_EQ(read.status, RunStatus::kPreempted);
}

TEST_F(RunnerTest, WhetherARunResumesIsReadFromItsFiles) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(6);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  fs::remove_all(run.paths.checkpoints());
  core_.device = "cpu";
  EXPECT_EQ(work(run).status, RunStatus::kDone) << "nothing is left of what began on another device";
  EXPECT_EQ(read_run(run.paths.folder).environment["first"]["device"], "cpu");
  EXPECT_THAT(read_file(run.paths.log()),
              HasSubstr("warning: the journal records a checkpoint of step 5, and there is none in checkpoints/: "
                        "training begins again"));
}

TEST_F(RunnerTest, AFileThatTheJournalDoesNotRecordIsResumedFrom) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(1);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  create_folders(run.paths.checkpoints());
  write_file(run.paths.checkpoints() / "step-000000007.safetensors", "7");
  core_.device = "cpu";
  EXPECT_THAT(work(run).message, HasSubstr("on cuda and would resume on cpu"));
  settings_.anyway = true;
  EXPECT_EQ(work(run).status, RunStatus::kDone);
  EXPECT_THAT(read_file(run.paths.log()), HasSubstr("the newest file is of step 7: training resumes from it"));
}

TEST_F(RunnerTest, TheHoursOfAnAttemptThatFailsByItselfCount) {
  const PlannedRun run = submitted_with_batch(8);
  core_.orders = "memory-for=2";
  EXPECT_EQ(work(run).code, kDone);
  for (const RunState& state : read_run(run.paths.folder).history) {
    EXPECT_EQ(state.pid > 0, !state.cause.empty() || state.state == "running") << state.state << state.reason;
  }
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

TEST_F(RunnerTest, ThreadsOfTheUserComeBeforeAShareOfTheCores) {
  settings_.threads = 3;
  std::int64_t seed = 10;
  const auto threads_with = [&](const char* named) {
    ::setenv("OMP_NUM_THREADS", named, 1);
    const PlannedRun run = submitted(fmt::format("seed: {}\n", ++seed));
    EXPECT_EQ(work(run).code, kDone);
    return read_run(run.paths.folder).environment["threads"].get<std::int64_t>();
  };
  EXPECT_EQ(threads_with("2"), 2);
  EXPECT_EQ(threads_with(" 5 , 1"), 5) << "of nested regions, the outermost";
  for (const char* no_number : {"", ",", "0", "-1", "many", "4097", "99999999999999999999"}) {
    EXPECT_EQ(threads_with(no_number), 3) << no_number;
  }
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

TEST_F(RunnerTest, WhatAKilledWorkerLeftOfItsFilesIsRemovedByTheNextAndWhenTheRunIsDone) {
  const PlannedRun run = submitted();
  stop_before(6);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  const fs::path left = run.paths.checkpoints() / ".step-000000005.safetensors.0123abcd";
  const fs::path young = run.paths.checkpoints() / ".step-000000005.safetensors.0123abce";
  const auto leave = [&] {
    for (const fs::path& file : {left, young}) write_file(file, "half");
    fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(1));
  };
  for (const char* when : {"it goes on", "it is done"}) {
    leave();
    EXPECT_EQ(work(run).status, RunStatus::kDone);
    EXPECT_FALSE(fs::exists(left)) << when;
    EXPECT_TRUE(fs::exists(young)) << "another worker may be writing it when " << when;
  }
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

TEST_F(RunnerTest, ARunGoesOnOnTheKindOfDeviceThatItBeganOn) {
  core_.device = "cuda:0";
  const PlannedRun run = submitted();
  stop_before(6);
  ASSERT_EQ(work(run).status, RunStatus::kPreempted);
  settings_.sink.should_stop = nullptr;
  core_.device = "cpu";
  const RunReport refused = work(run);
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.message, AllOf(HasSubstr("on cuda and would resume on cpu"), HasSubstr("--anyway")));
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
