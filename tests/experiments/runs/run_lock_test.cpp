#include "experiments/runs/run_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/json.h"
#include "results/run_folder/journal.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A process that has exited.
ProcessIdentity dead_process() {
  ProcessIdentity identity = this_process();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  identity.pid = child;
  return identity;
}

ProcessIdentity process_elsewhere() { return {.host = "node7", .machine = "another boot", .pid = 12, .started = 34}; }

void write_lock(const fs::path& folder, int token, const ProcessIdentity& holder) {
  const Json content = {
      {"host", holder.host}, {"machine", holder.machine}, {"pid", holder.pid}, {"started", holder.started}};
  write_file(folder / ("lock." + std::to_string(token)), content.dump());
}

TEST(Process, TellsLiveProcessesFromDeadOnes) {
  EXPECT_EQ(liveness(this_process()), Liveness::kAlive);
  EXPECT_EQ(liveness(dead_process()), Liveness::kGone);
  EXPECT_EQ(liveness(process_elsewhere()), Liveness::kUnknown);
  ProcessIdentity nowhere = dead_process();
  nowhere.machine.clear();  // of a container that hides what it runs on
  EXPECT_EQ(liveness(nowhere), Liveness::kUnknown);
}

TEST(Process, IsTheSameToOthersAsToItself) {
  const ProcessIdentity parent = this_process();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(liveness(parent) == Liveness::kAlive ? 0 : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "also in qemu-user";
}

TEST(Process, ANumberUsedAgainIsAnotherProcess) {
  ProcessIdentity earlier = this_process();
  earlier.started -= 1;
  EXPECT_EQ(liveness(earlier), Liveness::kGone);
}

TEST(RunLock, IsHeldUntilDestroyed) {
  const TemporaryFolder folder;
  EXPECT_FALSE(has_live_worker(folder.path()));
  {
    const RunLock lock(folder.path());
    EXPECT_EQ(lock.token(), 1);
    EXPECT_TRUE(lock.still_owner());
    EXPECT_TRUE(has_live_worker(folder.path()));
  }
  EXPECT_FALSE(has_live_worker(folder.path()));
}

TEST(RunLock, RefusesWhileALiveWorkerHoldsIt) {
  const TemporaryFolder folder;
  const RunLock lock(folder.path());
  EXPECT_THAT([&] { const RunLock second(folder.path()); },
              ThrowsMessage<RunLockedError>(HasSubstr("process " + std::to_string(::getpid()))));
  EXPECT_TRUE(lock.still_owner());
}

TEST(RunLock, TokensContinueAboveTheJournalsIfLockFilesAreLost) {
  const TemporaryFolder folder;
  Journal(folder.path() / "journal.jsonl", nullptr, 7).append("state", {{"state", "running"}});
  Journal(folder.path() / "journal.jsonl", nullptr, 5).append("message", {{"text", "of one that was replaced"}});
  EXPECT_EQ(RunLock(folder.path()).token(), 8);
  EXPECT_EQ(RunLock(folder.path()).token(), 9) << "the files are there again";
}

TEST(RunLock, ATokenThatNoWorkerIsGivenIsNone) {
  for (const char* token :
       {"9223372036854775807", "9223372036854775806", "1000000000001", "0", "-1", "99999999999999999999"}) {
    const TemporaryFolder folder;
    write_file(folder.path() / (std::string("lock.") + token), "");
    EXPECT_FALSE(read_lock(folder.path()).held) << token;
    Journal(folder.path() / "journal.jsonl").append("state", {{"state", "running"}, {"token", kHighestToken + 1}});
    EXPECT_EQ(RunLock(folder.path()).token(), 1) << token;
    EXPECT_EQ(RunLock(folder.path()).token(), 2) << token;
  }
}

TEST(RunLock, ATimeFarAheadIsNoHeartbeat) {
  const TemporaryFolder folder;
  write_lock(folder.path(), 3, process_elsewhere());
  const double written = wall_seconds();
  const auto held_when_clock_says = [&](double now) {
    return read_lock(folder.path(), {.clock = [now] { return now; }, .holder = {}}).held;
  };
  EXPECT_TRUE(held_when_clock_says(written + 100));
  EXPECT_TRUE(held_when_clock_says(written - 3000)) << "that machine's clock is ahead";
  EXPECT_FALSE(held_when_clock_says(written - 4000));
}

TEST(RunLock, TokensGrowAndOldFilesAreCleanedUp) {
  const TemporaryFolder folder;
  for (int token = 1; token <= 3; ++token) EXPECT_EQ(RunLock(folder.path()).token(), token);
  EXPECT_FALSE(fs::exists(folder.path() / "lock.1"));
  EXPECT_FALSE(fs::exists(folder.path() / "lock.2"));
  EXPECT_TRUE(fs::exists(folder.path() / "lock.3"));
}

TEST(RunLock, IsTakenOverAtOnceFromADeadProcess) {
  const TemporaryFolder folder;
  write_lock(folder.path(), 4, dead_process());
  EXPECT_FALSE(has_live_worker(folder.path()));
  EXPECT_EQ(RunLock(folder.path()).token(), 5);
}

TEST(RunLock, AHolderElsewhereIsGoneOnlyAfterMissedHeartbeats) {
  const TemporaryFolder folder;
  write_lock(folder.path(), 1, process_elsewhere());
  LockSettings settings;
  settings.clock = [] { return wall_seconds() + 100; };
  EXPECT_TRUE(read_lock(folder.path(), settings).held);
  EXPECT_THROW(RunLock(folder.path(), settings), RunLockedError);
  settings.clock = [] { return wall_seconds() + 200; };
  settings.heartbeat = 0.01;
  EXPECT_FALSE(read_lock(folder.path(), settings).held);
  EXPECT_EQ(RunLock(folder.path(), settings).token(), 2);
}

TEST(RunLock, AHolderWhoseClockIsBehindLivesWhileItsHeartbeatChanges) {
  const TemporaryFolder folder;
  const fs::path behind = folder.path() / "runs/a";
  const fs::path gone = folder.path() / "runs/b";
  fs::create_directories(behind);
  fs::create_directories(gone);
  write_lock(behind, 1, process_elsewhere());
  write_lock(gone, 1, process_elsewhere());
  const fs::path closed = folder.path() / "runs/of another user";  // to all but root
  fs::create_directories(closed);
  fs::permissions(closed, fs::perms::none);
  const auto beat = [](const fs::path& run, double time) {
    const timespec at{static_cast<std::time_t>(time), 0};
    const timespec both[2] = {at, at};
    ::utimensat(AT_FDCWD, (run / "lock.1").c_str(), both, 0);
  };
  const double now = std::floor(wall_seconds());
  beat(behind, now - 300);
  beat(gone, now - 300);
  std::atomic<bool> ended = false;
  std::thread holder([&] {
    for (int i = 0; !ended; ++i) {
      beat(behind, now - (i % 2 == 0 ? 299 : 301));  // steps of its clock back and forth
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  LockSettings settings;
  settings.heartbeat = 60;  // far more than it waits here
  EXPECT_TRUE(read_lock(behind, settings).held);
  EXPECT_THROW(RunLock(behind, settings), RunLockedError);
  settings.heartbeat = 0.01;
  EXPECT_FALSE(read_lock(gone, settings).held);
  ended = true;
  holder.join();
  EXPECT_TRUE(read_lock(behind, settings).held) << "for three minutes by this machine's clock";
  settings.stale_after = 0;
  EXPECT_FALSE(read_lock(behind, settings).held);
}

TEST(RunLock, IsHandedOverOnlyByTheNamedProcess) {
  const TemporaryFolder folder;
  LockSettings elsewhere;
  elsewhere.holder = process_elsewhere();
  const RunLock claim(folder.path(), elsewhere);
  LockSettings other;
  other.from = this_process();
  EXPECT_THROW(RunLock(folder.path(), other), RunLockedError);
  LockSettings heir;
  heir.from = process_elsewhere();
  const RunLock lock(folder.path(), heir);
  EXPECT_EQ(lock.token(), 2);
  EXPECT_FALSE(claim.still_owner());
}

/// The variables that Slurm sets for array task 3 of job 12.
class InJob {
 public:
  explicit InJob(const char* restarts) {
    ::setenv("SLURM_CLUSTER_NAME", "alps", 1);
    ::setenv("SLURM_ARRAY_JOB_ID", "12", 1);
    ::setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    ::setenv("SLURM_RESTART_COUNT", restarts, 1);
  }
  InJob(const InJob&) = delete;
  InJob& operator=(const InJob&) = delete;
  ~InJob() {
    for (const char* name : {"CLUSTER_NAME", "ARRAY_JOB_ID", "ARRAY_TASK_ID", "RESTART_COUNT"}) {
      ::unsetenv((std::string("SLURM_") + name).c_str());
    }
  }
};

TEST(RunLock, ARestartedJobTakesItsOwnLockAtOnce) {
  const TemporaryFolder folder;
  ProcessIdentity before = process_elsewhere();  // the job's first start was on another machine
  before.job = "alps:12_3";
  LockSettings first;
  first.holder = before;
  const RunLock lost(folder.path(), first);
  EXPECT_TRUE(has_live_worker(folder.path())) << "as others see it, until its heartbeats are missed";
  {
    const InJob same_start("0");
    EXPECT_EQ(this_process().job, "alps:12_3");
    EXPECT_TRUE(has_live_worker(folder.path())) << "another process of the same start";
  }
  const InJob second_start("1");
  EXPECT_FALSE(has_live_worker(folder.path()));
  EXPECT_EQ(RunLock(folder.path()).token(), 2);
}

/// So a kill at any moment leaves a lock with its holder, or none.
TEST(RunLock, ItsFileIsNeverSeenWithoutItsHolder) {
  const TemporaryFolder folder;
  std::atomic<bool> ended = false;
  std::atomic<int> empty = 0;
  std::thread reader([&] {
    while (!ended) {
      for (std::int64_t token = 1; token <= 200; ++token) {
        struct stat status {};
        const fs::path file = folder.path() / fmt::format("lock.{}", token);
        if (::stat(file.c_str(), &status) == 0 && status.st_size == 0) ++empty;
      }
    }
  });
  for (int i = 0; i < 200; ++i) RunLock(folder.path(), {});
  ended = true;
  reader.join();
  EXPECT_EQ(empty.load(), 0);
}

TEST(RunLock, AFileWithoutContentCountsAsHeldUntilItIsOld) {
  const TemporaryFolder folder;
  write_file(folder.path() / "lock.1", "");
  EXPECT_THROW(RunLock(folder.path(), {}), RunLockedError);
  LockSettings later;
  later.heartbeat = 0.01;
  later.clock = [] { return wall_seconds() + 200; };
  EXPECT_EQ(RunLock(folder.path(), later).token(), 2);
}

TEST(RunLock, TheOldHolderLosesItAndDoesNotReleaseTheNewOne) {
  const TemporaryFolder folder;
  LockSettings elsewhere;
  elsewhere.holder = process_elsewhere();
  auto old = std::make_unique<RunLock>(folder.path(), elsewhere);
  LockSettings late;
  late.heartbeat = 0.01;
  late.clock = [] { return wall_seconds() + 200; };
  const RunLock next(folder.path(), late);
  EXPECT_FALSE(old->still_owner());
  old.reset();
  EXPECT_TRUE(next.still_owner());
  EXPECT_TRUE(read_lock(folder.path()).held);
}

TEST(RunLock, ANumberThatAFasterOneHasUsedAlreadyIsNotTaken) {
  const TemporaryFolder folder;
  write_lock(folder.path(), 4, process_elsewhere());
  LockSettings settings;
  settings.heartbeat = 0.01;
  settings.clock =
      [&] {  // while this one looks, another takes 5 over, is taken over by 6, and the files are cleaned up
        if (fs::exists(folder.path() / "lock.4")) {
          write_lock(folder.path(), 6, this_process());
          fs::remove(folder.path() / "lock.4");
        }
        return wall_seconds() + 200;
      };
  EXPECT_THROW(RunLock(folder.path(), settings), RunLockedError);
  EXPECT_EQ(read_lock(folder.path()).token, 6);
  EXPECT_FALSE(fs::exists(folder.path() / "lock.5")) << "it leaves nothing";
}

TEST(RunLock, HeartbeatTouchesTheFile) {
  const TemporaryFolder folder;
  LockSettings settings;
  settings.heartbeat = 0.001;
  const RunLock lock(folder.path(), settings);
  const fs::path file = folder.path() / "lock.1";
  const timespec past[2] = {{1000, 0}, {1000, 0}};
  ::utimensat(AT_FDCWD, file.c_str(), past, 0);
  struct stat status {};
  do {
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
  } while (status.st_mtim.tv_sec == 1000);  // ends by the test's time limit if the heart does not beat
  EXPECT_GT(status.st_mtim.tv_sec, 1000);
}

TEST(RunLock, ExactlyOneOfManyThreadsWinsEachGeneration) {
  const TemporaryFolder folder;
  for (int generation = 1; generation <= 20; ++generation) {
    std::atomic<int> waiting{4};
    std::atomic<int> tried{0};
    std::atomic<int> won{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0) {
        }
        try {
          const RunLock lock(folder.path());
          ++won;
          EXPECT_EQ(lock.token(), generation);
          ++tried;
          while (tried < 4) {  // holds it until all have tried
          }
        } catch (const RunLockedError&) {
          ++tried;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(won, 1);
  }
}

int count(const fs::path& folder, const std::string& prefix) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().rfind(prefix, 0) == 0) ++found;
  }
  return found;
}

/// A process that tries to take the lock. The one that gets it holds it until the other two are refused.
[[noreturn]] void contend(const fs::path& run, int number) {
  try {
    while (!fs::exists(run / "go")) {
    }
    const RunLock lock(run);
    write_file(run / ("won." + std::to_string(lock.token())), "");
    while (count(run, "refused.") < 2) {
    }
  } catch (const RunLockedError&) {
    write_file(run / ("refused." + std::to_string(number)), "");
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

TEST(RunLock, ExactlyOneOfSeveralProcessesTakesOverFromADeadOne) {
  const TemporaryFolder folder;
  for (int round = 0; round < 10; ++round) {
    const fs::path run = folder.path() / std::to_string(round);
    create_folders(run);
    write_lock(run, 1, dead_process());
    std::vector<pid_t> children;
    for (int i = 0; i < 3; ++i) {
      const pid_t child = ::fork();
      if (child == 0) contend(run, i);
      children.push_back(child);
    }
    write_file(run / "go", "");
    for (const pid_t child : children) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
    EXPECT_TRUE(fs::exists(run / "won.2"));
    EXPECT_EQ(count(run, "won."), 1);
    EXPECT_EQ(count(run, "refused."), 2);
  }
}

}  // namespace
}  // namespace xlm
