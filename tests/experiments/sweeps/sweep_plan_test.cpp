#include "experiments/sweeps/sweep_plan.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/cost_estimate.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/worker/runner.h"
#include "results/run_folder/journal.h"
#include "results/store/sql_query.h"
#include "results/store/store.h"
#include "tests/experiments/experiment_files.h"
#include "tests/experiments/fake_core.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class SweepPlanTest : public ::testing::Test {
 protected:
  SweepPlanTest() : data_(make_data(folder_.path() / "data")), runs_(folder_.path() / "runs") {}

  std::vector<SweepRun> plan(const std::string& sweep, bool retry = false) {
    return plan_sweep(recipe_of(parse_yaml(run_config(data_, sweep), "sweep.yaml")), runs_, retry);
  }

  void work(const SweepRun& run) {
    submit(run.planned);
    execute(run.planned.paths.folder, [this]() -> Core& { return core_; }, {});
  }

  void want_and_work(const SweepRun& run) {
    submit(run.planned);
    want(run.planned.paths, run.evaluations);
    work(run);
  }

  TemporaryFolder folder_;
  fs::path data_;
  fs::path runs_;
  FakeCore core_;
};

TEST_F(SweepPlanTest, NewRunsAreToBeDoneAndNothingIsWritten) {
  const auto runs = plan("sweep: {grid: {seed: [1, 2], model.span: [8, 16]}}\n");
  ASSERT_EQ(runs.size(), 4U);
  for (const SweepRun& run : runs) {
    EXPECT_EQ(run.action, SweepAction::kRun);
    EXPECT_TRUE(run.status.is_absent());
  }
  EXPECT_FALSE(fs::exists(runs_));
  EXPECT_THAT(swept_keys(runs), ElementsAre("seed", "model.span"));
  EXPECT_EQ(shown_value(runs[1].point, "model.span"), "16");
}

/// Every seed: one run from random weights, and one of half the span that begins from it.
constexpr const char* kTwoStages =
    "sweep:\n"
    "  grid: {model.span: [16, 8], seed: [1, 2], model.init_from: [{model.span: 16}]}\n"
    "  when: {model.init_from: {model.span: 8}}\n";

TEST_F(SweepPlanTest, ARunMayBeginFromAnotherOfTheSweepAndItsIdIsKnownBeforeThatIsDone) {
  const auto runs = plan(kTwoStages);
  ASSERT_EQ(runs.size(), 4U);
  EXPECT_EQ(runs[0].source, "");
  EXPECT_EQ(runs[2].source, runs[0].id());
  EXPECT_EQ(runs[3].source, runs[1].id()) << "the same seed";
  EXPECT_EQ(runs[2].planned.options.init_from, runs[0].planned.paths.model());
  EXPECT_EQ(runs[2].reason, "new, once " + runs[0].id() + " is done");
  EXPECT_EQ(source_state(runs[2]), SourceState::kWaiting);
  work(runs[0]);
  const auto later = plan(kTwoStages);
  EXPECT_EQ(later[2].id(), runs[2].id());
  EXPECT_EQ(later[2].reason, "new");
  EXPECT_EQ(source_state(later[2]), SourceState::kReady);
  work(later[2]);
  EXPECT_EQ(plan(kTwoStages)[2].status, RunStatus::kDone);
  EXPECT_TRUE(plan(kTwoStages)[3].status.is_absent());
}

TEST_F(SweepPlanTest, ARunThatBeginsFromARunIsAnotherThanOneThatBeginsFromTheFolderWithItsWeights) {
  const auto runs = plan(kTwoStages);
  work(runs[0]);
  fs::copy(runs[0].planned.paths.model(), folder_.path() / "weights");
  const auto named = [&](const std::string& name) {
    return plan("sweep: {grid: {model.span: [8], model.init_from: [" + name + "]}}\n")[0].id();
  };
  EXPECT_EQ(named(runs[0].id()), named(runs[0].planned.paths.model()));
  EXPECT_NE(named((folder_.path() / "weights").string()), named(runs[0].id()));
}

