// What a run cost, added up by hand.
#include "results/run_folder/run_cost.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

Run run_of_two_attempts() {
  Run run;
  run.history = {{.time = 1000, .state = "running"},
                 {.time = 1900, .state = "preempted"},
                 {.time = 9000, .state = "running"},
                 {.time = 9900, .state = "done"}};
  run.finished = 9900;
  run.environment = {{"threads", 4}, {"device", "cpu"}};
  run.evaluations = {{.split = "valid", .time = 9800, .values = {{"seconds", 50}, {"flops", 7e6}}},
                     {.split = "test", .time = 20000, .values = {{"seconds", 1800}, {"flops", 5e6}}}};
  return run;
}

TEST(RunCost, HoursAreThoseOfAllThreadsAndOfLaterEvaluations) {
  xlm::Run run = run_of_two_attempts();
  add_costs_of_work(run);
  EXPECT_DOUBLE_EQ(busy_seconds(run), 1800);
  EXPECT_DOUBLE_EQ(run.costs.at("processor_hours"), 4 * (0.5 + 0.5));
  EXPECT_DOUBLE_EQ(run.costs.at("evaluation_flops"), 12e6);
  EXPECT_FALSE(run.costs.contains("gpu_hours"));
}

TEST(RunCost, OnlyAnAttemptWhoseWorkerWasLostIsCutBackToItsLastSign) {
  xlm::Run run;
  run.history = {{.time = 1000, .state = "running", .last_sign = 1300},
                 {.time = 1900, .state = "failed", .cause = "gone"}};
  EXPECT_DOUBLE_EQ(busy_seconds(run), 300) << "a later worker said it";
  run.history.back().cause = "error";
  EXPECT_DOUBLE_EQ(busy_seconds(run), 900) << "the worker said it itself";
  run.history.back() = {.time = 1900, .state = "queued", .pid = 42, .cause = "memory"};
  EXPECT_DOUBLE_EQ(busy_seconds(run), 900) << "likewise";
  run.history.push_back({.time = 1900, .state = "running"});
  run.history.push_back({.time = 2000, .state = "done"});
  EXPECT_DOUBLE_EQ(busy_seconds(run), 1000);
}

TEST(RunCost, AClockThatIsSetWhileARunGoesOnCostsNoHours) {
  xlm::Run run;
  run.history = {{.time = 1000, .state = "running"}, {.time = 8212, .state = "done", .seconds = 12.25}};
  EXPECT_DOUBLE_EQ(busy_seconds(run), 12.25);
}

TEST(RunCost, EachProcessHasAGpu) {
  xlm::Run run = run_of_two_attempts();
  run.environment = {{"threads", 4}, {"processes", 2}, {"device", "cuda:0"}};
  run.evaluations.clear();
  add_costs_of_work(run);
  EXPECT_DOUBLE_EQ(run.costs.at("gpu_hours"), 1);
  EXPECT_DOUBLE_EQ(run.costs.at("processor_hours"), 4);
}

TEST(RunCost, WhatARunDoesNotSayIsNoCost) {
  xlm::Run run = run_of_two_attempts();
  run.environment = Json::object();
  run.evaluations.clear();
  add_costs_of_work(run);
  EXPECT_TRUE(run.costs.empty());
}

TEST(SecondsOfAStep, EndWithTheLastSignOfAProcessThatWasLost) {
  xlm::Run run;
  run.step = 10;
  const std::string running(name_of(RunStatus::kRunning));
  run.history = {{.time = 100, .state = running, .last_sign = 140},
                 {.time = 90000, .state = std::string(name_of(RunStatus::kQueued)), .cause = "node"},
                 {.time = 90010, .state = running},
                 {.time = 90060, .state = std::string(name_of(RunStatus::kDone))}};
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (40 + 50) / 10.0);
  run.history[1].cause = "";  // it said so itself, such as when it made way
  run.history[1].time = 150;
  EXPECT_DOUBLE_EQ(seconds_of_step(run), (50 + 50) / 10.0);
}

}  // namespace
}  // namespace xlm
