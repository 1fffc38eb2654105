// Lists of runs that several schedulers share. The test ends their workers.
#include <gmock/gmock.h>

#include <memory>

#include "base/error.h"
#include "experiments/launchers/resources.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/work_list.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/stop_request.h"
#include "experiments/sweeps/recipe.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/read_counter.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

/// One worker at a time. It ends at once in the way that the test sets.
class OneByOne : public RunSlots {
 public:
  std::size_t count() const override { return 1; }
  void start(std::size_t /*slot*/, const RunStart& start) override {
    started.push_back(start.run->id());
    code = work(*start.run);
  }
  std::optional<int> ended(std::size_t /*slot*/) override { return code; }
  void stop(std::size_t /*slot*/) override {}

  std::function<int(const SweepRun&)> work;
  std::vector<std::string> started;
  int code = 0;
};

class SharedListTest : public ::testing::Test {
 protected:
  SharedListTest() {
    const fs::path data = make_data(folder_.path() / "data");
    const fs::path runs = folder_.path() / "runs";
    list_ = make_work_list(
        "Spans of heads", runs,
        plan_sweep(recipe_of(parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2, 3]}}\n"), "s")), runs, false));
    submit_runs(list_);
    settings_.attended = false;
    settings_.clock = [this] { return now_; };
    settings_.sleep = [this](double seconds) { now_ += seconds; };
    slots_.work = [](const SweepRun& run) {
      record(run, "done");
      return 0;
    };
  }

  static void record(const SweepRun& run, const std::string& state) {
    Journal(run.planned.paths.journal()).append("state", {{"state", state}});
  }

  LaunchReport run() { return do_list(list_, settings_, slots_); }
  const SweepRun& item(std::size_t i) const { return list_.items[i]; }
  const fs::path& folder_of(std::size_t i) const { return item(i).planned.paths.folder; }

  TemporaryFolder folder_;
  WorkList list_;
  LaunchSettings settings_;
  OneByOne slots_;
  double now_ = 0;
};

TEST_F(SharedListTest, ARunIsClaimedBeforeItsWorkerStarts) {
  bool claimed = true;
  slots_.work = [&](const SweepRun& run) {
    claimed = claimed && has_live_worker(run.planned.paths.folder);
    record(run, "done");
    return 0;
  };
  run();
  EXPECT_TRUE(claimed);
  EXPECT_EQ(slots_.started.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(has_live_worker(folder_of(i)));
}

TEST_F(SharedListTest, AWorkerThatNeverGetsTheLockIsStartedNoMoreOftenThanOthers) {
  slots_.work = [&](const SweepRun&) {
    if (slots_.started.size() > 20) throw std::logic_error("it is started for ever");
    return static_cast<int>(kFailed);  // its program cannot be started, for example
  };
  const LaunchReport report = run();
  EXPECT_EQ(slots_.started.size(), 3U);
  EXPECT_EQ(report.ended.size(), 3U);
}

TEST_F(SharedListTest, RunsThatOthersHaveDoneOrFailedSinceAreLeftAlone) {
  record(item(0), "done");
  record(item(1), "failed");
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(2).id()));
}

TEST_F(SharedListTest, WhatIsToBeStoppedIsNotTakenUntilItIsSubmittedAgain) {
  request_stop(folder_of(1));
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id(), item(2).id()));
  EXPECT_EQ(finished_lists(list_.runs).size(), 0U) << "there is no list yet";
  write_work_list(list_);
  EXPECT_EQ(finished_lists(list_.runs).size(), 1U);
  submit_runs(list_);
  EXPECT_EQ(finished_lists(list_.runs).size(), 0U);
  run();
  EXPECT_EQ(slots_.started.back(), item(1).id());
}

TEST_F(SharedListTest, RunsOfOtherWorkersAreNotWaitedFor) {
  const RunLock other(folder_of(1));
  EXPECT_FALSE(run().interrupted);
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id(), item(2).id()));
}

TEST_F(SharedListTest, ARunWhoseWorkerGoesMeanwhileIsTakenAtTheEnd) {
  auto other = std::make_unique<RunLock>(folder_of(0));
  slots_.work = [&](const SweepRun& run) {
    other.reset();
    record(run, "done");
    return 0;
  };
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(1).id(), item(2).id(), item(0).id()));
}

