// xlm sweep --canary: a few steps of two points before the sweep.
#include <gmock/gmock.h>

#include "base/text.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ProgramWithCanary : public ProgramTest {
 protected:
  /// Names of what the folder of runs holds of canaries.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    if (!fs::exists(runs_)) return names;
    for (const auto& entry : fs::directory_iterator(runs_)) {
      if (entry.path().filename().string().starts_with(".canary")) names.push_back(entry.path().string());
    }
    return names;
  }
};

TEST_F(ProgramWithCanary, DoesTheFirstAndTheDearestPointAndLeavesNoRun) {
  write_sweep("sweep: {grid: {model.span: [8, 64, 16], seed: [1, 2]}}\n");
  // Only the dearest of the first seed, and with ten steps only what is shorter than the sweep's fifteen.
  order("seed=1:pace=1");
  const ProgramResult swept = run({"sweep", "sweep.yaml", "--canary", "train.steps=15", "train.eval_every=5"});
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("canary: 10 steps with their evaluations, at 2 points\n"));
  EXPECT_THAT(swept.out, HasSubstr("6 of 6 runs done"));
  EXPECT_EQ(run_folders().size(), 6U);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 15U);
  EXPECT_THAT(left(), ::testing::IsEmpty());
  EXPECT_EQ(run({"sql", "SELECT count(*) AS runs FROM runs", "--json"}).out.find("8"), std::string::npos);
  const ProgramResult again = run({"sweep", "sweep.yaml", "--canary", "train.steps=15", "train.eval_every=5"});
  EXPECT_EQ(again.err.find("canary:"), std::string::npos) << "nothing is left to do";
}

TEST_F(ProgramWithCanary, ThatFailsKeepsTheSweepFromBeginning) {
  write_sweep("sweep: {grid: {model.span: [8, 64], seed: [1, 2]}}\n");
  order("fail-at=7");
  const ProgramResult failed = run({"sweep", "sweep.yaml", "--canary"});
  EXPECT_EQ(failed.code, kFailed);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("a canary ended as failed: "), HasSubstr("model.span=8"),
                                HasSubstr("nothing of the sweep was begun")));
  EXPECT_THAT(run_folders(), ::testing::IsEmpty());
  EXPECT_THAT(left(), ::testing::IsEmpty());
  order("fail-at=11");  // later than a canary goes
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--canary", "train.steps=10"}).code, kDone);
}

TEST_F(ProgramWithCanary, OfAProgramIsRefused) {
  write_file(folder_.path() / "program.yaml",
             "experiment: p\nprogram: {command: [echo, '{seed}']}\nsweep: {grid: {seed: [1]}}\n");
  const ProgramResult refused = run({"sweep", "program.yaml", "--canary"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("make a profile with short runs"));
}

}  // namespace
}  // namespace xlm
