// Foreign programs as processes: how they are started, what they inherit, what they say, and how they end.
#include "experiments/programs/program_process.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "experiments/programs/process_tree.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ProgramProcessTest : public ProgramsFixture {
 protected:
  std::string start_error(const ProgramCommand& what) {
    try {
      ProgramProcess program(what);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "it started";
  }
};

TEST_F(ProgramProcessTest, WordsGoThroughUntouched) {
  write_script("say words", "#!/usr/bin/python3\nimport sys\nprint(ascii(sys.argv[1:]))\n");
  const ProgramEnd end = run_to_end(command({"./say words", "two words", "a \"quote\" and 'one'", "$(touch made)",
                                             "`touch made`", "line\nend", "*", "~", ";touch made", "", "\\n", "ü"}));
  EXPECT_TRUE(end.is_success());
  EXPECT_EQ(output_,
            R"(['two words', 'a "quote" and \'one\'', '$(touch made)', '`touch made`', 'line\nend', '*', '~', )"
            R"(';touch made', '', '\\n', '\xfc'])"
            "\n");
  EXPECT_FALSE(fs::exists(at("made")));
}

TEST_F(ProgramProcessTest, ItRunsInItsFolderWithItsEnvironmentAndNoInput) {
  create_folders(at("code"));
  ProgramCommand what =
      shell("pwd -P; echo \"$ADDED|$HOME|$XLM_PROGRAM_OF\"; cat; echo input ended; [ -t 0 ] || echo no terminal");
  what.folder = at("code");
  what.environment = {{"ADDED", "a = $b"}, {"HOME", "/nowhere"}};
  what.owner = "/runs/one";
  run_to_end(what);
  EXPECT_EQ(output_, fs::canonical(at("code")).string() + "\na = $b|/nowhere|/runs/one\ninput ended\nno terminal\n");
}

TEST_F(ProgramProcessTest, PythonsLinesComeWhenTheyArePrinted) {
  ProgramProcess program(command({"python3", "-c", "import time\nprint('begun')\ntime.sleep(1000)"}));
  await_output(program, "begun\n");
}

TEST_F(ProgramProcessTest, FilesOfThisProcessAreNotOpenInItAndLocksEndWithTheirHolder) {
  put(at("lock"), "");
  const int low = ::open(at("lock").c_str(), O_RDONLY);  // without O_CLOEXEC
  const int lock = ::fcntl(low, F_DUPFD, 100);
  ::close(low);
  ASSERT_EQ(::flock(lock, LOCK_EX), 0);
  ProgramProcess program(
      shell("readlink /proc/self/fd/*; ls -l /proc/$PPID/fd | grep -c /lock; echo looked; exec sleep 1000"));
  await_output(program, "looked\n");
  const std::vector<std::string> lines = split(output_, '\n');
  EXPECT_EQ(lines.at(0), "/dev/null");
  EXPECT_THAT(lines.at(1), StartsWith("pipe:"));
  EXPECT_EQ(lines.at(2), lines.at(1));
  EXPECT_THAT(output_, EndsWith("\n0\nlooked\n"));
  EXPECT_EQ(lines.size(), 6U) << output_;
  ::close(lock);
  const int other = ::open(at("lock").c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0) << "neither the program nor its watcher holds it";
  ::close(other);
}

TEST_F(ProgramProcessTest, SignalsAreAsUsualInIt) {
  for (const int signal : {SIGINT, SIGPIPE, SIGCHLD}) std::signal(signal, SIG_IGN);
  run_to_end(command({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}));
  for (const int signal : {SIGINT, SIGPIPE, SIGCHLD}) std::signal(signal, SIG_DFL);
  // Signals 32 and 33 are the C library's own: no program can change them, and it ignores them in what it spawns.
  EXPECT_THAT(output_, MatchesRegex("SigBlk:\t0000000000000000\nSigIgn:\t0000000[01]80000000\n|"
                                    "SigBlk:\t0000000000000000\nSigIgn:\t0000000[01]00000000\n"));
}

