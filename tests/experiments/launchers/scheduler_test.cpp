// The scheduler with workers and a clock that the test controls.
#include "experiments/launchers/scheduler.h"

#include <gmock/gmock.h>

#include <csignal>
#include <memory>

#include "base/error.h"
#include "experiments/launchers/work_list.h"
#include "experiments/runs/live_run.h"
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
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// Workers that do nothing until the test ends them.
class FakeSlots : public RunSlots {
 public:
  explicit FakeSlots(std::size_t count) : workers_(count) {}

  std::size_t count() const override { return workers_.size(); }

  void start(std::size_t slot, const RunStart& start) override {
    EXPECT_EQ(workers_[slot].run, nullptr) << "the slot is taken";
    if (start.run->id() == refused) throw ResourceError("no room");
    workers_[slot] = {start.run, std::nullopt};
    started.push_back(start.run->id());
  }

  std::optional<int> ended(std::size_t slot) override {
    EXPECT_NE(workers_[slot].run, nullptr) << "the slot is free";
    if (!workers_[slot].code) return std::nullopt;
    return std::exchange(workers_[slot], {}).code;
  }

  void stop(std::size_t slot) override { stopped.push_back(workers_[slot].run->id()); }

  /// Ends the worker of a slot. If a state is given, its journal records it.
  void end(std::size_t slot, int code, const std::string& state = "") {
    if (!state.empty()) {
      Journal(workers_[slot].run->planned.paths.journal()).append("state", {{"state", state}});
    }
    workers_[slot].code = code;
  }

  /// The running run of each slot; "" if the slot is free.
  std::vector<std::string> working() const {
    std::vector<std::string> ids;
    for (const Worker& worker : workers_) ids.push_back(worker.run == nullptr ? "" : worker.run->id());
    return ids;
  }

  std::string refused;
  std::vector<std::string> started;
  std::vector<std::string> stopped;

 private:
  struct Worker {
    const SweepRun* run = nullptr;
    std::optional<int> code;
  };
  std::vector<Worker> workers_;
};

class SchedulerTest : public ::testing::Test {
 protected:
  SchedulerTest() : runs_(folder_.path() / "runs") {
    const fs::path data = make_data(folder_.path() / "data");
    sweep_ = plan_sweep(recipe_of(parse_yaml(run_config(data, "sweep: {grid: {seed: [1, 2, 3]}}\n"), "sweep.yaml")),
                        runs_, false);
    for (const SweepRun& run : sweep_) submit(run.planned);
    settings_.clock = [this] { return now_; };
    settings_.sleep = [this](double seconds) {
      now_ += seconds;
      if (rounds_.empty()) throw std::logic_error("the scheduler waits for something that will not come");
      rounds_.front()();
      rounds_.erase(rounds_.begin());
    };
    settings_.poll_seconds = 1;
    settings_.elsewhere_seconds = 10;
  }

  /// Actions while the scheduler sleeps, one for each time.
  LaunchReport run(FakeSlots& slots, std::vector<std::function<void()>> rounds) {
    rounds_ = std::move(rounds);
    const WorkList list{.name = "sweep", .runs = runs_, .items = sweep_};
    const LaunchReport report = do_list(list, settings_, slots);
    EXPECT_THAT(rounds_, IsEmpty()) << "it did not wait long enough";
    return report;
  }

  /// A run of another sweep, submitted, and on the list of that sweep's workers.
  SweepRun listed_run(std::size_t i) const {
    const std::string grid = "sweep: {grid: {seed: [" + std::to_string(10 + i) + "]}}\n";
    const Yaml tree = parse_yaml(run_config(folder_.path() / "data", grid), "other.yaml");
    const WorkList list = make_work_list("other", runs_, plan_sweep(recipe_of(tree), runs_, false));
    submit_runs(list);
    write_work_list(list);
    return list.items.front();
  }

  const fs::path& folder_of(std::size_t run) const { return sweep_[run].planned.paths.folder; }

  TemporaryFolder folder_;
  fs::path runs_;
  std::vector<SweepRun> sweep_;
  LaunchSettings settings_;
  double now_ = 0;
  std::vector<std::function<void()>> rounds_;
};

