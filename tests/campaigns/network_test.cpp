// Two machines share their work by a network file system. Each is a separate client with its own caches.
//
// XLM_TEST_NETWORK=/mnt/a:/mnt/b names two mounts of one such file system on this machine. A machine is a namespace of
// mounts, processes and host names, in which one of the two is mounted where the work is. Needs root.
#include <linux/magic.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include <fstream>
#include <numeric>
#include <random>

#include <fmt/ranges.h>

#include "base/text.h"
#include "experiments/runs/run_lock.h"
#include "tests/campaigns/campaign.h"
#include "tests/needs.h"

namespace xlm {
namespace {

class NetworkTest : public Campaign {
 protected:
  enum class Machine { kFirst, kSecond };

  void SetUp() override {
    const char* named = std::getenv("XLM_TEST_NETWORK");
    if (named == nullptr) GTEST_SKIP() << needs::kNetwork;
    const std::vector<std::string> mounts = split(named, ':');
    ASSERT_EQ(mounts.size(), 2U) << "XLM_TEST_NETWORK is not of the form /mnt/a:/mnt/b";
    const std::string name = folder_.path().filename().string();
    if (::unshare(CLONE_NEWNS) != 0) GTEST_SKIP() << needs::kRoot;
    first_ = fs::path(mounts[0]) / name;
    second_ = fs::path(mounts[1]) / name;
    fs::create_directory(first_);
    ASSERT_TRUE(fs::exists(second_)) << mounts[0] << " and " << mounts[1] << " are not the same";
    // This process sees what the first machine sees.
    fs::create_directory(work_);
    ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
    ASSERT_EQ(::mount(first_.c_str(), work_.c_str(), nullptr, MS_BIND, nullptr), 0);
    begin_round();
    fs::copy(data_, work_ / "data", fs::copy_options::recursive);
    write_file(work_ / "run.yaml", run_config("data"));
  }

  void TearDown() override {
    if (runs_.parent_path() != work_) return;
    ::umount2(work_.c_str(), MNT_DETACH);
    fs::remove_all(first_);
  }

  /// The program on that machine, with its store. `or_code` is an exit code that is accepted besides 0.
  std::vector<std::string> words_on(Machine machine, const std::string& arguments, int or_code = 0,
                                    const std::string& settings = "") const {
    const bool first = machine == Machine::kFirst;
    const std::string place = fmt::format("mount --bind '{0}' '{1}' && cd '{1}' || exit 99",
                                          (first ? first_ : second_).string(), work_.string());
    const std::string program = fmt::format("{} '{}' {} --runs '{}' --store '{}' </dev/null", settings, XLM_FAKE_BINARY,
                                            arguments, runs_.string(), store_of(machine).string());
    return on_machine(first ? "node-a" : "node-b",
                      fmt::format("{}\n{}; code=$?; [ $code = {} ] || exit $code", place, program, or_code));
  }
  ProgramResult run_on(Machine machine, const std::string& arguments, const std::string& settings = "") const {
    return BackgroundProgram(words_on(machine, arguments, 0, settings), folder_.path()).wait();
  }

  static Machine machine_of(int number) { return number % 2 == 0 ? Machine::kFirst : Machine::kSecond; }

  void write_seeds(int count) const {
    std::vector<int> seeds(static_cast<std::size_t>(count));
    std::iota(seeds.begin(), seeds.end(), 1);
    write_file(work_ / "sweep.yaml",
               run_config("data", fmt::format("sweep: {{grid: {{seed: [{}]}}}}\n", fmt::join(seeds, ", "))));
  }

  /// Waits until caches are out of date, so that this process sees everything. GlusterFS caches files' sizes and times
  /// for 1 s, in a separate process. NFS caches folders for up to 60 s, in the kernel.
  static void let_caches_go() {
    ::sleep(2);
    std::ofstream("/proc/sys/vm/drop_caches") << 2;
  }

  /// Waits until that program has begun a run or has ended, and then for a random time.
  void let_work(const BackgroundProgram& worker, std::mt19937& random, int most_ms) const {
    until([&] {
      if (!worker.is_running()) return true;
      if (!fs::exists(runs_)) return false;
      const std::vector<fs::path> folders = run_folders();
      return std::any_of(folders.begin(), folders.end(), has_live_worker);
    });
    ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(0, most_ms)(random)));
  }

  /// Whether a lock on a file also updates caches, as on NFS, so that one machine reads what another wrote under a
  /// lock. There the machines share a store; elsewhere each has its own (docs/store.md).
  bool locks_keep_caches_true() const {
    struct ::statfs status {};
    return ::statfs(first_.c_str(), &status) == 0 && status.f_type == NFS_SUPER_MAGIC;
  }
  fs::path store_of(Machine machine) const {
    if (locks_keep_caches_true()) return runs_ / "results.db";
    return folder_.path() / fmt::format("{}-{}.db", machine == Machine::kFirst ? "first" : "second", round_);
  }

  /// The work continues in a folder that does not exist yet.
  void begin_round() { runs_ = work_ / fmt::format("runs-{}", ++round_); }

