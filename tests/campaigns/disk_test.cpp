// File systems that are full, that grow slowly, or that lose what was not yet on the disk.
#include <random>

#include "tests/campaigns/campaign.h"
#include "tests/needs.h"

namespace xlm {
namespace {

/// Mounts a separate file system at `runs`; needs root.
class DiskTest : public Campaign {
 protected:
  ~DiskTest() override { shell(folder_.path(), "umount -q -l runs; umount -q -l disk"); }

  void mount(const std::string& what) {
    fs::create_directories(runs_);
    mounted_ = shell(folder_.path(), "mount " + what).code == 0;
  }

  ProgramResult sweep() { return run({"sweep", "sweep.yaml", "--jobs", "2"}); }

  bool mounted_ = false;
};

TEST_F(DiskTest, AFullDiskIsAnErrorAndTheWorkResumesLater) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  ASSERT_EQ(sweep().code, 0);
  const std::string undisturbed = store();
  fs::remove_all(runs_);
  const auto program = static_cast<int>(fs::file_size(XLM_FAKE_BINARY) / 1024);
  const int sizes = campaign_size(5, 60);
  int full = 0;
  for (int i = 0; i < sizes; ++i) {
    // From nothing to the size of the program's copy, and up to what the runs need besides.
    const int kilobytes = i % 3 == 0 ? 8 + i * program / sizes : program + 64 + 4 * i;
    SCOPED_TRACE(fmt::format("{} kB", kilobytes));
    mount(fmt::format("-t tmpfs -o size={}k tmpfs runs", kilobytes));
    if (!mounted_) GTEST_SKIP() << needs::kRoot;
    const ProgramResult first = sweep();
    if (first.code != 0) {
      ++full;
      EXPECT_TRUE(first.code == kOutOfResources || first.code == kFailed) << first.code << first.err;
      EXPECT_NE((first.err + first.out).find("No space left on device"), std::string::npos) << first.err << first.out;
    }
    ASSERT_EQ(shell(folder_.path(), "mount -o remount,size=1g runs").code, 0);
    const ProgramResult second = sweep();
    EXPECT_EQ(second.code, 0) << second.err;
    expect_all_done(3);
    EXPECT_EQ(store(), undisturbed);
    EXPECT_EQ(store(true), undisturbed);
    ASSERT_EQ(shell(folder_.path(), "umount runs").code, 0);
  }
  EXPECT_GT(full, 0);
  report(fmt::format("disks: {} sizes, full in {}", sizes, full));
}

/// Simulates a power failure: only what has reached the block device remains. The processes are halted, and the device
/// is copied without telling its file system.
class PowerTest : public DiskTest {
 protected:
  void SetUp() override {
    DiskTest::SetUp();
    write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
    ASSERT_EQ(sweep().code, 0);
    undisturbed_ = store();
    fs::remove_all(runs_);
    fs::create_directories(folder_.path() / "disk");
    mount("-t tmpfs -o size=1g tmpfs disk");
    if (!mounted_) GTEST_SKIP() << needs::kRoot;
    if (shell(folder_.path(), "command -v mkfs.ext4").code != 0) GTEST_SKIP() << needs::kFileSystem;
  }

  void at_the_shell(const std::string& command) {
    const ProgramResult result = shell(folder_.path(), command);
    ASSERT_EQ(result.code, 0) << command << "\n" << result.err;
  }

  /// The power fails when `moment` returns, and the sweep is started again. Returns how many runs were reported as done
  /// by then; -1 if there is no loop device.
  int sweep_without_power(const std::function<void()>& moment) {
    fs::create_directories(runs_);
    at_the_shell("truncate -s 128M disk/before && mkfs.ext4 -q -F disk/before");
    if (shell(folder_.path(), "mount -o loop,commit=300 disk/before runs").code != 0) return -1;
    std::set<std::string> done;
    {
      auto running = start({"sweep", "sweep.yaml", "--jobs", "2"});
      moment();
      running.kill_group(SIGSTOP);
      at_the_shell("cp disk/before disk/after");
      // A run that is reported as done now must be done after the failure, too.
      for (const auto& entry : fs::directory_iterator(runs_)) {
        if (fs::exists(entry.path() / "journal.jsonl") && read_run(entry.path()).status == RunStatus::kDone) {
          done.insert(entry.path().filename());
        }
      }
      running.kill_group(SIGKILL);
      running.wait();
      until([&] { return shell(folder_.path(), "umount runs").code == 0; });  // when the workers have ended too
      at_the_shell("mount -o loop,commit=300 disk/after runs");
      for (const std::string& run : done) {
        EXPECT_EQ(read_run(runs_ / run).status, RunStatus::kDone) << run;
        EXPECT_TRUE(fs::exists(runs_ / run / "model" / "model.safetensors"));
      }
    }
    let_time_pass();  // a lock without content counts until it is stale
    order("pace=10");
    const ProgramResult second = sweep();
    EXPECT_EQ(second.code, 0) << second.err;
    EXPECT_NE(second.out.find("4 of 4 runs done"), std::string::npos) << second.out;
    EXPECT_EQ(store(), undisturbed_);
    EXPECT_EQ(store(true), undisturbed_);
    at_the_shell("umount runs && rm disk/before disk/after");
    return static_cast<int>(done.size());
  }

  std::string undisturbed_;
};

TEST_F(PowerTest, LosesNothingThatWasReportedAsDone) {
  std::mt19937 random(17);
  const int failures = campaign_size(3, 100);
  int unfinished = 0;
  int said_done = 0;
  order("pace=10");
  for (int i = 0; i < failures; ++i) {
    const int done = sweep_without_power(
        [&] { ::usleep(static_cast<useconds_t>(1000 * std::uniform_int_distribution<int>(20, 500)(random))); });
    if (done < 0) GTEST_SKIP() << needs::kFileSystem;
    said_done += done;
    unfinished += done < 4 ? 1 : 0;
  }
  report(fmt::format("power failures: {}, {} of them during the work; {} runs had been reported as done", failures,
                     unfinished, said_done));
}

/// A checkpoint may be on the disk without its record. A worker that resumes from it has all earlier records.
TEST_F(PowerTest, ACheckpointIsNoNewerThanItsJournal) {
  order("halt-saved=4");
  const int done = sweep_without_power([&] {
    until([&] {
      const std::vector<fs::path> runs = run_folders();
      return std::count_if(runs.begin(), runs.end(), [](const fs::path& run) {
               const fs::path saved = run / "checkpoints" / "step";
               return fs::exists(saved) && read_file(saved) == "4";
             }) == 2;
    });
  });
  if (done < 0) GTEST_SKIP() << needs::kFileSystem;
  EXPECT_EQ(done, 0);
}

}  // namespace
}  // namespace xlm