TEST_F(SchedulerTest, ASlotThatGetsFreeTakesTheNextRun) {
  FakeSlots slots(2);
  int finished = 0;
  settings_.finished = [&] { ++finished; };
  const LaunchReport report = run(slots, {[&] {
                                            EXPECT_THAT(slots.working(), ElementsAre(sweep_[0].id(), sweep_[1].id()));
                                            slots.end(1, 0, "done");
                                          },
                                          [&] {
                                            EXPECT_THAT(slots.working(), ElementsAre(sweep_[0].id(), sweep_[2].id()));
                                            slots.end(0, 0, "done");
                                            slots.end(1, 4, "diverged");
                                          }});
  EXPECT_FALSE(report.interrupted);
  EXPECT_THAT(report.ended, IsEmpty()) << "their journals say how they ended";
  EXPECT_EQ(finished, 3);
}

TEST_F(SchedulerTest, RunsThatAreDoneOrDivergedAreLeftAlone) {
  sweep_[0].action = SweepAction::kSkip;
  sweep_[2].action = SweepAction::kLeave;
  FakeSlots slots(3);
  run(slots, {[&] { slots.end(0, 0, "done"); }});
  EXPECT_THAT(slots.started, ElementsAre(sweep_[1].id()));
}

TEST_F(SchedulerTest, AWorkerWithoutAFinalRecordFailsOnlyItsRun) {
  FakeSlots slots(1);
  const LaunchReport report =
      run(slots, {[&] { slots.end(0, 128 + 9); }, [&] { slots.end(0, 3); }, [&] { slots.end(0, 0, "done"); }});
  EXPECT_EQ(report.ended.at(sweep_[0].id()), "its worker was killed by signal 9");
  EXPECT_EQ(report.ended.at(sweep_[1].id()), "its worker ended with code 3");
  EXPECT_EQ(report.ended.size(), 2U);
  const auto killed = read_live_run(folder_of(0));
  EXPECT_EQ(killed.status, RunStatus::kFailed);
  EXPECT_EQ(killed.history.back().cause, "killed");
  EXPECT_EQ(read_live_run(folder_of(1)).history.back().cause, "error");
}

TEST_F(SchedulerTest, ARunThatBeginsFromAnotherWaitsForIt) {
  sweep_[0].source = sweep_[2].id();
  FakeSlots slots(2);
  run(slots, {[&] {
                EXPECT_THAT(slots.working(), ElementsAre(sweep_[1].id(), sweep_[2].id()));
                slots.end(0, 0, "done");
              },
              [&] { EXPECT_THAT(slots.working(), ElementsAre("", sweep_[2].id())); }, [&] { slots.end(1, 0, "done"); },
              [] {}, [] {}, [] {}, [] {}, [] {}, [] {}, [] {},  // it looks every ten seconds
              [&] {
                EXPECT_THAT(slots.working(), ElementsAre(sweep_[0].id(), ""));
                slots.end(0, 0, "done");
              }});
}

TEST_F(SchedulerTest, ARunIsGivenUpIfItsSourceIsLostOrHasNoWorker) {
  sweep_[1].source = sweep_[0].id();
  sweep_[2].source = "gone";
  FakeSlots slots(1);
  const LaunchReport report = run(slots, {[&] { slots.end(0, 4, "diverged"); }});
  EXPECT_THAT(slots.started, ElementsAre(sweep_[0].id()));
  EXPECT_THAT(report.ended.at(sweep_[1].id()), testing::HasSubstr("is diverged"));
  EXPECT_THAT(report.ended.at(sweep_[2].id()), testing::HasSubstr("is not done, and no worker is running it"));
}

TEST_F(SchedulerTest, ARunThatNeverAdvancesIsGivenUpAfterThreeTimes) {
  sweep_.resize(1);
  FakeSlots slots(1);
  std::vector<std::function<void()>> rounds(3, [&] { slots.end(0, 128 + SIGXCPU, "running"); });
  const LaunchReport report = run(slots, rounds);
  EXPECT_THAT(report.ended.at(sweep_[0].id()), testing::HasSubstr("3 times in a row"));
  EXPECT_EQ(slots.started.size(), 3U);
  EXPECT_EQ(read_live_run(folder_of(0)).history.back().cause, "time");
}

