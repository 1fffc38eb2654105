// What becomes of a program's output: the log with its limit, the last lines, floods.
#include <sys/resource.h>

#include <csignal>
#include <stdexcept>
#include <thread>

#include "experiments/programs/last_output.h"
#include "experiments/programs/program_log.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(LastOutput, ShowsWhatATerminalWouldShow) {
  EXPECT_EQ(shown_output("\x1b[31mred\x1b[0m \x1b]0;title\aplain\x1b(B\n", 20, 400), "red plain");
  EXPECT_EQ(shown_output("  1%|#   |\r 50%|##  |\r100%|####|\nnext\r\n", 20, 400), "100%|####|\nnext");
  EXPECT_EQ(shown_output("working \\\b|\b/\b- done", 20, 400), "working - done");
  EXPECT_EQ(shown_output("\n\none\n \t\n\ntwo\n\n", 20, 400), "one\ntwo");
  EXPECT_EQ(shown_output("one\ntwo\nthree", 2, 400), "two\nthree");
  EXPECT_EQ(shown_output("", 20, 400), "");
  EXPECT_EQ(shown_output("\x1b[", 20, 400), "");
  EXPECT_EQ(shown_output("a\x1b", 20, 400), "a");
  EXPECT_EQ(shown_output("\x1bP secret \x1b\\shown", 20, 400), "shown");
}

TEST(LastOutput, IsValidUtf8WithoutControlCharacters) {
  EXPECT_EQ(shown_output("a\xff"
                         "b\xc3\n",
                         20, 400),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(shown_output(std::string("a\0b\x01\x7f\n", 6), 20, 400), "ab");
  EXPECT_EQ(shown_output("äöü", 20, 3), "ä…") << "whole characters";
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += std::string(2, static_cast<char>(byte)) + "x\n";
  for (const char c : shown_output(all, 400, 400))
    EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20);
}

TEST(LastOutput, KeepsTheEndOfAnyAmount) {
  LastOutput last;
  for (int i = 0; i < 100000; ++i) last.add(fmt::format("line {}\n", i));
  EXPECT_THAT(last.message(), AllOf(StartsWith("line 99980\n"), EndsWith("line 99999")));
  EXPECT_THAT(last.recent(), StartsWith("line 99800\n"));
  last.add(std::string(1000000, 'x'));
  EXPECT_EQ(last.message(), std::string(400, 'x') + "…");
}

class ProgramLogTest : public ProgramsFixture {};

TEST_F(ProgramLogTest, KeepsBeginningAndEnd) {
  std::string all;
  {
    ProgramLog log(at("output.txt"), 1000);
    for (int i = 0; i < 1000; ++i) {
      const std::string line = fmt::format("line {}\n", i);
      all += line;
      log.write(line);
    }
    EXPECT_EQ(log.failure(), "");
  }
  const std::string head = read_file(at("output.txt"));
  EXPECT_EQ(head.substr(0, 1000), all.substr(0, 1000));
  EXPECT_THAT(head, AllOf(HasSubstr("[xlm: the limit of this file is reached"), HasSubstr("output.end.txt")));
  const std::string tail = read_file(at("output.end.1.txt")) + read_file(at("output.end.txt"));
  EXPECT_GE(tail.size(), 1000U);
  EXPECT_LE(tail.size(), 2000U);
  EXPECT_THAT(all, EndsWith(tail));
}

TEST_F(ProgramLogTest, GoesOnOverAttempts) {
  const auto attempt = [this](const std::string& text) { ProgramLog(at("output.txt"), 100).write(text); };
  attempt(std::string(60, 'a'));
  attempt(std::string(60, 'b'));
  attempt(std::string(60, 'c'));
  attempt("end");
  EXPECT_THAT(read_file(at("output.txt")), StartsWith(std::string(60, 'a') + std::string(40, 'b')));
  EXPECT_EQ(read_file(at("output.end.txt")), std::string(20, 'b') + std::string(60, 'c') + "end");
  attempt(std::string(1000, 'd'));
  for (const char* name : {"output.txt", "output.end.txt", "output.end.1.txt"})
    EXPECT_LE(fs::file_size(at(name)), 250U);
}

