// Campaigns with a user's program in place of core: kills, takeovers, crowds, a full disk, a flood of output.
#include <memory>
#include <random>

#include <gmock/gmock.h>

#include "tests/campaigns/campaign.h"
#include "tests/campaigns/user_programs.h"
#include "tests/experiments/program_of_user_fixture.h"
#include "tests/needs.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProgramCampaign : public ProgramOfUser {
 protected:
  /// A training whose 20 steps take a while.
  void configure_slow(const std::string& seeds) {
    std::string script = kTrainingScript;
    const std::string step = "    state[\"step\"] += 1\n";
    script.insert(script.find(step), "    time.sleep(0.02)\n");
    write_script("train.py", script);
    configure_training("  grace: 5\n", fmt::format("sweep: {{grid: {{seed: [{}]}}}}\n", seeds));
  }

  std::vector<pid_t> programs() const { return trainings_in(folder_.path()); }

  void expect_all_whole(std::size_t count) const {
    ASSERT_EQ(run_folders().size(), count);
    for (const fs::path& folder : run_folders()) expect_whole(read_live_run(folder));
    until([&] { return programs().empty(); });
  }

  static std::int64_t attempts(const fs::path& folder) {
    const std::vector<RunState> history = read_live_run(folder).history;
    return std::count_if(history.begin(), history.end(), [](const RunState& s) { return s.state == "running"; });
  }
};

TEST_F(ProgramCampaign, KillsOfSweepWorkerAndProgramLoseNothing) {
  configure_slow("1, 2, 3, 4");
  std::mt19937 random(5);
  std::map<std::string, int> kills;
  const int wanted = campaign_size(9, 300);
  int killed = 0;
  int rounds = 0;
  for (; killed < wanted; ++rounds) {
    fs::remove_all(runs_);
    for (bool done = false; !done;) {
      BackgroundProgram sweep = start({"sweep", "run.yaml", "--jobs", "2"});
      const int aim = std::uniform_int_distribution<int>(0, 2)(random);
      while (aim != 0 && sweep.is_running() && (aim == 1 ? children_of(sweep.pid()) : programs()).empty())
        ::usleep(1000);
      ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(5, 700)(random)));
      const std::vector<pid_t> aims = aim == 1 ? children_of(sweep.pid()) : programs();
      if (killed < wanted && sweep.is_running()) {
        if (aim == 0) sweep.kill(SIGKILL);
        const bool hit = aim == 0 || (!aims.empty() && ::kill(aims[random() % aims.size()], SIGKILL) == 0);
        killed += hit ? 1 : 0;
        if (hit) ++kills[aim == 0 ? "the sweep" : aim == 1 ? "a worker" : "a program"];
      }
      done = sweep.wait().code == kDone;
    }
    expect_all_whole(4);
  }
  std::string by_aim;
  for (const auto& [aim, count] : kills) by_aim += fmt::format(", {} {}", aim, count);
  report(fmt::format("kills with a program: {} in {} sweeps of 4 runs{}", killed, rounds, by_aim));
}

TEST_F(ProgramCampaign, ACrowdDoesEachRunOnce) {
  configure_slow("1, 2, 3, 4, 5, 6");
  const int rounds = campaign_size(1, 20);
  for (int round = 0; round < rounds; ++round) {
    fs::remove_all(runs_);
    std::vector<std::unique_ptr<BackgroundProgram>> crowd;
    for (int i = 0; i < 8; ++i) {
      crowd.push_back(std::make_unique<BackgroundProgram>(
          std::vector<std::string>{XLM_FAKE_BINARY, "sweep", "run.yaml", "--jobs", "1"}, folder_.path()));
    }
    for (const auto& one : crowd) EXPECT_EQ(one->wait().code, kDone);
    expect_all_whole(6);
    for (const fs::path& folder : run_folders()) EXPECT_EQ(attempts(folder), 1) << "done twice: " << folder;
  }
  report(fmt::format("crowds with a program: {} of 8 sweeps, 6 runs each", rounds));
}

