// Which of the evaluations that people ask for count as a run's own.
#include "experiments/runs/evaluation_record.h"

#include <gmock/gmock.h>

#include "experiments/configuration/configuration.h"
#include "experiments/runs/runner.h"
#include "experiments/runs/submission.h"
#include "results/run_folder/journal.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

class EvaluationRecordTest : public ::testing::Test {
 protected:
  EvaluationRecordTest() : run_(done_run()) {}

  /// A run that is done, with final evaluations of valid and test.
  PlannedRun done_run(const std::string& more = "") {
    const fs::path data = make_data(folder_.path() / "data");
    PlannedRun run = Planner(runs_).plan(read_run_options(parse_yaml(run_config(data, more), "run.yaml")));
    submit(run);
    const RunReport report = execute(run.paths.folder, [this]() -> Core& { return core_; }, {});
    EXPECT_EQ(report.status, RunStatus::kDone) << report.message;
    return run;
  }

  /// What `xlm eval` records; `batch` 0: with the run's own settings.
  void evaluate(const std::string& split, std::int64_t batch) {
    RunOptions options = run_.options;
    if (batch > 0) options.eval.batch = batch;
    const Evaluation evaluation{.split = split, .loss = static_cast<double>(batch)};
    const EvaluationRequest request{.place = locate_model(run_.id(), runs_), .options = options, .split = split};
    EXPECT_EQ(record_evaluation(request, evaluation, runs_), run_.paths.folder);
  }

  std::vector<bool> final(const std::string& split) const {
    std::vector<bool> flags;
    for (const Json& record : read_journal(run_.paths.journal()).records) {
      if (record.at("type") == "evaluation" && record.at("split") == split) flags.push_back(record.at("final"));
    }
    return flags;
  }

  TemporaryFolder folder_;
  fs::path runs_ = folder_.path() / "runs";
  FakeCore core_;
  PlannedRun run_;
};

TEST_F(EvaluationRecordTest, IsFinalUntilThereIsOneOfTheSplitWithTheRunsOwnSettings) {
  evaluate("train", 4);
  evaluate("train", 0);
  evaluate("train", 2);
  evaluate("test", 4);
  EXPECT_THAT(final("train"), ElementsAre(true, true, false));
  EXPECT_THAT(final("test"), ElementsAre(true, false)) << "the first is the training's own";
  for (const RunEvaluation& evaluation : read_run(run_.paths.folder).evaluations) {
    if (evaluation.split == "train") {
      EXPECT_EQ(evaluation.main, evaluation.values.at("loss") == 0);
    }
    EXPECT_EQ(evaluation.step, 10) << "the run's last became the model";
  }
}

TEST_F(EvaluationRecordTest, IsOfTheStepWhoseWeightsBecameTheModel) {
  core_.orders = "best-at=6";
  run_ = done_run("seed: 2\n");
  evaluate("train", 0);
  evaluate("test", 4);
  for (const RunEvaluation& evaluation : read_run(run_.paths.folder).evaluations) {
    const bool last = evaluation.split == "valid" && !evaluation.final;
    EXPECT_EQ(evaluation.step, last ? 10 : 6) << evaluation.split << " " << evaluation.settings;
  }
}

TEST_F(EvaluationRecordTest, MadeAgainItTakesThePlaceOfTheOneBefore) {
  evaluate("train", 0);
  evaluate("train", 0);
  const xlm::Run run = read_run(run_.paths.folder);
  const auto is_main = [](const RunEvaluation& known) { return known.main && known.split == "train"; };
  EXPECT_EQ(std::count_if(run.evaluations.begin(), run.evaluations.end(), is_main), 1);
}

}  // namespace
}  // namespace xlm