TEST_F(SweepPlanTest, SeedsThatBeginFromTheSeedsOfARunAreOneSetting) {
  const auto runs = plan(kTwoStages);
  EXPECT_EQ(runs[2].planned.source_setting, runs[3].planned.source_setting);
  const auto named = plan(
      "sweep: {grid: {model.span: [8], model.init_from: [{model.span: 16}, {model.span: 32}]},\n"
      "  include: [{model.span: 16, model.init_from: ''}, {model.span: 32, model.init_from: ''}]}\n");
  EXPECT_EQ(named[0].planned.source_setting, runs[2].planned.source_setting);
  EXPECT_NE(named[1].planned.source_setting, runs[2].planned.source_setting);
  for (const SweepRun& run : runs) work(run);
  Store store(folder_.path() / "results.db");
  store.sync(runs_);
  const SqlResult groups = run_sql(store, "SELECT count(*) FROM runs GROUP BY seed_group");
  ASSERT_EQ(groups.rows.size(), 2U) << "two seeds each";
  EXPECT_EQ(plan("sweep: {grid: {seed: [1], model.span: [8], model.init_from: [" + runs[0].id() + "]}}\n")[0]
                .planned.source_setting,
            runs[2].planned.source_setting)
      << "by whatever name";
}

TEST_F(SweepPlanTest, ADamagedSourceEndsNothingAndOneThatDivergedIsSaidToHave) {
  const auto runs = plan(kTwoStages);
  work(runs[0]);
  fs::remove(runs[0].planned.paths.config());
  EXPECT_THAT(plan(kTwoStages)[2].reason, HasSubstr("once " + runs[0].id() + " is done"));
  core_.orders = "diverge-at=2";
  work(runs[1]);
  EXPECT_THAT(plan(kTwoStages)[3].reason, HasSubstr("is done, which is diverged"));
}

TEST_F(SweepPlanTest, ASourceWithoutAWorkerIsAnErrorWithItsPlace) {
  const auto complaint = [&](const std::string& sweep) { return thrown_message([&] { plan(sweep); }); };
  EXPECT_THAT(complaint("sweep: {grid: {seed: [1]}}\n"), "");
  EXPECT_THAT(complaint("sweep:\n  grid:\n    model.init_from: [{model.span: 4}]\n"),
              AllOf(HasSubstr("sweep.yaml:7: model.init_from"), HasSubstr("no other sweep has queued it")));
  EXPECT_THAT(complaint("sweep: {grid: {model.init_from: [{}]}}\n"),
              HasSubstr("must say how the run to begin from differs"));
  std::string stopped = run_config(data_, std::string(kTwoStages) + "  early_stopping: {rungs: [4]}\n");
  stopped.replace(stopped.find("checkpoint_every: 4"), 19, "checkpoint_every: 4, eval_every: 2");
  EXPECT_THROW(plan_sweep(recipe_of(parse_yaml(stopped, "sweep.yaml")), runs_, false), UsageError)
      << "one of them would have to go";
  EXPECT_THAT(complaint("sweep: {grid: {model.init_from: [{model.spam: 4}]}}\n"),
              HasSubstr("unknown key 'spam' in 'model'"));
}

TEST_F(SweepPlanTest, ASourceThatIsQueuedForAnotherSweepIsWaitedFor) {
  const char* kLater = "sweep: {grid: {model.span: [8], model.init_from: [{model.span: 16}]}}\n";
  EXPECT_THROW(plan(kLater), UsageError);
  const auto first = plan("sweep: {grid: {model.span: [16]}}\n");
  submit(first[0].planned);
  const auto later = plan(kLater);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later[0].source, first[0].id());
  EXPECT_EQ(later[0].reason, "new, once " + first[0].id() + " is done");
  core_.orders = "fail-at=2";
  work(first[0]);
  EXPECT_THROW(plan(kLater), UsageError) << "no worker will make it";
}

