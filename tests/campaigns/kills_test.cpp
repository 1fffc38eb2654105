// A sweep, its workers or both are killed at random moments, until all runs are done.
#include <random>

#include "tests/campaigns/campaign.h"

namespace xlm {
namespace {

class KillTest : public Campaign {
 protected:
  /// The phase of a worker. Its argument is the run folder, whose journal has its last record.
  static std::string phase_of(pid_t worker) {
    std::ifstream arguments(fmt::format("/proc/{}/cmdline", worker));
    std::string argument;
    fs::path folder;
    while (std::getline(arguments, argument, '\0')) {
      if (argument == "worker" && std::getline(arguments, argument, '\0')) folder = argument;
    }
    std::error_code ignored;
    const fs::path cwd = fs::read_symlink(fmt::format("/proc/{}/cwd", worker), ignored);
    const fs::path journal = cwd / folder / "journal.jsonl";
    if (folder.empty() || !fs::exists(journal, ignored)) return "starting";
    for (const auto& entry : fs::directory_iterator(cwd / folder / "checkpoints", ignored)) {
      if (entry.path().filename().string().starts_with(".")) return "saving";
    }
    const std::string text = read_file(journal);
    const std::vector<std::string> lines = split(trim(text), '\n');
    const auto last_is = [&](std::string_view type) {
      return lines.back().find(fmt::format("\"type\":\"{}\"", type)) != std::string::npos;
    };
    // The further evaluation comes when the run is done. Then the worker only has to end: the sweep updates the store.
    if (text.find("\"state\":\"done\"") != std::string::npos) return last_is("evaluation") ? "ending" : "evaluating";
    if (fs::exists(cwd / folder / "model", ignored)) return "finishing";
    if (last_is("evaluation")) return "evaluating";
    return last_is("metric") || last_is("checkpoint") ? "stepping" : "starting";
  }
};

TEST_F(KillTest, NothingIsLostAndNothingIsDoneTwice) {
  constexpr int kRuns = 6;
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\nevaluate: [{split: valid, eval.batch: 3}]\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
  const std::string undisturbed = store();
  order("pace=15");
  constexpr int kFull = 500;
  const int wanted = campaign_size(12, kFull);
  std::mt19937 random(7);
  std::map<std::string, int> kills;
  std::map<std::string, int> phases;
  int killed = 0;
  int rounds = 0;
  for (; killed < wanted; ++rounds) {
    fs::remove_all(runs_);
    while (true) {
      auto sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
      // Only a worker, only the sweep, or both: a living sweep notices a killed worker.
      const int aim = std::uniform_int_distribution<int>(0, 2)(random);
      // On a slow machine it takes time until there is a worker to kill.
      while (aim != 0 && sweep.is_running() && children_of(sweep.pid()).empty()) ::usleep(1000);
      ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(5, 500)(random)));
      const std::vector<pid_t> workers = children_of(sweep.pid());
      const pid_t worker = workers.empty() ? 0 : workers[random() % workers.size()];
      const std::string phase = worker == 0 ? "no worker" : phase_of(worker);
      const bool at_worker = aim != 0 && worker != 0 && is_alive(worker) && ::kill(worker, SIGKILL) == 0;
      const bool at_sweep = aim != 1 && sweep.is_running();
      if (at_sweep) sweep.kill(SIGKILL);
      killed += (at_worker ? 1 : 0) + (at_sweep ? 1 : 0);
      if (at_worker || at_sweep) ++phases[phase];
      if (at_worker || at_sweep) ++kills[!at_sweep ? "a worker" : at_worker ? "both" : "the sweep"];
      const int code = sweep.wait().code;
      if (code == 0) break;  // every run is done, one of them at its second attempt
      if (killed >= wanted) {
        ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
        break;
      }
    }
    expect_all_done(kRuns);
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
  }
  std::string by_aim;
  for (const auto& [aim, count] : kills) by_aim += fmt::format(", {} {}", aim, count);
  std::string by_phase;
  for (const auto& [phase, count] : phases) by_phase += fmt::format(", {} {}", count, phase);
  report(fmt::format("kills: {} in {} sweeps of {} runs{}; of workers that were{}", killed, rounds, kRuns, by_aim,
                     by_phase.substr(1)));
  if (wanted < kFull) return;
  for (const char* phase : {"starting", "stepping", "saving", "evaluating", "finishing", "ending"}) {
    EXPECT_GT(phases[phase], 0) << "no kill came while a worker was " << phase;
  }
}

}  // namespace
}  // namespace xlm
