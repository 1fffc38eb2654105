// Foreign programs that are stopped or killed: nothing is left of them, whichever process dies first.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "experiments/programs/process_tree.h"
#include "experiments/programs/program_process.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

class ProgramLeftovers : public ProgramsFixture {};

TEST_F(ProgramLeftovers, AskedToStopItSavesAndEnds) {
  ProgramProcess program(shell("trap 'echo saved; exit 0' TERM; echo ready; while :; do sleep 0.05; done"));
  await_output(program, "ready");
  program.stop();
  const ProgramEnd end = run_to_end(program);
  EXPECT_TRUE(end.stopped);
  EXPECT_FALSE(end.killed);
  EXPECT_EQ(end.code, 0);
  EXPECT_THAT(output_, HasSubstr("saved\n"));
}

TEST_F(ProgramLeftovers, AnEndBeforeTheStopIsNotOurs) {
  ProgramProcess program(shell("exit 4"));
  std::this_thread::sleep_for(milliseconds(300));
  program.stop();
  const ProgramEnd end = run_to_end(program);
  EXPECT_FALSE(end.stopped);
  EXPECT_EQ(end.code, 4);
}

TEST_F(ProgramLeftovers, WhoIgnoresSigtermIsKilledAfterTheGrace) {
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

TEST_F(ProgramLeftovers, AHaltedProgramIsStopped) {
  ProgramProcess program(shell("trap 'echo saved; exit' TERM; echo ready; kill -STOP $$; sleep 1000"));
  await_output(program, "ready");
  std::this_thread::sleep_for(milliseconds(100));
  program.stop();
  run_to_end(program);
  EXPECT_THAT(output_, HasSubstr("saved"));
}

TEST_F(ProgramLeftovers, ChildrenThatLeaveTheGroupAreAskedAndEndedToo) {
  write_script("child.sh", "#!/bin/bash\ntrap 'echo asked; exit' TERM\necho child=$$\nwhile :; do sleep 0.05; done\n");
  ProgramCommand what = shell(
      "setsid ./child.sh & (setsid ./child.sh &) ; trap 'sleep 0.3; exit 0' TERM; echo main=$$; while :; do "
      "sleep 0.05; done");
  what.stop_all = true;
  ProgramProcess program(what);
  await_output(program, "main=");
  while (said("child").size() < 2) program.poll(milliseconds(20));
  program.stop();
  const ProgramEnd end = run_to_end(program);
  const std::vector<std::string> lines = split(output_, '\n');
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "asked"), 2) << output_;
  EXPECT_EQ(end.left, 0) << "they ended when they were asked";
  for (const pid_t child : said("child")) EXPECT_FALSE(lives(child));
}

TEST_F(ProgramLeftovers, WhatAProgramLeavesBehindIsEnded) {
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

TEST_F(ProgramLeftovers, AProgramThatKeepsChangingItsProcessIsEnded) {
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

TEST_F(ProgramLeftovers, HelpersThatEndByThemselvesDoNotCount) {
  const ProgramEnd end = run_to_end(shell("(sleep 0.2; echo helped) & exit 0"));
  EXPECT_EQ(end.left, 0);
  EXPECT_EQ(output_, "helped\n");
}

TEST_F(ProgramLeftovers, NothingIsLeftWhenTheObjectIsGone) {
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

TEST_F(ProgramLeftovers, ACallbackThatThrowsPassesOnAndNothingIsLeft) {
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

TEST_F(ProgramLeftovers, NothingIsLeftWhenTheWorkerIsKilled) {
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

TEST_F(ProgramLeftovers, NothingIsLeftWhenTheWatcherIsKilled) {
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

TEST_F(ProgramLeftovers, ItsFirstProcessDiesWithItsWatcherEvenWithoutTheWorker) {
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

TEST_F(ProgramLeftovers, WhatAnEarlierAttemptLeftIsKilledFirst) {
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

TEST_F(ProgramLeftovers, WhoLooksForWhatIsLeftDoesNotKillItself) {
  const std::string owner = "/runs/own";
  if (std::getenv(kOwnerVariable) == nullptr) {  // this test once more, in a program that has the variable
    ProgramCommand what = command(
        {fs::read_symlink("/proc/self/exe").string(), "--gtest_filter=ProgramLeftovers.WhoLooksForWhatIsLeft*"});
    what.owner = owner;
    EXPECT_TRUE(run_to_end(what).is_success()) << output_;
    EXPECT_THAT(output_, HasSubstr("[  PASSED  ] 1 test."));
    return;
  }
  std::int64_t left = 0;
  EXPECT_EQ(kill_with_variable(kOwnerVariable, owner, 1, left), 0);
}

}  // namespace
}  // namespace xlm