TEST_F(SchedulerTest, ASourceThatAnotherWorkerMakesIsWaitedFor) {
  sweep_.resize(2);
  sweep_[0].source = sweep_[1].id();
  sweep_[1].action = SweepAction::kSkip;
  auto lock = std::make_unique<RunLock>(folder_of(1));
  FakeSlots slots(1);
  std::vector<std::function<void()>> rounds(5, [&] { EXPECT_THAT(slots.started, IsEmpty()); });
  rounds.emplace_back([&] {
    Journal(
        sweep_[1].planned.paths.journal(), [this] { return now_; }, lock->token())
        .append("state", {{"state", "done"}});
    lock.reset();
  });
  for (int i = 0; i < 5; ++i) rounds.emplace_back([] {});  // it looks every ten seconds
  rounds.emplace_back([&] {
    EXPECT_THAT(slots.started, ElementsAre(sweep_[0].id()));
    slots.end(0, 0, "done");
  });
  EXPECT_THAT(run(slots, rounds).ended, IsEmpty());
}

TEST_F(SchedulerTest, ASourceOnTheListOfAnotherSweepIsWaitedForEvenAfterItsWorkerIsGone) {
  sweep_.resize(2);
  for (const std::size_t i : {0U, 1U}) {
    const SweepRun other = listed_run(i);
    Journal journal(other.planned.paths.journal());
    journal.append("state", {{"state", i == 0 ? "preempted" : "running"}});
    ASSERT_EQ(read_live_run(other.planned.paths.folder).status, i == 0 ? RunStatus::kPreempted : RunStatus::kStale);
    sweep_[i].source = other.id();
    sweep_[1 - i].action = SweepAction::kSkip;
    sweep_[i].action = SweepAction::kRun;
    FakeSlots slots(1);
    std::vector<std::function<void()>> rounds(11, [] {});
    rounds[5] = [&] {
      EXPECT_THAT(slots.started, IsEmpty());
      journal.append("state", {{"state", "done"}});
    };
    rounds.emplace_back([&] {
      EXPECT_THAT(slots.started, ElementsAre(sweep_[i].id()));
      slots.end(0, 0, "done");
    });
    EXPECT_THAT(run(slots, rounds).ended, IsEmpty());
    now_ = 0;
  }
}

TEST_F(SchedulerTest, ASourceOnTheListOfAnotherSweepThatAUserHasStoppedIsNotWaitedFor) {
  sweep_.resize(1);
  const SweepRun other = listed_run(0);
  sweep_[0].source = other.id();
  FakeSlots slots(1);
  std::vector<std::function<void()>> rounds(10, [] {});
  rounds[5] = [&] { request_stop(other.planned.paths.folder); };
  const LaunchReport report = run(slots, rounds);
  EXPECT_THAT(report.ended.at(sweep_[0].id()), testing::HasSubstr("was stopped by xlm runs stop"));
  EXPECT_THAT(slots.started, IsEmpty());
}

TEST_F(SchedulerTest, AWorkerThatCannotBeStartedFailsOnlyItsRun) {
  FakeSlots slots(1);
  slots.refused = sweep_[0].id();
  const LaunchReport report = run(slots, {[&] { slots.end(0, 0, "done"); }, [&] { slots.end(0, 0, "done"); }});
  EXPECT_EQ(report.ended.at(sweep_[0].id()), "no room");
  EXPECT_THAT(slots.started, ElementsAre(sweep_[1].id(), sweep_[2].id()));
}

TEST_F(SchedulerTest, AFailedEvaluationIsAFailureOfAFinishedRun) {
  sweep_[0].evaluations = {{.split = "test", .changes = {{"eval.batch", 4}}}};
  FakeSlots slots(3);
  const LaunchReport report = run(slots, {[&] {
                                    slots.end(0, kFailed, "done");
                                    slots.end(1, kStopped, "done");
                                    slots.end(2, kFailed, "done");  // came too late: another worker had done it all
                                  }});
  EXPECT_EQ(report.ended.size(), 1U);
  EXPECT_THAT(report.ended.at(sweep_[0].id()), testing::HasSubstr("an evaluation failed"));
}