/// The halted worker's program goes on meanwhile: who takes the run over ends it first.
TEST_F(ProgramCampaign, AWorkerThatIsHaltedAndReplacedChangesNothing) {
  if (shell(folder_.path(), "unshare --pid --fork --mount-proc true").code != 0) {
    GTEST_SKIP() << needs::kRoot;
  }
  configure_slow("1");
  std::mt19937 random(13);
  const int rounds = campaign_size(2, 50);
  for (int round = 0; round < rounds; ++round) {
    fs::remove_all(runs_);
    BackgroundProgram first(
        {"/usr/bin/unshare", "--pid", "--fork", "--mount-proc", "--kill-child", XLM_FAKE_BINARY, "train", "run.yaml"},
        folder_.path());
    until([&] { return !programs().empty(); });
    ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(5, 300)(random)));
    first.kill_group(SIGSTOP);
    const std::string later = fmt::format("{} XLM_CLOCK_AHEAD=200 '{}' train run.yaml", preload(), XLM_FAKE_BINARY);
    const ProgramResult second = shell(folder_.path(), later);
    EXPECT_EQ(second.code, kDone) << second.err;
    expect_whole(only_run());
    const std::string journal = read_file(only_run().folder / "journal.jsonl");
    first.kill_group(SIGCONT);
    first.wait();
    expect_all_whole(1);
    EXPECT_EQ(read_file(only_run().folder / "journal.jsonl"), journal) << "the woken worker has written";
  }
  report(fmt::format("takeovers with a program: {}", rounds));
}

TEST_F(ProgramCampaign, AProgramThatFillsTheDiskFailsAndResumesWhenThereIsRoom) {
  const auto on_disk = [&](const std::string& size, const std::string& before) {
    return shell(folder_.path(),
                 fmt::format("mkdir -p runs && unshare -m /bin/sh -c \"mount -t tmpfs -o size={} none "
                             "runs && cp -r kept/. runs/ 2>/dev/null; {} '{}' train run.yaml; code=\\$?; "
                             "rm -f runs/*/work/big; mkdir -p kept; cp -r runs/. kept/; exit \\$code\"",
                             size, before, XLM_FAKE_BINARY));
  };
  if (shell(folder_.path(), "unshare -m mount -t tmpfs none /mnt").code != 0) GTEST_SKIP() << needs::kRoot;
  std::string script = kTrainingScript;
  const std::string step = "    state[\"step\"] += 1\n";
  script.insert(script.find(step),
                "    if state[\"step\"] == 12 and os.environ.get(\"FILL\"):\n"
                "        with open(\"big\", \"wb\") as file:\n            while True: file.write(bytes(100000))\n");
  write_script("train.py", script);
  configure_training();
  const ProgramResult full = on_disk("8m", "FILL=1");
  EXPECT_NE(full.code, kDone);
  EXPECT_THAT(full.out + full.err, HasSubstr("No space left on device"));
  const ProgramResult enough = on_disk("64m", "");
  EXPECT_EQ(enough.code, kDone) << enough.err;
  fs::remove_all(runs_);
  fs::rename(folder_.path() / "kept", runs_);
  expect_whole(only_run());
}

TEST_F(ProgramCampaign, AFloodOfLinesIsReadToItsEnd) {
  const int lines = campaign_size(100'000, 10'000'000);
  write_script("flood.py",
               "import sys\nn = int(sys.argv[1])\nfor i in range(1, n + 1): print('line', i, 'of a flood')\n"
               "print('step', n, 'loss 0.5')\n");
  configure(fmt::format("[python3, flood.py, '{}']", lines),
            "  metrics: [{lines: 'step (?<step>\\d+) loss (?<loss>\\S+)'}]\n");
  ASSERT_EQ(run({"train", "run.yaml"}).code, kDone);
  EXPECT_EQ(only_run().metrics.at("loss").at(lines), 0.5);
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(only_run().folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  EXPECT_LT(bytes, 50'000'000U);
  report(fmt::format("a flood of {} lines: the run folder has {} bytes", lines, bytes));
}

}  // namespace
}  // namespace xlm
