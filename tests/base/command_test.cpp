// Other processes: programs of the system, and work in a child process.
#include "base/command.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

TEST(Command, GivesBackWhatAProgramSaysAndHowItEnds) {
  const CommandResult result = run_command({"sh", "-c", "cat; echo said; echo complained >&2; exit 3"}, "given\n");
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "given\nsaid\n");
  EXPECT_EQ(result.err, "complained\n");
  EXPECT_EQ(run_command({"there-is-no-such-program"}).code, kNoProgram);
}

TEST(Command, ThatDoesNotEndIsKilled) { EXPECT_EQ(run_command({"sleep", "1000"}, "", 0.01).code, 128 + 9); }

TEST(Command, ThatIsFollowedHandsOverWhatItSaysAsItComes) {
  std::string said;
  bool was_idle = false;
  const CommandResult result =
      follow_command({"sh", "-c", "echo first; read line; sleep 0.3; echo $line; echo complained >&2; exit 4"},
                     "given\n", [&](std::string_view part) {
                       said += part;
                       was_idle = was_idle || (said == "first\n" && part.empty());
                     });
  EXPECT_EQ(said, "first\ngiven\n");
  EXPECT_TRUE(was_idle);
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.err, "complained\n");
  EXPECT_EQ(follow_command({"there-is-no-such-program"}, "", {}).code, kNoProgram);
  EXPECT_THROW(follow_command({"sleep", "1000"}, "", [](std::string_view) { throw Error("stop", kStopped); }), Error);
}

TEST(ChildProcess, ReturnsTheWorksResult) {
  const std::string large(3'000'000, 'x');  // more than a pipe holds
  EXPECT_EQ(in_child_process([&] { return large; }, {}), large);
  EXPECT_EQ(in_child_process([] { return std::string(); }, {}), "");
  EXPECT_NE(in_child_process([] { return std::to_string(::getpid()); }, {}), std::to_string(::getpid()));
}

TEST(ChildProcess, ReturnsNulloptIfTheWorkThrowsOrDies) {
  EXPECT_EQ(in_child_process([]() -> std::string { throw std::runtime_error("no"); }, {}), std::nullopt);
  EXPECT_EQ(in_child_process(
                []() -> std::string {
                  ::raise(SIGKILL);
                  return "never";
                },
                {}),
            std::nullopt);
  EXPECT_EQ(in_child_process([]() -> std::string { ::_exit(3); }, {}), std::nullopt);
}

TEST(ChildProcess, IsKilledIfWaitingThrows) {
  const auto start = std::chrono::steady_clock::now();
  const auto work = [] {
    ::sleep(60);
    return std::string("never");
  };
  EXPECT_THROW(in_child_process(work, [] { throw Error("stop", kStopped); }), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(ChildProcess, DiesWithItsParent) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    in_child_process(
        [&] {
          if (::write(pipe[1], "here", 4) != 4) ::_exit(1);
          ::sleep(60);
          return std::string("never");
        },
        {});
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::array<char, 16> buffer{};
  EXPECT_EQ(::read(pipe[0], buffer.data(), buffer.size()), 4);
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  pollfd end{.fd = pipe[0], .events = POLLIN, .revents = 0};  // the other end closes when the child ends
  ASSERT_EQ(::poll(&end, 1, 30'000), 1);
  EXPECT_EQ(::read(pipe[0], buffer.data(), buffer.size()), 0);
  ::close(pipe[0]);
}

TEST(ChildProcess, EndsByASignalThatItsParentIgnores) {
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) {
    auto* const before = std::signal(signal, SIG_IGN);
    EXPECT_EQ(in_child_process(
                  [&] {
                    ::raise(signal);
                    return std::string("still here");
                  },
                  {}),
              std::nullopt)
        << signal;
    std::signal(signal, before);
  }
}

TEST(ChildProcess, PrintsNothingToStandardError) {
  ::testing::internal::CaptureStderr();
  in_child_process(
      [] {
        std::fputs("a library's chatter\n", stderr);
        std::fflush(stderr);
        return std::string();
      },
      {});
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace xlm