  /// Checks the content of both machines' stores, as they are and rebuilt.
  void expect_stores(const std::string& undisturbed) const {
    let_caches_go();
    for (const std::string again : {"", " --rebuild"}) {
      for (const Machine machine : {Machine::kFirst, Machine::kSecond}) {
        const ProgramResult synced = run_on(machine, "runs sync" + again);
        EXPECT_EQ(synced.code, 0) << synced.err;
        let_caches_go();
        EXPECT_EQ(text_of_store(store_of(machine)), undisturbed) << again;
      }
    }
  }

  int round_ = 0;
  fs::path work_ = folder_.path() / "work";
  fs::path first_;
  fs::path second_;
};

TEST_F(NetworkTest, ACrowdOnTwoMachinesSharesOneFolder) {
  constexpr int kRuns = 12;
  write_seeds(kRuns);
  const ProgramResult alone = run_on(Machine::kFirst, "sweep sweep.yaml --jobs 2");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const std::string undisturbed = text_of_store(store_of(Machine::kFirst));
  const int rounds = campaign_size(2, 50);
  int done = 0;
  for (; done < rounds && !HasFailure(); ++done) {
    begin_round();
    std::vector<std::unique_ptr<BackgroundProgram>> crowd;
    const auto add = [&](int number, const std::string& arguments, int or_code = 0) {
      crowd.push_back(
          std::make_unique<BackgroundProgram>(words_on(machine_of(number), arguments, or_code), folder_.path()));
    };
    for (int i = 0; i < 6; ++i) add(i, "sweep sweep.yaml --jobs 2");
    // A command may find no runs yet.
    for (int i = 0; i < 4; ++i) add(i, "runs sync", kBadData);
    for (int i = 0; i < 2; ++i) add(i, "runs sync --rebuild", kBadData);
    for (int i = 0; i < 2; ++i) add(i, "runs ls --json", kBadData);
    for (int i = 0; i < 2; ++i) add(i, "pareto --x flops_per_token --y test.bpc", kBadData);
    for (const auto& program : crowd) {
      const ProgramResult result = program->wait();
      EXPECT_EQ(result.code, 0) << result.err;
    }
    let_caches_go();
    for (const fs::path& run : run_folders()) EXPECT_EQ(read_run(run).reason, "") << run;
    expect_all_done(kRuns);
    for (const fs::path& run : run_folders()) EXPECT_EQ(steps(run).size(), 10U) << "done twice: " << run;
    expect_stores(undisturbed);
  }
  report(fmt::format("network: {} crowds of 16 processes on two machines, {} runs each", done, kRuns));
}

TEST_F(NetworkTest, AnotherMachineResumesALostRun) {
  constexpr int kRuns = 4;
  write_seeds(kRuns);
  ASSERT_EQ(run_on(Machine::kFirst, "sweep sweep.yaml --jobs 2").code, 0);
  const std::string undisturbed = text_of_store(store_of(Machine::kFirst));
  order("pace=10");
  std::mt19937 random(17);
  const int wanted = campaign_size(4, 100);
  int killed = 0;
  while (killed < wanted && !HasFailure()) {
    begin_round();
    for (int turn = 0;; ++turn) {
      BackgroundProgram worker(words_on(machine_of(turn), "sweep sweep.yaml --jobs 2"), folder_.path());
      if (turn < 4) {
        let_work(worker, random, 400);
        worker.kill_group(SIGKILL);
      }
      const ProgramResult result = worker.wait();
      let_caches_go();
      if (result.code == 0) break;
      ASSERT_TRUE(turn < 4 && result.code == 128 + SIGKILL) << result.code << " " << result.err;
      ++killed;
      if (!fs::exists(runs_)) continue;
      // As if three minutes had passed: the other machine may take the locks.
      for (const fs::path& run : run_folders()) let_lock_age(run);
    }
    expect_all_done(kRuns);
    expect_stores(undisturbed);
  }
  report(fmt::format("network: {} kills, each followed by the other machine", killed));
}

TEST_F(NetworkTest, ASleeperThatWakesChangesNothing) {
  ASSERT_EQ(run_on(Machine::kFirst, "train run.yaml").code, 0);
  const std::string undisturbed = text_of_store(store_of(Machine::kFirst));
  order("pace=10");
  std::mt19937 random(19);
  const int wanted = campaign_size(3, 50);
  int lost = 0;
  int round = 0;
  for (; round < wanted && !HasFailure(); ++round) {
    begin_round();
    let_caches_go();
    BackgroundProgram sleeper(words_on(machine_of(round), "train run.yaml"), folder_.path());
    let_work(sleeper, random, 120);
    sleeper.kill_group(SIGSTOP);
    let_caches_go();
    // The other machine's clock is ahead, so that the sleeper's lock has expired there.
    const ProgramResult second = run_on(machine_of(round + 1), "train run.yaml", preload() + " XLM_CLOCK_AHEAD=200");
    EXPECT_EQ(second.code, 0) << second.err;
    sleeper.kill_group(SIGCONT);
    const ProgramResult woken = sleeper.wait();
    const bool taken = woken.code == 1 && woken.err.find("taken over") != std::string::npos;
    const bool done = woken.code == 0 && woken.err.find("is done already") != std::string::npos;
    EXPECT_TRUE(taken || done || second.err.find("is done already") != std::string::npos) << woken.err;
    lost += taken ? 1 : 0;
    expect_stores(undisturbed);
  }
  report(fmt::format("network: {} takeovers by the other machine, {} of a worker that was at work", round, lost));
}

}  // namespace
}  // namespace xlm
