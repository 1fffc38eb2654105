// Sweeps by the program, from end to end.
#include <map>

#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/experiments/program_fixture.h"
#include "tests/experiments/read_counter.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(ProgramTest, SweepDoesAllRunsThenNone) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\ntable: t\n");
  const ProgramResult first = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(first.code, kDone) << first.err;
  EXPECT_THAT(first.out,
              AllOf(HasSubstr("3 of 3 runs done"), HasSubstr("2.0300"), HasSubstr("next: xlm table sweep.yaml")));
  expect_all_done(3);
  const ProgramResult again = run({"sweep", "sweep.yaml", "--json"});
  EXPECT_EQ(again.code, kDone);
  EXPECT_EQ(Json::parse(again.out).size(), 3U);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);
}

TEST_F(ProgramTest, SweepReadsItsFileOnce) {
  write_sweep("sweep: {grid: {seed: [1, 2]}, exclude: [{seed: 2}]}\n");
  ReadCounter reads(folder_.path() / "sweep.yaml");
  EXPECT_EQ(run({"sweep", "sweep.yaml", "--dry-run"}).code, kDone);
  EXPECT_EQ(reads.count(), 1) << "what is written in between would belong to another sweep";
}

TEST_F(ProgramTest, SweepEndsWithItsBestSettings) {
  write_sweep("sweep: {grid: {optimizer.lr: [0.1, 0.2], train.batch: [2], seed: [1, 2]}}\n");
  const std::string out = run({"sweep", "sweep.yaml"}).out;
  EXPECT_THAT(out, HasSubstr("best of 2 settings by valid "));
  EXPECT_THAT(out, HasSubstr(":\n  2.0150 (mean over 2 seeds)  optimizer.lr=0.1\n"));
  EXPECT_THAT(out, Not(HasSubstr("batch"))) << "what is the same in all runs is no column";
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  EXPECT_THAT(run({"sweep", "sweep.yaml"}).out, Not(HasSubstr("best of"))) << "seeds are one setting";
}

TEST_F(ProgramTest, SweepSaysWhichTableIsNext) {
  write_sweep(
      "sweep: {grid: {seed: [1]}}\ntables: [{table: t, rows: seed, cells: {value: test.loss}}]\nprofiles: {quick: "
      "{train: {steps: "
      "9}}}\n");
  const ProgramResult result =
      run({"sweep", "sweep.yaml", "--profile", "quick", "--runs", "elsewhere", "experiment=mine"});
  EXPECT_EQ(result.code, kDone) << result.err;
  EXPECT_THAT(result.out, HasSubstr("next: xlm table sweep.yaml --profile quick --experiment=mine --runs elsewhere\n"));
  EXPECT_EQ(run({"table", "sweep.yaml", "--profile", "quick", "--experiment=mine", "--runs", "elsewhere"}).err, "");
  EXPECT_THAT(run({"sweep", "sweep.yaml", "--runs", "else where", "experiment=my own"}).out,
              HasSubstr("next: xlm table sweep.yaml '--experiment=my own' --runs 'else where'\n"));
}

TEST_F(ProgramTest, DryRunListsRunsAndCostsAndWritesNothing) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  const ProgramResult text = run({"sweep", "sweep.yaml", "--dry-run"});
  EXPECT_EQ(text.code, kDone) << text.err;
  EXPECT_THAT(text.out, AllOf(HasSubstr("2 of 2 runs to do"), HasSubstr("nothing was written")));
  const Json json = Json::parse(run({"sweep", "sweep.yaml", "--dry-run", "--json"}).out);
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["status"], "new");
  EXPECT_EQ(json[0]["params"], 1003);
  EXPECT_EQ(json[1]["values"]["seed"], 2);
  EXPECT_FALSE(fs::exists(runs_));
}

TEST_F(ProgramTest, SweepContinuesAfterFailuresAndReportsThem) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  order("seed=1:diverge-at=5 seed=2:fail-at=5 seed=3:kill-at=5");
  const ProgramResult result = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.out, AllOf(HasSubstr("1 of 4 runs done, 2 failed, 1 diverged"), HasSubstr("NaN at step 5"),
                                HasSubstr("something broke"), HasSubstr("killed by signal 9")));
  order("");
  const ProgramResult again = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(again.code, kFailed);
  EXPECT_THAT(again.out, AllOf(HasSubstr("3 of 4 runs done, 1 diverged"), HasSubstr("--retry")));
}

