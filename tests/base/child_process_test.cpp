#include "base/child_process.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

TEST(ChildProcess, GivesWhatTheWorkReturns) {
  const std::string large(3'000'000, 'x');  // more than a pipe holds
  EXPECT_EQ(in_child_process([&] { return large; }, {}), large);
  EXPECT_EQ(in_child_process([] { return std::string(); }, {}), "");
  EXPECT_NE(in_child_process([] { return std::to_string(::getpid()); }, {}), std::to_string(::getpid()));
}

TEST(ChildProcess, GivesNothingWhereTheWorkThrowsOrDies) {
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

TEST(ChildProcess, IsKilledWhereWaitingThrows) {
  const auto start = std::chrono::steady_clock::now();
  const auto work = [] {
    ::sleep(60);
    return std::string("never");
  };
  EXPECT_THROW(in_child_process(work, [] { throw Error("stop", kStopped); }), Error);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace xlm