TEST_F(SharedListTest, ARunThatKillsItsWorkerIsGivenUpAfterThreeTimesAndItsJournalSaysSo) {
  slots_.work = [&](const SweepRun& run) {
    if (run.id() == item(0).id()) {
      record(run, "running");
      return 128 + 9;
    }
    record(run, "done");
    return 0;
  };
  const LaunchReport report = run();
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id(), item(1).id(), item(2).id(), item(0).id(), item(0).id()));
  const auto given_up = read_live_run(folder_of(0));
  EXPECT_EQ(given_up.status, RunStatus::kFailed);
  EXPECT_THAT(given_up.reason, HasSubstr("3 times in a row"));
  EXPECT_EQ(report.ended.size(), 1U);
}

TEST_F(SharedListTest, AWorkerThatFindsOnlyRunsWithAnUnfinishedSourceStopsAndReturnsLater) {
  list_.items[1].source = item(0).id();
  const RunLock other(folder_of(0));
  EXPECT_TRUE(run().interrupted);
  EXPECT_THAT(slots_.started, ElementsAre(item(2).id()));
}

TEST_F(SharedListTest, TheQueueSaysWhyAWorkerIsGoneAndTheJournalKeepsIt) {
  Journal(item(0).planned.paths.journal())
      .append("state", {{"state", "running"}, {"host", "node7"}, {"job", "here:12_3"}});
  settings_.job_state = [](const std::string& job) { return job == "here:12_3" ? "NODE_FAIL" : ""; };
  run();
  EXPECT_EQ(slots_.started.size(), 3U);
  const auto read = read_live_run(folder_of(0));
  ASSERT_GE(read.history.size(), 3U);
  EXPECT_EQ(read.history[2].cause, "node");
  EXPECT_EQ(read.history[2].reason, "its worker is gone (job 12_3 on node7: NODE_FAIL)");
}

TEST_F(SharedListTest, KilledWorkersOfOtherSchedulersCountIfNoCheckpointFollowed) {
  for (int time = 0; time < 3; ++time) record(item(0), "running");
  for (int time = 0; time < 3; ++time) record(item(1), "running");
  Journal(item(1).planned.paths.journal()).append("checkpoint", {{"step", 4}, {"file", "checkpoints/4"}});
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(1).id(), item(2).id()));
  EXPECT_EQ(read_live_run(folder_of(0)).status, RunStatus::kFailed);
}

TEST_F(SharedListTest, EarlyStoppingReadsAGrowingJournalOnceForEachTakenRun) {
  list_.early_stopping = EarlyStopping{.measure = "valid.loss", .rungs = {5}, .keep = 0.5};
  list_.items[2].action = SweepAction::kSkip;  // another worker's, which goes on all the time
  slots_.work = [&](const SweepRun& run) {
    record(item(2), "running");
    record(run, "done");
    return 0;
  };
  settings_.finished = [&] { record(item(2), "running"); };
  ReadCounter reads(RunPaths{folder_of(2)}.journal());
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id(), item(1).id()));
  EXPECT_EQ(reads.count(), 2 + 2) << "for the board and the rungs at first, and after each of the two";
}

TEST_F(SharedListTest, NoRunIsBegunThatWouldNotBeFinishedInTime) {
  std::vector<double> asked;
  settings_.enough_time = [&](double longest) {
    asked.push_back(longest);
    return now_ + longest < 15;
  };
  slots_.work = [&](const SweepRun& run) {
    now_ += 10;
    record(run, "done");
    return 0;
  };
  EXPECT_TRUE(run().interrupted) << "runs are left";
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id()));
  EXPECT_GE(asked.front(), 10) << "no question before the first";
}

TEST_F(SharedListTest, NoRunIsBegunThatThePaceOfFinishedOnesCannotFinishInTime) {
  Journal(item(2).planned.paths.journal()).append("checkpoint", {{"step", 8}, {"file", "checkpoints/8"}});
  std::vector<double> asked;
  settings_.seconds_per_step = 7;
  settings_.enough_time = [&](double seconds) {
    asked.push_back(seconds);
    return now_ + seconds < 40;
  };
  slots_.work = [&](const SweepRun& run) {
    now_ += 10;  // shorter than by the pace: another worker had done most of it
    record(run, "done");
    return 0;
  };
  EXPECT_TRUE(run().interrupted) << "runs are left";
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id()));
  EXPECT_THAT(asked, ElementsAre(70)) << "ten steps of seven seconds, not the ten seconds that one took here";
  record(item(1), "done");
  asked.clear();
  slots_.work = [&](const SweepRun& run) {
    now_ += 5;
    record(run, "done");
    return 0;
  };
  record(item(0), "queued");
  EXPECT_FALSE(run().interrupted);
  EXPECT_THAT(asked, ElementsAre(14)) << "two steps of seven seconds are left";
}