TEST_F(ProgramTest, RunsThatBeginFromRunsOfTheirSweepComeAfterThemAndAreLostWithThem) {
  write_sweep(
      "sweep:\n"
      "  grid: {model.span: [8, 16], seed: [1, 2], model.init_from: [{model.span: 16}]}\n"
      "  when: {model.init_from: {model.span: 8}}\n");
  order("seed=2:fail-at=5");
  const ProgramResult result = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(result.code, kFailed);
  EXPECT_THAT(result.out, AllOf(HasSubstr("2 of 4 runs done, 2 failed"), HasSubstr("something broke"),
                                HasSubstr(", whose status is failed")));
  std::map<std::string, double> begun;  // by id, when
  std::map<std::string, double> done;
  for (const fs::path& folder : run_folders()) {
    for (const RunState& state : read_live_run(folder).history) {
      if (state.state == "running") begun[folder.filename().string()] = state.time;
      if (state.state == "done") done[folder.filename().string()] = state.time;
    }
  }
  const Json plan = Json::parse(run({"sweep", "sweep.yaml", "--dry-run", "--json"}).out);
  EXPECT_GE(begun.at(plan[0]["run_id"].get<std::string>()), done.at(plan[2]["run_id"].get<std::string>()));
  EXPECT_FALSE(begun.contains(plan[1]["run_id"].get<std::string>())) << "its source has failed";
  order("");
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  expect_all_done(4);
}

TEST_F(ProgramTest, SweepStopsOnASignalAndResumes) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  program.kill(SIGTERM);
  const ProgramResult stopped = program.wait();
  EXPECT_EQ(stopped.code, kStopped) << stopped.err;
  EXPECT_EQ(count_running(), 0U);
  fs::remove(hold());
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kDone);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);
  expect_all_done(3);
}

TEST_F(ProgramTest, WorkersDieWithTheirSweepAndNoRunIsLostOrDoneTwice) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "2"});
  until([&] { return count_running() == 2; });
  program.kill(SIGKILL);
  program.wait();
  until([&] { return count_running() == 0; });
  fs::remove(hold());
  const ProgramResult again = run({"sweep", "sweep.yaml", "--jobs", "2"});
  EXPECT_EQ(again.code, kDone) << again.err << again.out;
  EXPECT_THAT(again.err, HasSubstr("4 runs: 2 ")) << "resume, or begin again if they had not saved";
  expect_all_done(4);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U);  // workers saved before they went
}

TEST_F(ProgramTest, TwoSweepsAtOnceShareTheRuns) {
  write_sweep("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6]}}\n");
  BackgroundProgram one = start({"sweep", "sweep.yaml", "--jobs", "2"});
  BackgroundProgram two = start({"sweep", "sweep.yaml", "--jobs", "2"});
  const ProgramResult first = one.wait();
  const ProgramResult second = two.wait();
  EXPECT_EQ(first.code, kDone) << first.err << first.out;
  EXPECT_EQ(second.code, kDone) << second.err << second.out;
  expect_all_done(6);
  for (const fs::path& folder : run_folders()) EXPECT_EQ(steps(folder).size(), 10U) << folder;
}

TEST_F(ProgramTest, EditingTheConfigurationChangesNothingThatIsQueued) {
  write_sweep("sweep: {grid: {seed: [1, 2]}}\n");
  write_file(hold(), "");
  BackgroundProgram program = start({"sweep", "sweep.yaml", "--jobs", "1"});
  until([&] { return count_running() == 1; });
  write_sweep("seed: broken\n");
  fs::remove(hold());
  EXPECT_EQ(program.wait().code, kDone);
  expect_all_done(2);
}

TEST_F(ProgramTest, ASweepRefusesEvaluationsThatCannotBeMadeBeforeItWritesAnything) {
  write_file(folder_.path() / "sweep.yaml", window_config("data", "evaluate: {model.overlap: 8}\n"));
  const ProgramResult wrong = run({"sweep", "sweep.yaml"});
  EXPECT_EQ(wrong.code, kUsage);
  EXPECT_THAT(wrong.err, HasSubstr("must be less than model.window"));
  write_file(folder_.path() / "sweep.yaml", window_config("data", "evaluate: {data.path: nowhere}\n"));
  EXPECT_EQ(run({"sweep", "sweep.yaml"}).code, kBadData);
  EXPECT_FALSE(fs::exists(runs_));
}

}  // namespace
}  // namespace xlm
