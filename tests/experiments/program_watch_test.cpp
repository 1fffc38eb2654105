// `xlm runs watch` on sweeps that others do, by the program, from end to end.
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
  BackgroundProgram watch = start({"runs", "watch", "sweep.yaml"});
  until([&] { return watch.is_running() && fs::exists(runs_); });
  ::usleep(300000);  // its handlers stand; there is nothing to see of that from here
  watch.kill(SIGTERM);
  EXPECT_EQ(watch.wait().code, kStopped);
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
