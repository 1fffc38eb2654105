// xlm sweep --canary: a few steps of two points before the sweep.
#include <gmock/gmock.h>

#include <set>

#include "base/yaml.h"
#include "tests/experiments/program_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class ProgramWithCanary : public ProgramTest {
 protected:
  /// The folders of canaries in the folder of runs.
  std::vector<fs::path> canaries() const {
    std::vector<fs::path> found;
    if (!fs::exists(runs_)) return found;
    for (const auto& entry : fs::directory_iterator(runs_)) {
      if (entry.path().filename().string().starts_with(".canary")) found.push_back(entry.path());
    }
    return found;
  }

  /// The batches of canaries that are in the middle of their steps.
  std::multiset<std::string> batches() const {
    std::multiset<std::string> found;
    for (const fs::path& folder : canaries()) {
      for (const auto& run : fs::directory_iterator(folder)) {
        if (fs::exists(run.path() / "steps.log"))
          found.insert(read_yaml(run.path() / "config.yaml").find("train")->find("batch")->scalar);
      }
    }
    return found;
  }
};

TEST_F(ProgramWithCanary, DoesTheFirstAndTheDearestPointAndLeavesNoRun) {
  write_sweep("sweep: {grid: {train.batch: [3, 8, 4], seed: [1, 2]}}\n");
  write_file(hold(), "");
  const fs::path left = runs_ / ".canary.0000002a";  // of a command that was killed long ago
  create_folders(left);
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(48));
  const std::vector<std::string> command{"sweep", "sweep.yaml", "--canary", "--jobs", "2", "train.steps=15"};
  BackgroundProgram sweep = start(command);
  until([&] { return batches().size() == 2; });
  EXPECT_EQ(batches(), (std::multiset<std::string>{"3", "8"}));
  EXPECT_THAT(run_folders(), ::testing::IsEmpty());
  fs::remove(hold());
  const ProgramResult swept = sweep.wait();
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("canary: 10 steps with their evaluations, at 2 points\n"));
  EXPECT_THAT(swept.out, HasSubstr("6 of 6 runs done"));
  EXPECT_EQ(run_folders().size(), 6U);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 15U);
  EXPECT_THAT(canaries(), ::testing::IsEmpty());
  EXPECT_THAT(run({"runs", "sql", "SELECT count(*) AS n FROM runs", "--format", "csv"}).out, HasSubstr("6"));
  EXPECT_EQ(run(command).err.find("canary:"), std::string::npos) << "nothing is left to do";
}

TEST_F(ProgramWithCanary, ThatFailsKeepsTheSweepFromBeginning) {
  write_sweep("sweep: {grid: {model.span: [8, 64], seed: [1, 2]}}\n");
  order("fail-at=7");
  const ProgramResult failed = run({"sweep", "sweep.yaml", "--canary"});
  EXPECT_EQ(failed.code, kFailed);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("a canary ended as failed: "), HasSubstr("model.span=8"),
                                HasSubstr("nothing of the sweep was begun")));
  EXPECT_THAT(run_folders(), ::testing::IsEmpty());
  EXPECT_THAT(canaries(), ::testing::IsEmpty());
  order("fail-at=11");  // later than a canary goes
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--canary", "train.steps=10"}).code, kDone);
}

TEST_F(ProgramWithCanary, OfAProgramIsWhatTheUserMakesShort) {
  write_file(folder_.path() / "program.yaml",
             "experiment: p\nprogram: {command: [sh, -c, 'test {steps} -lt 30'], folder: code, code: [x.py]}\n"
             "options: {steps: 20}\nsweep: {grid: {options.steps: [20, 25], seed: [1]}}\n");
  create_folders(folder_.path() / "code");
  write_file(folder_.path() / "code" / "x.py", "");
  const ProgramResult refused = run({"sweep", "program.yaml", "--canary"});
  EXPECT_EQ(refused.code, kUsage);
  EXPECT_THAT(refused.err, HasSubstr("say it, such as --canary-with options.steps=20"));
  const ProgramResult failed = run({"sweep", "program.yaml", "--canary-with", "options.steps=30"});
  EXPECT_EQ(failed.code, kFailed);
  EXPECT_THAT(failed.err, AllOf(HasSubstr("a canary ended as failed"), HasSubstr("it was the point options.steps=20")));
  EXPECT_THAT(run_folders(), ::testing::IsEmpty());
  const ProgramResult swept = run({"sweep", "program.yaml", "--canary-with", "options.steps=2", "--jobs", "1"});
  EXPECT_EQ(swept.code, kDone) << swept.err;
  EXPECT_THAT(swept.err, HasSubstr("canary: short runs with their evaluations, at 1 point\n"));
  EXPECT_EQ(run_folders().size(), 2U);
}

}  // namespace
}  // namespace xlm
