// How long a run took for each step.
#include "experiments/sweeps/run_pace.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(SecondsOfAStep, EndWithTheLastSignOfAProcessThatWasLost) {
  xlm::Run run;
  run.step = 10;
  const std::string running(name_of(RunStatus::kRunning));
  run.history = {{.time = 100, .state = running},
                 {.time = 90000, .state = std::string(name_of(RunStatus::kQueued)), .cause = "node"},
                 {.time = 90010, .state = running},
                 {.time = 90060, .state = std::string(name_of(RunStatus::kDone))}};
  run.checkpoints = {{.step = 5, .time = 140, .file = ""}, {.step = 10, .time = 90050, .file = ""}};
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (40 + 50) / 10.0);
  run.history[1].cause = "";  // it said so itself, such as when it made way
  run.history[1].time = 150;
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (50 + 50) / 10.0);
}

}  // namespace
}  // namespace xlm
