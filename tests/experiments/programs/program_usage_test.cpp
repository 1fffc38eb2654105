// What foreign programs use: memory of all their processes, times, and how a lack of memory is told.
#include <sys/resource.h>

#include "experiments/programs/program_process.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class ProgramUsageTest : public ProgramsFixture {};

TEST_F(ProgramUsageTest, MemoryOfTheWholeGroupIsMeasured) {
  constexpr double kMebibyte = 1048576;
  // Two processes that hold 60 MiB each at the same time, and 60 MiB that they share.
  const ProgramCommand what = command({"python3", "-c",
                                       "import os, time\n"
                                       "shared = bytearray(60 << 20)\n"
                                       "for i in range(0, len(shared), 4096): shared[i] = 1\n"
                                       "os.fork()\n"
                                       "own = bytearray(60 << 20)\n"
                                       "for i in range(0, len(own), 4096): own[i] = 1\n"
                                       "time.sleep(2.5)\n"});
  const ProgramEnd end = run_to_end(what);
  EXPECT_GT(end.usage.peak_memory, 180 * kMebibyte);
  EXPECT_LT(end.usage.peak_memory, 220 * kMebibyte) << "what they share counts once";
}

TEST_F(ProgramUsageTest, TimesAndTheLargestProcessAreMeasured) {
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  // A peak between two looks, perhaps. It counts if it is more than the process had from which the program was forked.
  const std::int64_t bytes = own.ru_maxrss * 1024 + 100000000;
  const ProgramEnd end = run_to_end(command({"python3", "-c",
                                             fmt::format("import time\n"
                                                         "end = time.process_time() + 0.5\n"
                                                         "while time.process_time() < end: pass\n"
                                                         "x = b'1' * {}\n"
                                                         "del x\n"
                                                         "time.sleep(0.3)\n",
                                                         bytes)}));
  EXPECT_GT(end.usage.processor_seconds, 0.5);
  EXPECT_GT(end.usage.wall_seconds, 0.8);
  EXPECT_GT(end.usage.peak_memory, static_cast<double>(bytes));
  EXPECT_LT(end.usage.peak_memory, static_cast<double>(bytes) + 100000000);
}

TEST_F(ProgramUsageTest, AChildsProcessorTimeCounts) {
  // Nothing waits for the child but the watcher.
  const ProgramEnd end = run_to_end(command({"python3", "-c",
                                             "import os, time\n"
                                             "begun, ended = os.pipe()\n"
                                             "if os.fork() == 0:\n"
                                             "    os.setsid()\n"
                                             "    end = time.process_time() + 0.4\n"
                                             "    while time.process_time() < end: pass\n"
                                             "    os._exit(0)\n"
                                             "os.close(ended)\n"
                                             "os.read(begun, 1)\n"}));
  EXPECT_GT(end.usage.processor_seconds, 0.4);
}

TEST_F(ProgramUsageTest, OutOfMemoryIsToldFromWhatItSays) {
  const ProgramEnd python = run_to_end(command({"python3", "-c", "x = bytearray(1 << 60)"}));
  EXPECT_EQ(python.memory, MemoryShortage::kHost);
  EXPECT_EQ(reason_of(python), "out of memory: MemoryError");
  const ProgramEnd cuda =
      run_to_end(shell("echo 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.' >&2; exit 1"));
  EXPECT_EQ(cuda.memory, MemoryShortage::kDevice);
  EXPECT_THAT(reason_of(cuda), HasSubstr("Tried to allocate 2.00 GiB"));
  const ProgramEnd done = run_to_end(shell("echo 'CUDA out of memory: trying a smaller batch'; exit 0"));
  EXPECT_EQ(done.memory, MemoryShortage::kNone) << "it got on";
  EXPECT_EQ(run_to_end(shell("echo 'No MemoryError here'; exit 1")).memory, MemoryShortage::kNone);
}

TEST_F(ProgramUsageTest, OutOfMemoryIsToldFromTheSystemsKills) {
  std::int64_t kills = 5;
  const auto counted = [&kills](ProgramCommand what) {
    what.memory_kills = [&kills] { return kills; };
    return what;
  };
  ProgramCommand killed = counted(shell("echo once; kill -KILL $$"));
  killed.output = [&kills](std::string_view) { ++kills; };  // while it runs
  EXPECT_EQ(reason_of(run_to_end(killed)), "out of memory: the system killed it");
  EXPECT_EQ(reason_of(run_to_end(counted(shell("echo once; kill -KILL $$")))), "signal 9 (Killed)")
      << "by another process";
  ProgramCommand error = counted(shell("echo once; exit 1"));
  error.output = [&kills](std::string_view) { ++kills; };
  EXPECT_EQ(reason_of(run_to_end(error)), "exit code 1") << "some other process was killed";
  ProgramCommand loader = counted(shell("echo 'DataLoader worker (pid 12) is killed by signal: Killed.'; exit 1"));
  loader.output = [&kills](std::string_view) { ++kills; };
  EXPECT_EQ(run_to_end(loader).memory, MemoryShortage::kHost);
}

}  // namespace
}  // namespace xlm