TEST_F(SharedListTest, WithEarlyStoppingTimeIsNeededOnlyToTheNextRung) {
  list_.early_stopping = EarlyStopping{.measure = "valid.loss", .rungs = {4}};
  settings_.seconds_per_step = 7;
  std::vector<double> asked;
  settings_.enough_time = [&](double seconds) {
    asked.push_back(seconds);
    return false;
  };
  slots_.work = [&](const SweepRun& run) {
    now_ += 10;
    record(run, "done");
    return 0;
  };
  EXPECT_TRUE(run().interrupted);
  EXPECT_THAT(asked, ElementsAre(28)) << "four steps of seven seconds";
}

TEST_F(SharedListTest, WithoutTimeNothingIsLeftIfOthersHaveDoneTheRest) {
  settings_.enough_time = [](double) { return false; };
  slots_.work = [&](const SweepRun&) {
    now_ += 10;
    for (const SweepRun& one : list_.items) record(one, "done");
    return 0;
  };
  EXPECT_FALSE(run().interrupted);
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id()));
}

TEST_F(SharedListTest, ASubmissionQueuesAgainWhatFailedBeforeIt) {
  record(item(0), "failed");
  record(item(1), "done");
  for (SweepRun& run : list_.items) look_at(run, false);
  submit_runs(list_);
  queue_failed_runs(list_);
  EXPECT_EQ(read_live_run(folder_of(0)).status, RunStatus::kQueued);
  EXPECT_EQ(read_live_run(folder_of(1)).status, RunStatus::kDone);
  run();
  EXPECT_THAT(slots_.started, ElementsAre(item(0).id(), item(2).id()));
}

TEST_F(SharedListTest, IsWrittenAndReadBackWhereverItsFolderIs) {
  list_.cores = 3;
  list_.anyway = true;
  list_.items[1].planned.options.train.processes = 8;
  write_work_list(list_);
  EXPECT_THAT(list_.name, testing::MatchesRegex("spans-of-heads-[0-9a-f]{8}"));
  fs::rename(folder_.path() / "runs", folder_.path() / "moved");
  const WorkList read = read_work_list(folder_.path() / "moved" / ".workers" / list_.name / "work.json");
  EXPECT_EQ(read.name, list_.name);
  EXPECT_EQ(read.cores, 3);
  EXPECT_TRUE(read.anyway);
  ASSERT_EQ(read.items.size(), 3U);
  EXPECT_EQ(read.items[1].planned.paths.folder, folder_.path() / "moved" / item(1).id());
  EXPECT_EQ(read.items[1].planned.options.train.steps, 10);
  EXPECT_EQ(read.items[1].planned.options.device, "cpu");
  EXPECT_EQ(most_processes(read.items), 8) << "for which a worker has GPUs and cores";
  EXPECT_EQ(read.items[2].planned.options.train.processes, 1);
}

TEST_F(SharedListTest, ADamagedListIsRefused) {
  const fs::path file = folder_.path() / "work.json";
  for (const char* text :
       {"[]", R"({"cores": 1, "anyway": false})", R"({"cores": 1, "anyway": false, "runs": [{"id": "x", "steps": 1}]})",
        R"({"cores": 1, "anyway": false, "runs": [{"id": "x", "device": 7, "steps": 1}]})",
        R"({"cores": 1, "anyway": false, "runs": [{"id": "../x", "device": "cpu", "steps": 1}]})"}) {
    write_file(file, text);
    EXPECT_THAT([&] { read_work_list(file); },
                ThrowsMessage<DataError>(AllOf(HasSubstr(file.string()), Not(HasSubstr("exception")))))
        << "in words";
  }
}

TEST_F(SharedListTest, HasTheSameNameOnlyForTheSameSweep) {
  const fs::path runs = folder_.path() / "runs";
  EXPECT_EQ(make_work_list("Spans of heads", runs, list_.items).name, list_.name);
  EXPECT_NE(make_work_list("Spans of heads", folder_.path() / "other", list_.items).name, list_.name);
  EXPECT_NE(make_work_list("Spans of heads", runs, {item(0)}).name, list_.name);
}

}  // namespace
}  // namespace xlm
