#include "experiments/runs/wanted_evaluations.h"

#include <fstream>
#include <map>

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/submission.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/worker/runner_fixture.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Runs with windows, and evaluations that are wanted of them.
class WantedEvaluations : public RunnerTest {
 protected:
  PlannedRun wanting(const std::vector<int>& overlaps) {
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(window_config(data_), "run.yaml")));
    submit(run);
    std::vector<WantedEvaluation> wanted;
    for (const int overlap : overlaps) wanted.push_back({"test", {{"model.overlap", overlap}}});
    want(run.paths, wanted);
    return run;
  }

  /// The overlaps of the evaluations that were made, in order.
  static std::vector<std::string> made(const PlannedRun& run) {
    std::ifstream file(run.paths.folder / "evaluations.log");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  static std::map<std::string, double> bpc(const PlannedRun& run) {
    std::map<std::string, double> values;
    for (const RunEvaluation& evaluation : read_run(run.paths.folder).evaluations) {
      if (evaluation.split == "test") values[at_text(evaluation.at)] = evaluation.values.at("bpc");
    }
    return values;
  }
};

TEST_F(WantedEvaluations, AreMadeOnceWhenTheTrainingIsDone) {
  const PlannedRun run = wanting({0, 2, 4});
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 2", "test 4")) << "overlap 0 is the run's own";
  const auto values = bpc(run);
  EXPECT_NEAR(values.at(""), 2.01, 1e-9);
  EXPECT_NEAR(values.at("model.overlap=4"), 2.006, 1e-9);
  EXPECT_THAT(read_file(run.paths.log()), HasSubstr("test@model.overlap=4  loss"));
  const std::string journal = read_file(run.paths.journal());
  EXPECT_THAT(work(run).message, HasSubstr("done already"));
  EXPECT_EQ(read_file(run.paths.journal()), journal);
}

TEST_F(WantedEvaluations, OfARunThatIsDoneAreMadeWithoutTraining) {
  const PlannedRun run = wanting({});
  work(run);
  want(run.paths, {{"test", {{"model.overlap", 2}}}});
  want(run.paths, {{"test", {{"model.overlap", 2}}}, {"valid", {{"model.overlap", 2}}}});
  EXPECT_EQ(read_run(run.paths.folder).wanted.size(), 2U);
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 2", "valid 2"));
  EXPECT_EQ(steps(run).size(), 10U);
}

TEST_F(WantedEvaluations, OnOtherDataBelongToTheirRun) {
  const PlannedRun run = wanting({});
  const fs::path other = make_data(folder_.path() / "other", "bcc");
  want(run.paths, {{"test", {{"data.path", other.string()}}}});
  EXPECT_EQ(work(run).code, kDone);
  const auto values = bpc(run);
  EXPECT_EQ(values.size(), 2U) << "the run's own, and the other";
  for (const auto& [at, value] : values) {
    EXPECT_NEAR(value, at.empty() ? 2.01 : 2.11, 1e-9) << at;
  }
}

TEST_F(WantedEvaluations, GoOnAfterAStopWhereTheyWere) {
  const PlannedRun run = wanting({1, 2, 3});
  // Asked before each of ten steps; then before the first evaluation, within it, and before the second.
  stop_before(13);
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kStopped);
  EXPECT_EQ(report.status, RunStatus::kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1"));
  stop_before(2);  // within the evaluation: nothing of it is kept
  EXPECT_EQ(work(run).code, kStopped);
  EXPECT_EQ(bpc(run).size(), 2U);
  settings_.sink.should_stop = nullptr;
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1", "test 2", "test 2", "test 3"));
  EXPECT_EQ(bpc(run).size(), 4U);
}

TEST_F(WantedEvaluations, ThatFailLeaveTheRunDoneAndTheOthersMade) {
  core_.orders = "fail-at-overlap=1";
  const PlannedRun run = wanting({1, 2});
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kFailed);
  EXPECT_THAT(report.message, HasSubstr("test@model.overlap=1 failed: no such overlap"));
  EXPECT_EQ(read_live_run(run.paths.folder).status, RunStatus::kDone);
  EXPECT_EQ(bpc(run).size(), 2U);
  core_.orders.clear();
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_THAT(made(run), ElementsAre("test 1", "test 2", "test 1"));
}

TEST_F(WantedEvaluations, AreMadeAgainWhereTheCardOfTheModelCouldNotBeWritten) {
  const PlannedRun run = wanting({});
  work(run);
  want(run.paths, {{"test", {{"model.overlap", 2}}}});
  const fs::path card = run.paths.model() / "README.md";
  fs::remove(card);
  create_folders(card / "in the way");
  const RunReport report = work(run);
  EXPECT_NE(report.code, kDone);
  EXPECT_THAT(report.message, HasSubstr("README.md"));
  EXPECT_EQ(bpc(run).size(), 1U) << "what is in the journal is on the card";
  fs::remove_all(card);
  EXPECT_EQ(work(run).code, kDone);
  EXPECT_EQ(bpc(run).size(), 2U);
  EXPECT_THAT(read_file(card), HasSubstr("(model.overlap=2) | test |"));
}

TEST_F(WantedEvaluations, WhoseDataAreGoneSaySo) {
  const PlannedRun run = wanting({});
  want(run.paths, {{"test", {{"data.path", "/nowhere"}}}});
  const RunReport report = work(run);
  EXPECT_EQ(report.code, kBadData);
  EXPECT_THAT(report.message, HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace xlm
