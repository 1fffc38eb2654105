// Runs before any worker has them: their names, and the files of a submission.
#include "experiments/runs/submission.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "core/api/byte_patches_options.h"
#include "core/api/hourglass_options.h"
#include "experiments/configuration/configuration.h"
#include "tests/experiments/worker/runner_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST_F(RunnerTest, SubmittingMakesAWholeQueuedRun) {
  const PlannedRun run = submitted("experiment: first\n");
  const auto read = read_run(run.paths.folder);
  EXPECT_EQ(read.status, RunStatus::kQueued);
  EXPECT_THAT(read.experiments, ElementsAre("first"));
  EXPECT_EQ(read.environment["dataset"], "abc");
  EXPECT_EQ(read.environment["fingerprint"], run.inputs.data.fingerprint);
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).data.path, data_.string());
  for (const auto& entry : fs::directory_iterator(runs_)) EXPECT_NE(entry.path().filename().string().front(), '.');
}

TEST_F(RunnerTest, AnotherExperimentSharesTheRun) {
  const PlannedRun run = submitted("experiment: first\n");
  EXPECT_EQ(submitted("experiment: second\n").id(), run.id());
  submitted("experiment: second\n");
  EXPECT_THAT(read_run(run.paths.folder).experiments, ElementsAre("first", "second"));
}

TEST_F(RunnerTest, AFolderOfOtherWorkIsNoRunOfItsName) {
  const PlannedRun run = submitted();
  Yaml config = read_yaml(run.paths.config());
  config.set("seed", make_scalar("2", "test"));
  write_file(run.paths.config(), to_text(config));
  EXPECT_THAT([&] { plan(); }, ThrowsMessage<DataError>(
                                   AllOf(HasSubstr(run.id()), HasSubstr("does not hold the run that its name says"))))
      << "taken for the same work";
}

TEST_F(RunnerTest, SubmittingAnUnfinishedRunAgainUpdatesItsSettings) {
  const PlannedRun run = submitted();
  RunOptions options = run.options;
  options.train.max_hours = 2;
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).train.max_hours, 2);
  work(run);
  options.train.max_hours = 3;
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_run_options(read_yaml(run.paths.config())).train.max_hours, 2);  // done: nothing left to decide
}

TEST_F(RunnerTest, SubmittingARunThatIsBeingDoneChangesNothingButItsExperiments) {
  const PlannedRun run = submitted("experiment: first\n");
  const RunLock lock(run.paths.folder);
  Journal(run.paths.journal()).append("state", {{"state", "running"}});
  const std::string config = read_file(run.paths.config());
  RunOptions options = run.options;
  options.train.max_hours = 2;
  options.experiment = "second";
  submit(Planner(runs_).plan(options));
  EXPECT_EQ(read_file(run.paths.config()), config);
  EXPECT_THAT(read_run(run.paths.folder).experiments, ElementsAre("first", "second"));
}

TEST_F(RunnerTest, AFileInTheWayIsNamed) {
  const PlannedRun run = plan();
  create_folders(runs_);
  write_file(run.paths.folder, "");
  EXPECT_THROW(submit(run), DataError);
  write_file(folder_.path() / "file", "");
  PlannedRun nowhere = run;
  nowhere.paths.folder = folder_.path() / "file" / "runs" / "id";
  EXPECT_THROW(submit(nowhere), Error);
}

TEST_F(RunnerTest, ATokenizersFileHasAnAbsoluteName) {
  const fs::path tokenizer = folder_.path() / "pieces.model";
  write_file(tokenizer, "pieces");
  const auto planned = [&](const std::string& name) {
    const std::string model = "{type: hourglass, boundaries: {type: unigram, tokenizer: " + name + "}}";
    return Planner(runs_).plan(
        read_run_options(parse_yaml("data: {path: " + data_.string() + "}\nmodel: " + model +
                                        "\ntrain: {steps: 10, batch: 2, block: 4}\noptimizer: {warmup_steps: 1}\n",
                                    "run.yaml")));
  };
  const PlannedRun run = planned(fs::relative(tokenizer).string());
  EXPECT_EQ(run.options.model.get<HourglassOptions>().boundaries.tokenizer, tokenizer.string());
  EXPECT_EQ(run.id(), planned(tokenizer.string()).id());
}

/// As initial weights are. A name that is a folder already stays if the folder is gone.
TEST_F(RunnerTest, AModelThatAnotherHasInsideIsFoundByRunId) {
  const PlannedRun small = submitted();
  work(small);
  const auto with_inner = [&](const std::string& model) {
    return Planner(runs_).plan(read_run_options(parse_yaml(
        "data: {path: " + data_.string() + "}\nmodel: {type: byte-patches, boundaries: {type: entropy, model: " +
            model + "}}\ntrain: {steps: 10, batch: 2, block: 4}\neval: {context: 4, stride: 4}\n",
        "run.yaml")));
  };
  const PlannedRun by_id = with_inner(small.id());
  EXPECT_EQ(by_id.options.model.get<BytePatchesOptions>().boundaries.model, small.paths.model().string());
  EXPECT_EQ(by_id.inputs.contents.at("model.boundaries.model"), "run:" + small.id());
  EXPECT_EQ(with_inner(small.paths.folder.string()).id(), by_id.id());
  EXPECT_THROW(with_inner("nothing-like-it"), DataError);
  fs::remove_all(small.paths.model());
  EXPECT_EQ(with_inner(small.paths.model().string()).id(), by_id.id());
}

TEST_F(RunnerTest, InitialWeightsAreFoundByRunIdAndThoseOfAFolderCountByContent) {
  const PlannedRun first = submitted();
  work(first);
  const auto with_init = [&](const std::string& model) {
    RunOptions options = first.options;
    options.init_from = model;
    return Planner(runs_).plan(options);
  };
  const PlannedRun by_prefix = with_init("adaptive-span-abc");
  EXPECT_EQ(by_prefix.options.init_from, first.paths.model().string());
  EXPECT_NE(by_prefix.id(), first.id());
  EXPECT_EQ(with_init(first.paths.model()).id(), by_prefix.id());
  EXPECT_THROW(with_init("nothing-like-it"), DataError);
  const fs::path folder = folder_.path() / "weights";
  fs::copy(first.paths.model(), folder);
  const PlannedRun by_content = with_init(folder);
  EXPECT_NE(by_content.id(), by_prefix.id()) << "a run's model is what the run's id says";
  submit(by_content);
  write_file(folder / "model.safetensors", "other weights");
  EXPECT_EQ(work(by_content).code, kBadData);
  EXPECT_NE(with_init(folder).id(), by_content.id());
}

}  // namespace
}  // namespace xlm
