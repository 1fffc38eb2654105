// Runs of a user's program that jobs of a real Slurm and a local sweep do together, under all faults of a cluster.
#include <optional>

#include "tests/campaign_size.h"
#include "tests/campaigns/slurm_events.h"
#include "tests/campaigns/user_programs.h"
#include "tests/experiments/program_of_user_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

constexpr std::size_t kProgramRuns = 4;
constexpr const char* kKillOfProgram = "kill -9 of a program";

class SlurmTestPrograms : public ProgramOfUser {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << needs::kSlurm;
    slurm_.start(6);
    std::string script = kTrainingScript;
    const std::string step = "    state[\"step\"] += 1\n";
    script.insert(script.find(step), "    time.sleep(0.05)\n");
    write_script("train.py", script);
    configure_training("  grace: 5\n", "resources: {cpus: 1, time: 10min}\nsweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  }

  void TearDown() override { slurm_.stop(); }

  bool all_done() const { return count_done(run_folders()) == kProgramRuns; }

  bool happens(const std::string& event, BackgroundProgram& local) {
    if (event == kKillOfProgram) return events_.kill_one_of(trainings_in(folder_.path()));
    return events_.happens(event, local);
  }

  LocalSlurm slurm_{folder_.path()};
  SlurmEvents events_{slurm_, folder_.path(), runs_, 17};
};

TEST_F(SlurmTestPrograms, EveryRunIsDoneOnceAndWholeDespiteFaults) {
  const std::vector<std::string> kinds{
      kKillOfProgram, kKillOfProgram, "kill -9 of a run's process", "kill -9 of a job's worker", "requeue",
      "scancel",      "preemption",   "kill -9 of the local sweep"};
  const int wanted = campaign_size(5, 150);
  int rounds = 0;
  for (; events_.happened() < wanted; ++rounds) {
    fs::remove_all(runs_);
    const auto submit_jobs = [&] { return run({"sweep", "run.yaml", "--launcher", "slurm", "--jobs", "3"}).code; };
    ASSERT_EQ(submit_jobs(), kDone);
    std::optional<BackgroundProgram> local;
    const auto start_local = [&] {
      local.emplace(std::vector<std::string>{XLM_FAKE_BINARY, "sweep", "run.yaml", "--jobs", "1"}, folder_.path());
    };
    start_local();
    while (!all_done()) {
      events_.pause(50, 600);
      const std::string& event = kinds[events_.pick(kinds.size())];
      if (events_.happened() < wanted && happens(event, *local)) events_.count(event);
      slurm_.start_requeued();
      if (!local->is_running()) {  // it was killed, or its runs failed or run elsewhere: a user starts it again
        local->wait();
        submit_jobs();
        start_local();
      }
    }
    local->wait();
    LocalSlurm::until([&] {  // no job is left
      slurm_.start_requeued();
      return slurm_.jobs().empty();
    });
    ASSERT_EQ(run_folders().size(), kProgramRuns);
    for (const fs::path& folder : run_folders()) {
      const xlm::Run read = read_live_run(folder);
      expect_whole(read);
      const auto done = [](const RunState& state) { return state.state == name_of(RunStatus::kDone); };
      EXPECT_EQ(std::count_if(read.history.begin(), read.history.end(), done), 1) << folder;
    }
    until([&] { return trainings_in(folder_.path()).empty(); });
  }
  report(fmt::format("Slurm with a program: {} events in {} sweeps of {} runs{}", events_.happened(), rounds,
                     kProgramRuns, events_.by_kind()));
}

}  // namespace
}  // namespace xlm