/// Lowers the limit of a file's size, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    set(bytes);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  void set(rlim_t bytes) const {
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(ProgramLogTest, SaysWhereOutputIsMissing) {
  ProgramLog log(at("output.txt"));
  log.write("begin\n");
  {
    const FileSizeLimit full(6);
    log.write("lost\n");
    log.write("this too\n");
  }
  EXPECT_THAT(log.failure(), AllOf(HasSubstr("output.txt"), HasSubstr("File too large")));
  log.write("again\n");
  const std::string text = read_file(at("output.txt"));
  EXPECT_THAT(text, StartsWith("begin\n\n[xlm: 14 bytes of output are missing here: cannot write"));
  EXPECT_THAT(text, EndsWith("]\nagain\n"));
}

TEST_F(ProgramLogTest, TheLogHasWhatTheCallbackGets) {
  ProgramCommand what = shell("echo out; echo error >&2; printf 'no line end'");
  what.log = at("run/output.txt");
  create_folders(at("run"));
  run_to_end(what);
  EXPECT_EQ(output_, "out\nerror\nno line end");
  EXPECT_EQ(read_file(at("run/output.txt")), output_);
}

TEST_F(ProgramLogTest, AFloodNeitherBlocksNorFillsMemoryOrDisk) {
  std::uint64_t bytes = 0;
  ProgramCommand what = command({"python3", "-c",
                                 "import sys\n"
                                 "part = ''.join('step %d loss 0.5\\n' % i for i in range(100000))\n"
                                 "for _ in range(100): sys.stdout.write(part)\n"  // 10 million lines
                                 "sys.stdout.flush()\n"
                                 "print('the end')\n"});
  what.output = [&bytes](std::string_view piece) { bytes += piece.size(); };
  what.log = at("output.txt");
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const ProgramEnd end = run_to_end(what);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  EXPECT_TRUE(end.is_success());
  EXPECT_GT(bytes, 190000000U);
  EXPECT_THAT(end.last_lines, EndsWith("step 99999 loss 0.5\nthe end"));
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 * 1024) << "kilobytes";
  std::uint64_t kept = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path())) kept += entry.file_size();
  EXPECT_LT(kept, 3 * kLogPart + 1000);
  EXPECT_THAT(read_file(at("output.end.txt")), EndsWith("step 99999 loss 0.5\nthe end\n"));
}

TEST_F(ProgramLogTest, AFloodWithoutALineEndIsTaken) {
  const ProgramEnd end = run_to_end(shell("head -c 30000000 /dev/zero | tr '\\0' x; exit 7"));
  EXPECT_EQ(output_.size(), 30000000U);
  EXPECT_EQ(end.code, 7);
  EXPECT_EQ(end.last_lines, std::string(400, 'x') + "…");
}

TEST_F(ProgramLogTest, AFloodDoesNotKeepPollLongerThanItsTime) {
  ProgramCommand what = shell("yes");
  int pieces = 0;
  what.output = [&pieces](std::string_view) {
    if (++pieces > 1000) throw std::runtime_error("poll does not return");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // so that more is there whenever it looks
  };
  ProgramProcess program(what);
  for (int i = 0; i < 5; ++i) {
    pieces = 0;
    ASSERT_TRUE(program.poll(std::chrono::milliseconds(20)));
  }
  pieces = 0;
  program.stop();
  while (program.poll(std::chrono::milliseconds(20))) pieces = 0;
  EXPECT_EQ(program.end().signal, SIGTERM);
}

TEST_F(ProgramLogTest, AProgramThatClosesItsOutputRunsOn) {
  const ProgramEnd end = run_to_end(shell("echo last words; exec >&- 2>&-; sleep 0.5; exit 5"));
  EXPECT_EQ(end.code, 5);
  EXPECT_EQ(end.last_lines, "last words");
  EXPECT_GE(end.usage.wall_seconds, 0.5);
}

}  // namespace
}  // namespace xlm
