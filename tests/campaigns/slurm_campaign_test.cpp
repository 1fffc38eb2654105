// A sweep that jobs of a real Slurm and a local sweep do together, under all faults that happen on a cluster.
#include <optional>
#include <random>

#include "experiments/runs/run_lock.h"
#include "tests/campaigns/campaign.h"
#include "tests/experiments/slurm_fixture.h"

namespace xlm {
namespace {

constexpr int kRuns = 8;

class SlurmTestCampaign : public Campaign {
 protected:
  void SetUp() override {
    if (LocalSlurm::starter().empty()) GTEST_SKIP() << "XLM_TEST_SLURM names no Slurm to start";
    slurm_.start(6);
    write_sweep(
        "resources: {cpus: 1, time: 10min}\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\n"
        "evaluate: [{split: valid, eval.batch: 3}]\n");
  }

  void TearDown() override { slurm_.stop(); }

  bool all_done() const { return count_done(run_folders()) == kRuns; }

  std::size_t pick(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  /// A process of this sweep whose command line contains `mark`; 0 if there is none.
  pid_t some_process(const std::string& mark) {
    std::vector<pid_t> found;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      std::ifstream file(entry.path() / "cmdline");
      const std::string words{std::istreambuf_iterator<char>(file), {}};
      const bool ours = words.find(runs_.string()) != std::string::npos || words.starts_with("runs/");
      if (pid > 0 && ours && words.find(mark) != std::string::npos) found.push_back(pid);
    }
    return found.empty() ? 0 : found[pick(found.size())];
  }

  bool kill_process(const std::string& mark, int signal) {
    const pid_t pid = some_process(mark);
    return pid > 0 && ::kill(pid, signal) == 0;
  }

  /// Runs a Slurm command on one of the running tasks.
  bool tell(const std::string& what) {
    const std::vector<std::string> running = slurm_.jobs("%i %T");
    std::vector<std::string> tasks;
    for (const std::string& line : running) {
      if (line.ends_with("RUNNING")) tasks.push_back(line.substr(0, line.find(' ')));
    }
    if (tasks.empty()) return false;
    const std::string task = tasks[pick(tasks.size())];
    return shell(folder_.path(), std::regex_replace(what, std::regex("TASK"), task)).code == 0;
  }

  /// Causes an event; false if there is no process that it could hit.
  bool happens(const std::string& event, BackgroundProgram& local) {
    if (event == "kill -9 of a run's process") return kill_process("--threads", SIGKILL);
    if (event == "kill -9 of a job's worker") return kill_process("--sweep", SIGKILL);
    if (event == "requeue") return tell("scontrol requeue TASK");
    if (event == "scancel") return tell("scancel TASK");
    if (event == "suspension") return tell("scontrol suspend TASK && sleep 1; scontrol resume TASK");
    if (event == "preemption") return tell("sbatch -p urgent -n 6 --wrap 'sleep 1'");
    if (!local.is_running()) return false;
    local.kill(SIGKILL);
    return true;
  }

  LocalSlurm slurm_{folder_.path()};
  std::mt19937 random_{11};
};

TEST_F(SlurmTestCampaign, EveryRunIsDoneOnceDespiteFaults) {
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "4"}).code, 0);
  const std::string undisturbed = store();
  order("pace=200");
  const std::vector<std::string> kinds{
      "kill -9 of a run's process", "kill -9 of a job's worker", "requeue", "scancel", "suspension", "preemption",
      "kill -9 of the local sweep"};
  const int wanted = campaign_size(10, 200);
  std::map<std::string, int> events;
  int happened = 0;
  int rounds = 0;
  for (; happened < wanted; ++rounds) {
    fs::remove_all(runs_);
    ASSERT_EQ(run({"sweep", "sweep.yaml", "--launcher", "slurm", "--jobs", "4"}).code, 0);
    std::optional<BackgroundProgram> local;
    const auto start_local = [&] {
      local.emplace(std::vector<std::string>{XLM_FAKE_BINARY, "sweep", "sweep.yaml", "--jobs", "2"}, folder_.path());
    };
    start_local();
    while (!all_done()) {
      ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(50, 700)(random_)));
      const std::string& event = kinds[pick(kinds.size())];
      if (happened < wanted && happens(event, *local)) {
        ++happened;
        ++events[event];
      }
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
  std::string by_kind;
  for (const auto& [kind, count] : events) by_kind += fmt::format(", {} × {}", count, kind);
  report(fmt::format("Slurm: {} events in {} sweeps of {} runs{}", happened, rounds, kRuns, by_kind));
}

}  // namespace
}  // namespace xlm