TEST_F(ProgramProcessTest, HowItEndsIsTold) {
  EXPECT_TRUE(run_to_end(shell("exit 0")).is_success());
  const ProgramEnd failed = run_to_end(shell("echo it broke >&2; exit 3"));
  EXPECT_FALSE(failed.is_success());
  EXPECT_EQ(reason_of(failed), "exit code 3");
  EXPECT_EQ(failed.last_lines, "it broke");
  EXPECT_EQ(reason_of(run_to_end(shell("kill -SEGV $$"))), "signal 11 (Segmentation fault)");
  EXPECT_EQ(reason_of(run_to_end(shell("bash -c 'kill -SEGV $$'; exit $?"))),
            "exit code 139, as after signal 11 (Segmentation fault)");
  EXPECT_THAT(reason_of(run_to_end(shell("no-such-program"))), HasSubstr("exit code 127: it did not find a command"));
  const ProgramEnd import = run_to_end(command({"python3", "-c", "import no_such_module"}));
  EXPECT_EQ(import.code, 1);
  EXPECT_THAT(import.last_lines, EndsWith("ModuleNotFoundError: No module named 'no_such_module'"));
}

TEST_F(ProgramProcessTest, WhatCannotBeStartedIsToldWithTheFix) {
  EXPECT_THAT(start_error(command({"no-such-program", "x"})),
              AllOf(HasSubstr("no-such-program: no program of that name in PATH"), HasSubstr("install it")));
  EXPECT_THAT(start_error(command({"./missing.sh"})), HasSubstr("No such file or directory"));
  put(at("plain.py"), "print(1)\n");
  EXPECT_THAT(start_error(command({"./plain.py"})), AllOf(HasSubstr("not executable"), HasSubstr("chmod +x")));
  EXPECT_THAT(start_error(command({"plain.py"})), HasSubstr("plain.py is in the folder: name it ./plain.py"));
  write_script("headless.py", "print(1)\n");
  EXPECT_THAT(start_error(command({"./headless.py"})),
              AllOf(HasSubstr("first line"), HasSubstr("[python, headless.py]")));
  write_script("lost.py", "#!/opt/gone/bin/python\n");
  EXPECT_THAT(start_error(command({"./lost.py"})), HasSubstr("the interpreter /opt/gone/bin/python, which cannot be"));
  write_script("env.py", "#!/usr/bin/env no-such-python\n");
  EXPECT_THAT(start_error(command({"./env.py"})),
              AllOf(HasSubstr("env.py begins with #!"), HasSubstr("no-such-python")));
  write_script("windows.sh", "#!/bin/sh\r\necho\r\n");
  EXPECT_THAT(start_error(command({"./windows.sh"})), HasSubstr("dos2unix"));
  fs::create_symlink("/opt/gone/bin/python3", at("python"));
  EXPECT_THAT(start_error(command({"./python"})), HasSubstr("it is a link to /opt/gone/bin/python3, which is missing"));
  EXPECT_THAT(start_error(command({"./"})), HasSubstr("it is a folder"));
  ProgramCommand nowhere = shell("true");
  nowhere.folder = at("nowhere");
  EXPECT_THAT(start_error(nowhere), HasSubstr("nowhere is not there"));
  EXPECT_THAT(start_error(command({})), HasSubstr("program.command"));
  write_script("garbage", std::string("\1\2\0\3", 4));
  EXPECT_THAT(start_error(command({"./garbage"})), HasSubstr("neither a program for this processor nor a script"));
  EXPECT_THAT(start_error(command({"true", std::string(200000, 'x')})), HasSubstr("too long"));
}

TEST_F(ProgramProcessTest, AProgramOfItsOwnPathIsFoundThere) {
  write_script("venv/bin/python-of-mine", "#!/bin/sh\necho mine\n");
  ProgramCommand what = command({"python-of-mine"});
  what.environment["PATH"] = at("venv/bin").string() + ":/usr/bin:/bin";
  run_to_end(what);
  EXPECT_EQ(output_, "mine\n");
}

TEST_F(ProgramProcessTest, AskedToStopItSavesAndEnds) {
  ProgramProcess program(shell("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"));
  await_output(program, "ready");
  program.stop();
  const ProgramEnd end = run_to_end(program);
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.killed);
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(output_, HasSubstr("saved\n"));
}