TEST_F(SchedulerTest, AStopIsSentOnceToRunningWorkersAndNoMoreAreStarted) {
  FakeSlots slots(2);
  bool stop = false;
  settings_.should_stop = [&] { return stop; };
  const LaunchReport report = run(slots, {[&] { stop = true; }, [&] { slots.end(0, 75, "preempted"); },
                                          [&] { EXPECT_THAT(slots.working(), ElementsAre("", sweep_[1].id())); },
                                          [&] { slots.end(1, 75, "preempted"); }});
  EXPECT_TRUE(report.interrupted);
  EXPECT_THAT(slots.stopped, ElementsAre(sweep_[0].id(), sweep_[1].id()));
  EXPECT_THAT(slots.started, UnorderedElementsAre(sweep_[0].id(), sweep_[1].id()));
}

TEST_F(SchedulerTest, AWorkerStoppedBeforeItsRunBeganFailsNoRun) {
  sweep_.resize(1);
  FakeSlots slots(1);
  const LaunchReport report = run(slots, {[&] { slots.end(0, kStopped); }});
  EXPECT_THAT(report.ended, IsEmpty());
  EXPECT_EQ(read_live_run(folder_of(0)).status, RunStatus::kQueued);
}

TEST_F(SchedulerTest, ARunOfAnotherWorkerIsCheckedAndTakenOverIfThatIsGone) {
  sweep_.resize(1);
  sweep_[0].action = SweepAction::kWait;
  auto lock = std::make_unique<RunLock>(folder_of(0));
  FakeSlots slots(1);
  std::vector<std::function<void()>> rounds(9, [&] { EXPECT_THAT(slots.started, IsEmpty()); });
  rounds[3] = [&] { lock.reset(); };  // no check for ten seconds
  rounds.emplace_back([&] { EXPECT_THAT(slots.started, IsEmpty()); });
  rounds.emplace_back([&] { slots.end(0, 0, "done"); });
  run(slots, rounds);
  EXPECT_EQ(now_, 11);
}

/// A worker on another list may look at the run between the death of its process and this scheduler's next look.
TEST_F(SchedulerTest, AnAttemptWhoseLossAnotherWorkerHasToldIsNotCountedAgain) {
  sweep_.resize(1);
  settings_.attended = false;
  FakeSlots slots(1);
  const auto append = [&](const Json& state) { Journal(sweep_[0].planned.paths.journal()).append("state", state); };
  const auto lose = [&] {
    append({{"state", "running"}, {"host", "elsewhere"}, {"pid", 1}});
    append({{"state", "queued"}, {"cause", "gone"}, {"reason", "its worker is gone"}});
    slots.end(0, 128 + SIGKILL);
  };
  const LaunchReport report = run(slots, {lose, lose, [&] { slots.end(0, 0, "done"); }});
  EXPECT_THAT(report.ended, IsEmpty());
  EXPECT_EQ(slots.started.size(), 3U);
  const auto done = read_run(folder_of(0));
  EXPECT_EQ(std::count_if(done.history.begin(), done.history.end(), [](const RunState& s) { return !s.cause.empty(); }),
            2);
}

TEST_F(SchedulerTest, ARunThatAnotherWorkerFinishesIsNotStarted) {
  sweep_.resize(1);
  auto lock = std::make_unique<RunLock>(folder_of(0));  // taken between the plan and its turn
  FakeSlots slots(1);
  std::vector<std::function<void()>> rounds(11, [] {});  // the next look is ten seconds after the first
  rounds[5] = [&] {
    Journal(
        sweep_[0].planned.paths.journal(), [this] { return now_; }, lock->token())
        .append("state", {{"state", "done"}});
    lock.reset();
  };
  const LaunchReport report = run(slots, rounds);
  EXPECT_THAT(slots.started, IsEmpty());
  EXPECT_THAT(report.ended, IsEmpty());
}

}  // namespace
}  // namespace xlm
