// `xlm runs watch` on sweeps that others do, by the program, from end to end.
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, AWatchShowsASweepThatOthersDo) {
  write_sweep("experiment: six\nsweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  const ProgramResult before = run({"runs", "watch", "sweep.yaml", "--once"});
  EXPECT_EQ(before.code, kDone) << before.err;
  EXPECT_THAT(before.out, AllOf(HasSubstr("0 of 6 runs ended\n"), HasSubstr("1     new")));
  EXPECT_FALSE(fs::exists(runs_)) << "it only looks";

  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  const ProgramResult during = run({"runs", "watch", "--where", "experiment=six", "--once"});
  EXPECT_EQ(during.code, kDone) << during.err;
  EXPECT_THAT(during.out, AllOf(HasSubstr("0 of 6 runs ended, 2 running"), HasSubstr("6     waits")));
  EXPECT_EQ(run({"runs", "watch", "--once"}).out, during.out) << "the experiment that has work left";
  const Json json = Json::parse(run({"runs", "watch", "sweep.yaml", "--json"}).out);
  EXPECT_EQ(json["running"], 2);
  EXPECT_EQ(json["runs"].size(), 6U);
  EXPECT_EQ(json["runs"][0]["status"], "runs");
  EXPECT_TRUE(json["runs"][0]["worker"].is_string());

  BackgroundProgram watch = start({"runs", "watch", "sweep.yaml"});
  fs::remove(hold());
  EXPECT_EQ(sweep.wait().code, kDone);
  const ProgramResult watched = watch.wait();
  EXPECT_EQ(watched.code, kDone) << watched.err;
  EXPECT_THAT(watched.out, HasSubstr("6 of 6 runs ended\n"));
  EXPECT_THAT(run({"runs", "watch"}).err, HasSubstr("nothing to watch"));
}

/// A program on a terminal of its own.
class OnTerminal {
 public:
  OnTerminal(std::vector<std::string> arguments, const fs::path& folder, unsigned short columns) {
    winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    if (::chdir(folder.c_str()) != 0) ::_exit(126);
    ::setenv("TERM", "xterm", 1);
    ::setenv("NO_COLOR", "1", 1);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (began()) stop(SIGKILL);
    if (terminal_ >= 0) ::close(terminal_);
  }

  /// False where there was no terminal to be had, and when it was stopped.
  bool began() const { return pid_ > 0; }

  void resize(unsigned short columns) const {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(terminal_, TIOCSWINSZ, &size);
  }

  /// Reads on until some words have come: the lines since the last call, without what moves the cursor.
  std::vector<std::string> lines_until(const std::string& words) {
    static const std::regex controls("\x1b\\[[0-9;?]*[A-Za-z]|\r");
    std::string text;
    do {
      std::array<char, 4096> part{};
      const ssize_t bytes = ::read(terminal_, part.data(), part.size());
      if (bytes <= 0) break;
      raw_.append(part.data(), static_cast<std::size_t>(bytes));
      text = std::regex_replace(raw_, controls, "");
    } while (text.find(words) == std::string::npos || !text.ends_with('\n'));
    raw_.clear();
    return split(text, '\n');
  }

  int stop(int signal) {
    if (!began()) return -1;  // which kill() takes for every process
    const pid_t pid = std::exchange(pid_, -1);
    ::kill(pid, signal);
    int status = 0;
    ::waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
  }

 private:
  int terminal_ = -1;
  pid_t pid_ = -1;
  std::string raw_;
};

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  return width;
}

TEST_F(ProgramTest, OnATerminalABoardFitsTheColumnsThatThereAreAndFollowsTheirChange) {
  // So many swept keys that their columns need more than 80 columns and less than 160.
  write_sweep(
      "sweep: {grid: {seed: [1, 2], optimizer.lr: [0.00125, 0.0025], model.dropout: [0.125, 0.25],\n"
      "  model.span_ramp: [8, 4], optimizer.clip_norm: [0.125, 0.25]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  OnTerminal watch({XLM_FAKE_BINARY, "runs", "watch", "sweep.yaml"}, folder_.path(), 80);
  ASSERT_TRUE(watch.began());
  const std::vector<std::string> narrow = watch.lines_until("waits");
  EXPECT_LE(widest(narrow), 80U) << join(narrow, "\n");
  EXPECT_THAT(join(narrow, "\n"), AllOf(HasSubstr("0 of 32 runs ended, 1 running"), HasSubstr("step")));
  watch.resize(160);
  const std::vector<std::string> wide = watch.lines_until("worker");
  EXPECT_LE(widest(wide), 160U) << join(wide, "\n");
  EXPECT_GT(widest(wide), 80U) << "what there is room for is shown";
  EXPECT_THAT(join(narrow, "\n"), Not(HasSubstr("worker"))) << "the columns that matter least go first";
  EXPECT_EQ(watch.stop(SIGTERM), kStopped);
  fs::remove(hold());
  EXPECT_EQ(sweep.wait().code, kDone);
}

TEST_F(ProgramTest, AWatchEndsWithASignalAndSaysWhatFailed) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  order("seed=1:fail-at=2");
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kFailed);
  const ProgramResult failed = run({"runs", "watch", "sweep.yaml", "--once"});
  EXPECT_EQ(failed.code, kDone);
  EXPECT_THAT(failed.out, AllOf(HasSubstr("1 failed"), HasSubstr("failed")));
  order("");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml"});
  until([&] { return count_running() == 1; });  // the one that failed
  OnTerminal watch({XLM_FAKE_BINARY, "runs", "watch", "sweep.yaml"}, folder_.path(), 80);
  ASSERT_TRUE(watch.began());
  EXPECT_THAT(join(watch.lines_until("runs ended"), "\n"), HasSubstr("1 running"));
  EXPECT_EQ(watch.stop(SIGTERM), kStopped);
  EXPECT_TRUE(sweep.is_running()) << "watching changes nothing";
  fs::remove(hold());
  EXPECT_EQ(sweep.wait().code, kDone);
}

TEST_F(ProgramTest, AWatchOfWhatIsNotThereSaysSo) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  const ProgramResult none = run({"runs", "watch", "--where", "experiment=sevn", "--once"});
  EXPECT_EQ(none.code, kBadData);
  EXPECT_THAT(none.err, HasSubstr("no run has experiment=sevn"));
  EXPECT_EQ(run({"runs", "watch", "sweep.yaml", "--where", "seed=1"}).code, kUsage);
  EXPECT_EQ(run({"runs", "watch", "nothing.yaml"}).code, kUsage);
}

}  // namespace
}  // namespace xlm