TEST_F(ProgramProcessTest, AnEndBeforeTheStopIsNotOurs) {
  ProgramProcess program(shell("exit 4"));
  std::this_thread::sleep_for(milliseconds(300));
  program.stop();
  const ProgramEnd end = run_to_end(program);
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.code, 4);
}

TEST_F(ProgramProcessTest, WhoIgnoresSigtermIsKilledAfterTheGrace) {
  ProgramCommand what = shell("trap '' TERM; echo ready; while :; do sleep 0.05; done");
  what.grace = std::chrono::duration<double>(0.5);
  ProgramProcess program(what);
  await_output(program, "ready");
  const auto begin = std::chrono::steady_clock::now();
  program.stop();
  const ProgramEnd end = run_to_end(program);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(500));
  EXPECT_TRUE(end.killed);
  EXPECT_EQ(end.signal, SIGKILL);
  EXPECT_EQ(end.memory, MemoryShortage::kNone);
  EXPECT_THAT(reason_of(end), HasSubstr("did not end in time"));
}

TEST_F(ProgramProcessTest, AHaltedProgramIsStopped) {
  ProgramProcess program(shell("trap 'echo saved; exit' TERM; echo ready; kill -STOP $$; sleep 1000"));
  await_output(program, "ready");
  std::this_thread::sleep_for(milliseconds(100));
  program.stop();
  run_to_end(program);
  EXPECT_THAT(output_, HasSubstr("saved"));
}

TEST_F(ProgramProcessTest, ChildrenThatLeaveTheGroupAreAskedAndEndedToo) {
  write_script("child.sh", "#!/bin/bash\ntrap 'echo asked; exit' TERM\necho child=$$\nwhile :; do sleep 0.05; done\n");
  ProgramProcess program(
      shell("setsid ./child.sh & (setsid ./child.sh &) ; trap 'sleep 0.3; exit 0' TERM; echo main=$$; while :; do "
            "sleep 0.05; done"));
  await_output(program, "main=");
  while (said("child").size() < 2) program.poll(milliseconds(20));
  program.stop();
  const ProgramEnd end = run_to_end(program);
  const std::vector<std::string> lines = split(output_, '\n');
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "asked"), 2) << output_;
  EXPECT_EQ(end.left, 0) << "they ended when they were asked";
  for (const pid_t child : said("child")) EXPECT_FALSE(lives(child));
}

TEST_F(ProgramProcessTest, WhatAProgramLeavesBehindIsEnded) {
  // One that forks twice into its own session, ignores SIGTERM, and holds the output open.
  const ProgramEnd end = run_to_end(command({"python3", "-c",
                                             "import os, signal, time\n"
                                             "if os.fork() == 0:\n"
                                             "    os.setsid()\n"
                                             "    if os.fork() == 0:\n"
                                             "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                                             "        print('child=%d' % os.getpid())\n"
                                             "        time.sleep(1000)\n"
                                             "    os._exit(0)\n"
                                             "time.sleep(0.3)\n"}));
  EXPECT_TRUE(end.is_success());
  EXPECT_EQ(end.left, 1);
  ASSERT_EQ(said("child").size(), 1U);
  EXPECT_FALSE(lives(said("child")[0]));
}

TEST_F(ProgramProcessTest, AProgramThatKeepsChangingItsProcessIsEnded) {
  ProgramCommand what = command({"python3", "-c",
                                 "import os, signal\n"
                                 "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                                 "print('begun')\n"
                                 "while True:\n"
                                 "    if os.fork(): os._exit(0)\n"
                                 "    os.setsid()\n"});
  what.owner = at("run").string();
  ProgramProcess program(what);
  await_output(program, "begun");
  program.kill();
  const ProgramEnd end = run_to_end(program);
  EXPECT_EQ(end.unkillable, 0);
  std::int64_t left = 0;
  EXPECT_EQ(kill_with_variable(kOwnerVariable, what.owner, 1, left), 0) << "none is left to be found";
}

