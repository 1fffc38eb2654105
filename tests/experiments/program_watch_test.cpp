// `xlm runs watch` on sweeps of other workers, by the program, from end to end.
#include <algorithm>

#include <gmock/gmock.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/experiments/on_terminal.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, AWatchShowsASweepOfOtherWorkers) {
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
  EXPECT_THAT(run({"runs", "watch"}).err, HasSubstr("no unfinished run to watch"));
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, display_width(line));
  return width;
}

TEST_F(ProgramTest, OnATerminalABoardFitsTheWindowAndFollowsItsSize) {
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

TEST_F(ProgramTest, AWatchOfAMissingSweepIsAnError) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  EXPECT_EQ(run({"train", "run.yaml"}).code, kDone);
  const ProgramResult none = run({"runs", "watch", "--where", "experiment=sevn", "--once"});
  EXPECT_EQ(none.code, kBadData);
  EXPECT_THAT(none.err, HasSubstr("no run has experiment=sevn"));
  EXPECT_EQ(run({"runs", "watch", "sweep.yaml", "--where", "seed=1"}).code, kUsage);
  EXPECT_EQ(run({"runs", "watch", "nothing.yaml"}).code, kUsage);
}

/// The name of a run or column, or a text in the store, cannot move the cursor of a reader's terminal.
TEST_F(ProgramTest, WhatIsInTheStoreCannotChangeTheScreen) {
  run({"train", "run.yaml"});
  OnTerminal sql({XLM_FAKE_BINARY, "runs", "sql", "SELECT char(27) || '[2Jend' AS a", "--format", "csv"},
                 folder_.path(), 80);
  ASSERT_TRUE(sql.began());
  EXPECT_THAT(join(sql.lines_until("end"), "\n"), HasSubstr("\\x1b[2Jend"));
  EXPECT_EQ(sql.wait(), kDone);
}

}  // namespace
}  // namespace xlm
