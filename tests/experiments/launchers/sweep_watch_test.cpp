// Watching a sweep of other workers. The test moves the clock, the workers and the runs.
#include "experiments/launchers/sweep_watch.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/recipe.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SweepWatchTest : public ::testing::Test {
 protected:
  SweepWatchTest() {
    const fs::path data = make_data(folder_.path() / "data");
    const Yaml tree = parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2]}}\n"), "sweep.yaml");
    runs_ = plan_sweep(recipe_of(tree), folder_.path() / "runs", false);
    for (const SweepRun& run : runs_) submit(run.planned);
    settings_.clock = [this] { return now_; };
    settings_.sleep = [this](double /*seconds*/) {
      now_ += 1;
      if (now_ > 10000) throw std::logic_error("it waits for something that will not come");
      if (events_.contains(now_)) events_[now_]();
    };
    settings_.workers = [this] {
      questions_.push_back(now_);
      return workers_;
    };
    settings_.finished = [this] { ++finished_; };
  }

  void end(std::size_t run, const std::string& state) {
    Journal(runs_[run].planned.paths.journal()).append("state", {{"state", state}});
  }

  LaunchReport watch() { return SweepWatch(runs_, settings_).run(); }

  TemporaryFolder folder_;
  std::vector<SweepRun> runs_;
  WatchSettings settings_;
  std::optional<std::vector<QueuedWorker>> workers_{{{.id = "1_0", .state = "PENDING", .waits = true}}};
  std::map<double, std::function<void()>> events_;
  std::vector<double> questions_;
  int finished_ = 0;
  double now_ = 0;
};

TEST_F(SweepWatchTest, EndsWhenEveryRunHasEndedInAnyWay) {
  events_[3] = [&] { end(0, "done"); };
  events_[5] = [&] { end(1, "failed"); };
  EXPECT_FALSE(watch().interrupted);
  EXPECT_EQ(now_, 6) << "it looks every two seconds";
  EXPECT_EQ(finished_, 2);
}

TEST_F(SweepWatchTest, EndsIfNoWorkerIsLeft) {
  events_[25] = [&] { workers_->clear(); };
  EXPECT_FALSE(watch().interrupted);
  EXPECT_THAT(questions_, ElementsAre(10, 20, 40)) << "less often while nothing changes";
}

TEST_F(SweepWatchTest, ARunThatIsBeingDoneIsEnoughToStay) {
  workers_->clear();
  auto lock = std::make_unique<RunLock>(runs_[0].planned.paths.folder);
  end(0, "running");
  events_[100] = [&] {
    end(0, "done");
    end(1, "done");
    lock.reset();
  };
  watch();
  EXPECT_EQ(now_, 100);
}

TEST_F(SweepWatchTest, TheQueueIsAskedLessAndLessButEveryTwoMinutesAtLeast) {
  events_[700] = [&] { workers_->clear(); };
  watch();
  EXPECT_THAT(questions_, ElementsAre(10, 20, 40, 80, 160, 280, 400, 520, 640, 760));
}

TEST_F(SweepWatchTest, StaysUntilTheRunsHaveEndedIfWorkersAreUnknown) {
  workers_ = std::nullopt;
  events_[1000] = [&] {
    end(0, "done");
    end(1, "diverged");
  };
  watch();
  EXPECT_EQ(now_, 1000);
}

TEST_F(SweepWatchTest, AQueueThatDoesNotAnswerForOnceIsAskedAgain) {
  settings_.workers = [&]() -> std::optional<std::vector<QueuedWorker>> {
    questions_.push_back(now_);
    if (questions_.size() == 1) throw Error("no answer");
    return std::vector<QueuedWorker>();
  };
  watch();
  EXPECT_EQ(questions_.size(), 2U);
}

TEST_F(SweepWatchTest, ARunThatIsToBeStoppedHasEnded) {
  request_stop(runs_[0].planned.paths.folder);
  events_[3] = [&] { end(1, "done"); };
  watch();
  EXPECT_EQ(now_, 4);
}

TEST_F(SweepWatchTest, TheBoardShowsTheWorkerOfARunAndWaitingWorkers) {
  workers_ = {{.id = "1_0", .state = "RUNNING", .host = "vm"},
              {.id = "1_1", .state = "PENDING", .reason = "Resources", .waits = true},
              {.id = "1_2", .state = "PENDING", .reason = "Priority", .waits = true}};
  LockSettings settings;
  settings.holder = ProcessIdentity{.host = "node7", .machine = "another", .pid = 12, .job = "local:1_0"};
  const RunLock lock(runs_[0].planned.paths.folder, settings);
  SweepWatch watch(runs_, settings_);
  const std::string text = watch.text({});
  EXPECT_THAT(text, HasSubstr("0 of 2 runs ended, 1 running"));
  EXPECT_THAT(text, HasSubstr("1 worker runs on vm, 2 wait: Priority (1), Resources (1)\n"));
  EXPECT_THAT(text, HasSubstr("starts                        node7 1_0\n"));
  const Json json = watch.json();
  EXPECT_EQ(json["runs"][0]["worker"], "node7 1_0");
  EXPECT_EQ(json["workers"][1]["reason"], "Resources");
}

TEST_F(SweepWatchTest, TheBoardShowsTheStatusOfAStoppedRun) {
  end(0, "preempted");
  EXPECT_EQ(SweepWatch(runs_, settings_).json()["runs"][0]["status"], "preempted");
  for (const SweepRun& run : runs_) request_stop(run.planned.paths.folder);
  const Json stopped = SweepWatch(runs_, settings_).json();
  EXPECT_EQ(stopped["stopped"], 2) << "no worker begins them";
  EXPECT_EQ(stopped["ended"], 0);
  EXPECT_EQ(stopped["runs"][0]["status"], "preempted");
  EXPECT_EQ(stopped["runs"][1]["status"], "queued");
}

TEST_F(SweepWatchTest, AWatchThatStaysNeedsNoWorker) {
  settings_.stay = true;
  workers_->clear();
  settings_.should_stop = [&] { return now_ >= 500; };
  EXPECT_TRUE(watch().interrupted);
}

TEST_F(SweepWatchTest, AStopIsNotPassedToWorkers) {
  settings_.should_stop = [&] { return now_ >= 7; };
  EXPECT_TRUE(watch().interrupted);
  EXPECT_EQ(now_, 7);
}

}  // namespace
}  // namespace xlm