TEST_F(SweepPlanTest, ASourceThatWasStoppedIsWaitedForWhereAnotherSweepsWorkersHaveItOnTheirList) {
  const char* kLater = "sweep: {grid: {model.span: [8], model.init_from: [{model.span: 16}]}}\n";
  const auto first = plan("sweep: {grid: {model.span: [16]}}\n");
  const RunPaths& paths = first[0].planned.paths;
  for (const char* state : {"preempted", "running"}) {  // whose worker is gone
    fs::remove_all(runs_);
    submit(first[0].planned);
    Journal(paths.journal()).append("state", {{"state", state}});
    EXPECT_THROW(plan(kLater), UsageError) << state;
    create_folders(runs_ / ".workers" / "torn");
    write_file(runs_ / ".workers" / "torn" / "work.json", "{");
    create_folders(runs_ / ".workers" / "first");
    write_file(runs_ / ".workers" / "first" / "work.json", Json({{"runs", {{{"id", first[0].id()}}}}}).dump());
    EXPECT_EQ(plan(kLater)[0].reason, "new, once " + first[0].id() + " is done") << state;
    request_stop(paths.folder);
    EXPECT_THROW(plan(kLater), UsageError) << "workers leave it alone";
  }
}

TEST_F(SweepPlanTest, ASourceThatIsDoneWithoutItsModelIsSaidToLackIt) {
  const auto first = plan("sweep: {grid: {model.span: [16]}}\n");
  work(first[0]);
  fs::remove_all(first[0].planned.paths.model());
  EXPECT_THAT([&] { plan("sweep: {grid: {model.span: [8], model.init_from: [{model.span: 16}]}}\n"); },
              ThrowsMessage<UsageError>(HasSubstr(first[0].id() + ": its model is missing")))
      << "there is nothing to begin from";
}

TEST_F(SweepPlanTest, ShufflingMixesTheOrderTheSameWayEachTime) {
  const auto ids = [](const std::vector<SweepRun>& runs) {
    std::vector<std::string> result;
    for (const SweepRun& run : runs) result.push_back(run.id());
    return result;
  };
  auto runs = plan("sweep: {grid: {seed: [1, 2, 3, 4, 5, 6, 7, 8]}}\n");
  auto backwards = plan("sweep: {grid: {seed: [8, 7, 6, 5, 4, 3, 2, 1]}}\n");
  const std::vector<std::string> in_order = ids(runs);
  shuffle_runs(runs);
  shuffle_runs(backwards);
  EXPECT_EQ(ids(runs), ids(backwards));
  EXPECT_NE(ids(runs), in_order);
  EXPECT_THAT(ids(runs), ::testing::UnorderedElementsAreArray(in_order));
}

TEST_F(SweepPlanTest, PointsThatAreTheSameRunAreMerged) {
  EXPECT_EQ(plan("sweep: {grid: {train.threads: [1, 2], seed: [1, 1]}}\n").size(), 1U);
}