TEST_F(ProgramProcessTest, AProgramThatRemovesItsFolderEndsAsUsual) {
  create_folders(at("code"));
  ProgramCommand what = shell("rm -rf ../code; echo removed; exit 3");
  what.folder = at("code");
  what.log = at("output.txt");
  EXPECT_EQ(run_to_end(what).code, 3);
  EXPECT_EQ(read_file(at("output.txt")), "removed\n");
}

TEST_F(ProgramProcessTest, HelpersThatEndByThemselvesDoNotCount) {
  const ProgramEnd end = run_to_end(shell("(sleep 0.2; echo helped) & exit 0"));
  EXPECT_EQ(end.left, 0);
  EXPECT_EQ(output_, "helped\n");
}

TEST_F(ProgramProcessTest, NothingIsLeftWhenTheObjectIsGone) {
  std::vector<pid_t> pids;
  {
    ProgramProcess program(
        shell("trap '' TERM; for i in 1 2 3; do (setsid bash -c 'trap \"\" TERM; echo child=$$; sleep 1000; sleep "
              "1000' &); done;"
              " echo child=$$; sleep 1000; sleep 1000"));
    while (said("child").size() < 4) program.poll(milliseconds(20));
    pids = said("child");
    EXPECT_THAT(pids, ::testing::Contains(program.pid()));
  }
  ASSERT_EQ(pids.size(), 4U);
  for (const pid_t pid : pids) EXPECT_FALSE(lives(pid)) << pid;
}

TEST_F(ProgramProcessTest, ACallbackThatThrowsPassesOnAndNothingIsLeft) {
  pid_t pid = 0;
  {
    ProgramCommand what = shell("echo word; sleep 1000");
    what.output = [](std::string_view) { throw DataError("a number that is none"); };
    ProgramProcess program(what);
    pid = program.pid();
    EXPECT_THROW(while (program.poll(milliseconds(50))){}, DataError);
    EXPECT_TRUE(lives(pid));
  }
  EXPECT_FALSE(lives(pid));
}

TEST_F(ProgramProcessTest, NothingIsLeftWhenTheWorkerIsKilled) {
  const fs::path log = at("output.txt");
  const pid_t worker = ::fork();
  if (worker == 0) {
    ProgramCommand what = shell(
        "trap '' TERM; (setsid bash -c 'trap \"\" TERM; echo child=$$; sleep 1000; sleep 1000' &);"
        " echo child=$$; sleep 1000; sleep 1000");
    what.output = nullptr;
    what.log = log;
    ProgramProcess program(what);
    while (program.poll(milliseconds(50))) {
    }
    ::_exit(0);
  }
  std::vector<pid_t> pids;
  while (pids.size() < 2) {
    std::this_thread::sleep_for(milliseconds(20));
    if (fs::exists(log)) pids = numbers_behind(read_file(log), "child");
  }
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
  for (const pid_t pid : pids) EXPECT_TRUE(is_gone_soon(pid)) << pid;
}

TEST_F(ProgramProcessTest, NothingIsLeftWhenTheWatcherIsKilled) {
  ProgramProcess program(
      shell("(setsid bash -c 'echo child=$$; sleep 1000; sleep 1000' &); echo watcher=$PPID; echo child=$$; sleep "
            "1000; sleep 1000"));
  while (said("child").size() < 2 || said("watcher").empty()) program.poll(milliseconds(20));
  ::kill(said("watcher")[0], SIGKILL);
  const ProgramEnd end = run_to_end(program);
  EXPECT_FALSE(end.watched);
  EXPECT_FALSE(end.is_success());
  EXPECT_THAT(reason_of(end), HasSubstr("what watches it was killed"));
  for (const pid_t pid : said("child")) EXPECT_FALSE(lives(pid)) << pid;
}

