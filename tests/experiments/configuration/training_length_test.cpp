// Epochs and tokens become steps where a configuration is read.
#include "experiments/configuration/training_length.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TrainingLengthTest : public ::testing::Test {
 protected:
  /// Two rows of 50 tokens.
  TrainingLengthTest() : data_(make_data(folder_.path() / "data", letters(100))) {}

  static std::string letters(std::size_t count) {
    std::string text;
    while (text.size() < count) text += "abc";
    return text.substr(0, count);
  }

  RunOptions read(const std::string& train, const std::string& model = "type: adaptive-span") const {
    return read_run_options(parse_yaml("data: {path: " + data_.string() + "}\nmodel: {" + model +
                                           "}\noptimizer: {warmup_steps: 0}\ntrain: {batch: 2, block: 8, " + train +
                                           "}\n",
                                       "run.yaml"));
  }
  std::int64_t steps(const std::string& train, const std::string& model = "type: adaptive-span") const {
    return read(train, model).train.steps;
  }
  std::string complaint(const std::string& train) const {
    return thrown_message([&] { read(train); });
  }

  TemporaryFolder folder_;
  fs::path data_;
};

TEST_F(TrainingLengthTest, EpochsFollowTheSchemeOfTheModel) {
  EXPECT_EQ(steps("epochs: 1"), 6);  // 49 predictions of a row are 6 whole blocks
  EXPECT_EQ(steps("epochs: 2.5"), 15);
  EXPECT_EQ(steps("epochs: 0.01"), 1);                         // from one step
  EXPECT_EQ(steps("epochs: 2", "type: hourglass"), 14);        // and one that is short
  EXPECT_EQ(steps("epochs: 2", "type: gpt2, window: 8"), 13);  // 99 predictions are 13 sequences, 2 at a time
}

TEST_F(TrainingLengthTest, SequencesEndWithTheirDocuments) {
  Json meta = read_json(data_ / "meta.json");
  meta["documents"]["train"] = {0, 9, 10, 90};
  write_file(data_ / "meta.json", meta.dump());
  EXPECT_EQ(steps("epochs: 2", "type: gpt2, window: 8"), 1 + 10 + 2);  // 8, 0, 79 and 9 predictions
}

TEST_F(TrainingLengthTest, TokensAreScoredPredictions) {
  EXPECT_EQ(steps("tokens: 160"), 10);  // 2 · 8 of a step
  EXPECT_EQ(steps("tokens: 167"), 10);
  EXPECT_EQ(steps("tokens: 169"), 11);
  EXPECT_EQ(steps("tokens: 98", "type: hourglass"), 7);  // of an epoch whose last step scores 2
  const TrainOptions both = read("tokens: 1600, eval_every_tokens: 320").train;
  EXPECT_EQ(both.eval_every, 20);
  EXPECT_EQ(read("steps: 7, eval_every_tokens: 33").train.eval_every, 2);
}

TEST_F(TrainingLengthTest, MoreStepsThanTrainStepsMayBeAreRefused) {
  EXPECT_THAT(complaint("tokens: 9e15"), HasSubstr("train.tokens is 5.6e+14 steps of these data"));
  EXPECT_THAT(complaint("steps: 7, eval_every_tokens: 9e15"), HasSubstr("train.eval_every_tokens is"));
  EXPECT_THAT(complaint("epochs: 1e15"), HasSubstr("train.epochs is"));
}

TEST_F(TrainingLengthTest, WhatIsResolvedIsARunOfSteps) {
  const RunOptions given = read("epochs: 2, eval_every_tokens: 64");
  EXPECT_EQ(to_text(resolved(given)), to_text(resolved(read("steps: 12, eval_every: 4"))));
  EXPECT_EQ(to_text(resolved(read_run_options(resolved(given)))), to_text(resolved(given)));
  EXPECT_EQ(run_id(given, read_inputs(given)), run_id(read("steps: 12, eval_every: 4"), read_inputs(given)));
}

TEST_F(TrainingLengthTest, ExactlyOneSaysIt) {
  EXPECT_THAT(complaint("steps: 5, epochs: 1"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("train.steps and train.epochs")));
  EXPECT_THAT(complaint("epochs: 5, tokens: 1"), HasSubstr("train.epochs and train.tokens"));
  EXPECT_THAT(complaint("eval_every: 0"), HasSubstr("train.steps is missing"));
  EXPECT_THAT(complaint("steps: 5, eval_every: 1, eval_every_tokens: 1"), HasSubstr("train.eval_every_tokens"));
  EXPECT_EQ(steps("steps: 0, epochs: 1"), 6) << "0 takes away what a file says";
}

TEST_F(TrainingLengthTest, OptionsThatGoWithStepsSeeTheResolvedOnes) {
  const std::string late = "type: hourglass}\noptimizer: {schedule: cosine, warmup_steps: 20";
  EXPECT_THROW(read_run_options(parse_yaml("data: {path: " + data_.string() + "}\nmodel: {" + late +
                                               "}\ntrain: {batch: 2, block: 8, epochs: 2}\n",
                                           "run.yaml")),
               UsageError);
}

TEST_F(TrainingLengthTest, DataThatAreNotThereOrTooShortAreSaid) {
  fs::remove(data_ / "meta.json");
  EXPECT_EQ(steps("steps: 3"), 3) << "steps need no data";
  EXPECT_THROW(steps("epochs: 1"), DataError);
  make_data(folder_.path() / "data", "abcabcabc");
  EXPECT_THROW(steps("epochs: 1"), DataError);
}

}  // namespace
}  // namespace xlm