TEST_F(SweepPlanTest, SaysWhyARunIsDoneOrSkipped) {
  const std::string sweep = "sweep: {grid: {seed: [1, 2, 3, 4, 5]}}\n";
  auto runs = plan(sweep);
  core_.orders = "seed=2:diverge-at=5 seed=3:fail-at=5";
  for (int i = 0; i < 3; ++i) work(runs[static_cast<std::size_t>(i)]);
  submit(runs[3].planned);
  const RunLock lock(runs[3].planned.paths.folder);
  Journal(runs[3].planned.paths.journal(), nullptr, lock.token())
      .append("state", {{"state", "running"}, {"host", "here"}, {"pid", 7}});
  runs = plan(sweep);
  EXPECT_EQ(runs[0].action, SweepAction::kSkip);
  EXPECT_EQ(runs[0].reason, "done already");
  EXPECT_EQ(runs[1].action, SweepAction::kLeave);
  EXPECT_THAT(runs[1].reason, HasSubstr("--retry"));
  EXPECT_EQ(runs[2].action, SweepAction::kRun);
  EXPECT_THAT(runs[2].reason, AllOf(HasSubstr("failed before, resumes from step 4"), HasSubstr("something broke")));
  EXPECT_EQ(runs[3].action, SweepAction::kWait);
  EXPECT_THAT(runs[3].reason, HasSubstr("running elsewhere (process 7 on here)"));
  EXPECT_TRUE(runs[4].status.is_absent());
  EXPECT_EQ(plan(sweep, true)[1].action, SweepAction::kRun);
}

TEST_F(SweepPlanTest, ARunThatIsDoneHasItsEvaluationsLeft) {
  const auto planned = [&](const std::string& more) {
    return plan_sweep(recipe_of(parse_yaml(window_config(data_, more), "sweep.yaml")), runs_, false);
  };
  auto runs = planned("evaluate: {model.overlap: [1, 2]}\n");
  EXPECT_EQ(runs[0].reason, "new, then 2 evaluations");
  want_and_work(runs[0]);
  EXPECT_EQ(planned("evaluate: {model.overlap: [1, 2]}\n")[0].action, SweepAction::kSkip);
  runs = planned("evaluate: {model.overlap: [0, 1, 2, 3]}\n");
  EXPECT_EQ(runs[0].action, SweepAction::kRun);
  EXPECT_EQ(runs[0].reason, "done, 1 of 4 evaluations missing");
  EXPECT_EQ(CostEstimator([this]() -> Core& { return core_; }).of(runs[0]).flops, 0) << "nothing is left to train";
  const RunLock lock(runs[0].planned.paths.folder);
  runs = planned("evaluate: {model.overlap: [0, 1, 2, 3]}\n");
  EXPECT_EQ(runs[0].action, SweepAction::kWait);
  EXPECT_THAT(runs[0].reason, HasSubstr("being made elsewhere"));
}

TEST_F(SweepPlanTest, ARunWhoseProcessIsGoneIsStale) {
  const std::string sweep = "sweep: {grid: {seed: [1]}}\n";
  auto runs = plan(sweep);
  submit(runs[0].planned);
  Journal(runs[0].planned.paths.journal()).append("state", {{"state", "running"}});
  runs = plan(sweep);
  EXPECT_EQ(runs[0].status, RunStatus::kStale);
  EXPECT_EQ(runs[0].action, SweepAction::kRun);
  EXPECT_THAT(runs[0].reason, HasSubstr("starts from the beginning"));
}

TEST_F(SweepPlanTest, AWrongValueOfOnePointNamesItsLine) {
  EXPECT_THAT([&] { plan("sweep:\n  grid:\n    seed: [1, 2]\n    model.span: [8, -1]\n"); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("sweep.yaml:8"), HasSubstr("model.span is -1"))));
}

TEST_F(SweepPlanTest, EstimatesTheWorkThatIsLeftAskingOnceForEachModel) {
  const std::string sweep = "sweep: {grid: {seed: [1, 2, 3], model.span: [8, 16]}}\n";
  work(plan(sweep)[0]);
  const auto runs = plan(sweep);
  CostEstimator estimator([this]() -> Core& { return core_; });
  EXPECT_EQ(estimator.of(runs[0]).flops, 0);
  EXPECT_EQ(estimator.of(runs[0]).params, 1003);
  EXPECT_EQ(estimator.of(runs[2]).flops, 3 * 10.0 * 10 * 2 * 4);
  for (const SweepRun& run : runs) estimator.of(run);
  EXPECT_EQ(core_.cost_calls, 2);
}

}  // namespace
}  // namespace xlm