TEST_F(ProgramProcessTest, ItsFirstProcessDiesWithItsWatcherEvenWithoutTheWorker) {
  const fs::path log = at("output.txt");
  const pid_t worker = ::fork();
  if (worker == 0) {
    ProgramCommand what = shell("echo watcher=$PPID; echo child=$$; exec sleep 1000");
    what.output = nullptr;
    what.log = log;
    ProgramProcess program(what);
    while (program.poll(milliseconds(50))) {
    }
    ::_exit(0);
  }
  std::string text;
  while (numbers_behind(text, "child").empty()) {
    std::this_thread::sleep_for(milliseconds(20));
    if (fs::exists(log)) text = read_file(log);
  }
  ::kill(worker, SIGSTOP);  // it does not see the watcher's end
  ::kill(numbers_behind(text, "watcher")[0], SIGKILL);
  EXPECT_TRUE(is_gone_soon(numbers_behind(text, "child")[0]));
  ::kill(worker, SIGKILL);
  ::waitpid(worker, nullptr, 0);
}

TEST_F(ProgramProcessTest, WhatAnEarlierAttemptLeftIsKilledFirst) {
  const std::string owner = at("runs/one").string();
  const auto spawn = [&](const std::string& value) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::setenv(kOwnerVariable, value.c_str(), 1);
      ::execlp("sleep", "sleep", "1000", nullptr);
      ::_exit(1);
    }
    return pid;
  };
  const pid_t earlier = spawn(owner);
  const pid_t another = spawn(owner + "2");
  std::this_thread::sleep_for(milliseconds(200));  // until both have become it
  ProgramCommand what = shell("exit 0");
  what.owner = owner;
  EXPECT_TRUE(run_to_end(what).is_success());
  EXPECT_FALSE(lives(earlier));
  EXPECT_TRUE(lives(another));
  for (const pid_t pid : {earlier, another}) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

TEST_F(ProgramProcessTest, WhoLooksForWhatIsLeftDoesNotKillItself) {
  const std::string owner = "/runs/own";
  if (std::getenv(kOwnerVariable) == nullptr) {  // this test once more, in a program that has the variable
    ProgramCommand what = command(
        {fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=ProgramProcessTest.WhoLooksForWhatIsLeft*"});
    what.owner = owner;
    EXPECT_TRUE(run_to_end(what).is_success()) << output_;
    EXPECT_THAT(output_, HasSubstr("[  PASSED  ] 1 test."));
    return;
  }
  std::int64_t left = 0;
  EXPECT_EQ(kill_with_variable(kOwnerVariable, owner, 1, left), 0);
}

TEST_F(ProgramProcessTest, TheTerminalAndOtherGroupsDoNotReachIt) {
  run_to_end(shell("ps -o sid= -p $$; echo $$"));
  const std::vector<std::string> lines = split(output_, '\n');
  EXPECT_EQ(trim(lines.at(0)), lines.at(1)) << "it leads its own session";
}

TEST_F(ProgramProcessTest, MemoryOfTheWholeGroupIsMeasured) {
  constexpr double kMebibyte = 1048576;
  // Two processes that hold 60 MiB each at the same time, and 60 MiB that they share.
  ProgramCommand what = command({"python3", "-c",
                                 "import os, time\n"
                                 "shared = bytearray(60 << 20)\n"
                                 "for i in range(0, len(shared), 4096): shared[i] = 1\n"
                                 "os.fork()\n"
                                 "own = bytearray(60 << 20)\n"
                                 "for i in range(0, len(own), 4096): own[i] = 1\n"
                                 "time.sleep(2.5)\n"});
  std::size_t most = 0;
  what.sampled = [&most](const std::vector<pid_t>& pids) { most = std::max(most, pids.size()); };
  const ProgramEnd end = run_to_end(what);
  EXPECT_GT(end.usage.peak_memory, 180 * kMebibyte);
  EXPECT_LT(end.usage.peak_memory, 220 * kMebibyte) << "what they share counts once";
  EXPECT_GE(most, 2U);
}

TEST_F(ProgramProcessTest, TimesAndTheLargestProcessAreMeasured) {
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

TEST_F(ProgramProcessTest, AChildsProcessorTimeCounts) {
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

TEST_F(ProgramProcessTest, OutOfMemoryIsToldFromWhatItSays) {
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

TEST_F(ProgramProcessTest, OutOfMemoryIsToldFromTheSystemsKills) {
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
