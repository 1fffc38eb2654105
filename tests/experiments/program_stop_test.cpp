// xlm runs stop: stops runs whose workers are on any machine. They stay stopped until they are submitted again.
#include <gmock/gmock.h>

#include "base/json.h"
#include "experiments/runs/stop_request.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

TEST_F(ProgramTest, AStoppedRunSavesAndItsSweepContinuesWithTheOthers) {
  write_sweep("experiment: spans\nsweep: {grid: {seed: [1, 2, 3]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  const ProgramResult stop = run({"runs", "stop", "--where", "seed=1", "--where", "experiment=spans", "--json"});
  EXPECT_EQ(stop.code, kDone) << stop.err;
  const std::string stopped = Json::parse(stop.out)["asked"].at(0).get<std::string>();
  until([&] { return read_live_run(runs_ / stopped).status == RunStatus::kPreempted; });
  EXPECT_EQ(read_live_run(runs_ / stopped).reason, "stopped by xlm runs stop");
  fs::remove(hold());
  const ProgramResult rest = sweep.wait();
  EXPECT_EQ(rest.code, kStopped) << rest.out;
  EXPECT_THAT(rest.out, HasSubstr("2 of 3 runs done"));
  EXPECT_EQ(read_live_run(runs_ / stopped).status, RunStatus::kPreempted);
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);  // the request is taken back
  expect_all_done(3);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(ProgramTest, ARunThatWaitsIsNotBegunOnceItIsStopped) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  const ProgramResult stop = run({"runs", "stop", "--where", "seed=3"});
  EXPECT_THAT(stop.out, HasSubstr("will not start"));
  fs::remove(hold());
  EXPECT_EQ(sweep.wait().code, kStopped);
  std::size_t begun = 0;
  for (const fs::path& folder : run_folders()) begun += steps(folder).empty() ? 0 : 1;
  EXPECT_EQ(begun, 2U);
}

TEST_F(ProgramTest, AStoppedRunIsPreemptedInEveryCommand) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  write_file(hold(), "");
  BackgroundProgram sweep = start({"sweep", "sweep.yaml"});
  until([&] { return count_running() == 1; });
  sweep.kill(SIGTERM);
  EXPECT_THAT(sweep.wait().out, HasSubstr("  preempted\n"));
  const std::string id = run_folders().front().filename().string();
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--dry-run"}).out, HasSubstr("  preempted, resumes from step 3\n"));
  EXPECT_THAT(run({"runs", "watch", "sweep.yaml", "--once"}).out, HasSubstr("  preempted  3/10  "));
  EXPECT_THAT(run({"runs", "ls"}).out, HasSubstr("  preempted "));
  EXPECT_THAT(run({"runs", "show", id}).out, HasSubstr("preempted"));
}

TEST_F(ProgramTest, WhatHasEndedOrIsNotThereCannotBeStopped) {
  write_sweep("sweep: {grid: {seed: [1]}}\n");
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  const std::string id = run_folders().front().filename().string();
  EXPECT_THAT(run({"runs", "stop", id}).out, HasSubstr("has ended already"));
  EXPECT_FALSE(is_stop_requested(runs_ / id));
  EXPECT_EQ(run({"runs", "stop"}).code, kUsage);
  EXPECT_EQ(run({"runs", "stop", "missing"}).code, kBadData);
  EXPECT_THAT(run({"runs", "stop", "--where", "seed=7"}).err, HasSubstr("there is no run to stop"));
}

/// A terminal sends its SIGINT to the sweep and to its workers at any time.
TEST_F(ProgramTest, CtrlCAtAnyMomentFailsNoRun) {
  const WithoutLeakSearch in_its_programs;
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  order("pace=100");  // a test on one core, slow by sanitizers, also sees a run that is under way
  for (int moment = 0; moment < 20; ++moment) {
    BackgroundProgram sweep = start({"sweep", "sweep.yaml", "--jobs", "2"});
    until([&] { return fs::exists(runs_) && count_running() > 0; });  // one has begun, the other begins
    ::usleep(static_cast<useconds_t>(moment) * 500);
    sweep.kill_group(SIGINT);
    const ProgramResult ended = sweep.wait();
    EXPECT_EQ(ended.code, kStopped) << ended.out << ended.err;
    for (const fs::path& folder : run_folders()) {
      const xlm::Run run = read_live_run(folder);
      EXPECT_NE(run.status, RunStatus::kFailed) << moment << ": " << run.reason;
    }
    fs::remove_all(runs_);
  }
}

TEST_F(ProgramTest, TrainStopsTooAndResumes) {
  write_file(hold(), "");
  BackgroundProgram train = start({"train", "run.yaml"});
  until([&] { return count_running() == 1; });
  EXPECT_EQ(run({"runs", "stop", run_folders().front().filename().string()}).code, kDone);
  EXPECT_EQ(train.wait().code, kStopped);
  fs::remove(hold());
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  expect_all_done(1);
}

}  // namespace
}  // namespace xlm
