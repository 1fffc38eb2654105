// A sweep that jobs of a real Slurm and a local sweep do together, under all faults that happen on a cluster.
#include <optional>

#include "experiments/runs/run_lock.h"
#include "tests/campaigns/campaign.h"
#include "tests/campaigns/slurm_events.h"
#include "tests/needs.h"

namespace xlm {
namespace {

constexpr int kRuns = 8;

class SlurmTestCampaign : public Campaign {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(6);
    write_sweep(
        "resources: {cpus: 1, time: 10min}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\n"
        "evaluate: [{split: valid, eval.batch: 3}]\n");
  }

  void TearDown() override { slurm_.stop(); }

  bool all_done() const { return count_done(run_folders()) == kRuns; }

  LocalSlurm slurm_{folder_.path()};
  SlurmEvents events_{slurm_, folder_.path(), runs_, 11};
};

TEST_F(SlurmTestCampaign, EveryRunIsDoneOnceDespiteFaults) {
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "4"}).code, 0);
  const std::string undisturbed = store();
  order("pace=200");
  const std::vector<std::string> kinds{
      "kill -9 of a run's process", "kill -9 of a job's worker", "requeue", "scancel", "suspension", "preemption",
      "kill -9 of the local sweep"};
  const int wanted = campaign_size(10, 200);
  int rounds = 0;
  for (; events_.happened() < wanted; ++rounds) {
    fs::remove_all(runs_);
    ASSERT_EQ(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4"}).code, 0);
    std::optional<BackgroundProgram> local;
    const auto start_local = [&] {
      local.emplace(std::vector<std::string>{XLM_FAKE_BINARY, "sweep", "sweep.yaml", "--jobs", "2"}, folder_.path());
    };
    start_local();
    while (!all_done()) {
      events_.pause(50, 700);
      const std::string& event = kinds[events_.pick(kinds.size())];
      if (events_.happened() < wanted && events_.happens(event, *local)) events_.count(event);
      slurm_.start_requeued();
      if (!local->is_running()) {  // it was killed, or its runs failed or run elsewhere: a user starts it again
        local->wait();
        run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4"});
        start_local();
      }
    }
    local->wait();
    LocalSlurm::until([&] {  // no job is left
      slurm_.start_requeued();
      return slurm_.jobs().empty();
    });
    ASSERT_EQ(run({"sweep", "sweep.yaml"}).code, 0);  // an evaluation may be missing
    expect_all_done(kRuns);
    for (const fs::path& folder : run_folders()) {
      const auto read = read_live_run(folder);
      const auto done = std::count_if(read.history.begin(), read.history.end(),
                                      [](const RunState& state) { return state.state == "done"; });
      EXPECT_EQ(done, 1) << folder;
    }
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
  }
  report(
      fmt::format("Slurm: {} events in {} sweeps of {} runs{}", events_.happened(), rounds, kRuns, events_.by_kind()));
}

}  // namespace
}  // namespace xlm
