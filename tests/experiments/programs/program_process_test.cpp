// Foreign programs as processes: how they are started, what they inherit, what they say, and how they end.
#include "experiments/programs/program_process.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/experiments/programs/programs_fixture.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

class ProgramProcessTest : public ProgramsFixture {
 protected:
  std::string start_error(const ProgramCommand& what) {
    return thrown_message([&] { ProgramProcess program(what); });
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

TEST_F(ProgramProcessTest, AProgramThatRemovesItsFolderEndsAsUsual) {
  create_folders(at("code"));
  ProgramCommand what = shell("rm -rf ../code; echo removed; exit 3");
  what.folder = at("code");
  what.log = at("output.txt");
  EXPECT_EQ(run_to_end(what).code, 3);
  EXPECT_EQ(read_file(at("output.txt")), "removed\n");
}

TEST_F(ProgramProcessTest, TheTerminalAndOtherGroupsDoNotReachIt) {
  run_to_end(shell("ps -o sid= -p $$; echo $$"));
  const std::vector<std::string> lines = split(output_, '\n');
  EXPECT_EQ(trim(lines.at(0)), lines.at(1)) << "it leads its own session";
}

}  // namespace
}  // namespace xlm
