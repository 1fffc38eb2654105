// Runs that go on from a checkpoint of another run: the same bits as a run that was so long from the start, for every
// scheme; and what they begin with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/checkpoint_files.h"
#include "core/api/transformer_options.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/schemes/scheme.h"
#include "core/train/checkpoint.h"
#include "tests/core/train/training.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class BranchTest : public TrainerTest {
 protected:
  /// `name` with the options of `parent`, that goes on from its checkpoint of `step`.
  TrainJob branch_of(const TrainJob& parent, const std::string& name, std::int64_t step, std::int64_t steps) {
    TrainJob child = parent;
    child.folder = folder_.path() / name;
    child.options.continues = {.run = parent.folder.filename().string(), .at = step};
    child.options.train.steps = steps;
    const fs::path from = parent.folder / kCheckpointFolder;
    const fs::path to = child.folder / kCheckpointFolder;
    create_folders(to);
    fs::copy_file(from / checkpoint_name(step), to / kStartCheckpoint);
    if (fs::exists(from / kBestWeights)) fs::copy_file(from / kBestWeights, to / kBestWeights);
    return child;
  }

  TrainJob transformer_job(const std::string& name) {
    TrainJob transformer = job(name);
    transformer.options.model = TransformerOptions::smallest().front();
    transformer.options.optimizer = {.type = OptimizerOptions::Type::kAdamW, .lr = 5e-3, .weight_decay = 0.1};
    transformer.options.eval.context = 16;
    transformer.options.eval.stride = 16;
    return transformer;
  }

  /// Trains `whole` at once, and the same in three runs that go on from each other.
  void expect_same_in_three_parts(TrainJob whole, std::int64_t part) {
    whole.options.train.steps = 3 * part;
    whole.options.train.eval_every = part / 2;
    RecordingSink whole_sink;
    ASSERT_EQ(train(whole, whole_sink), TrainOutcome::kDone);
    TrainJob first = whole;
    first.folder = folder_.path() / "first";
    first.options.train.steps = part;
    RecordingSink sink;
    ASSERT_EQ(train(first, sink), TrainOutcome::kDone);
    const TrainJob second = branch_of(first, "second", part, 2 * part);
    RecordingSink second_sink;
    ASSERT_EQ(train(second, second_sink), TrainOutcome::kDone);
    EXPECT_THAT(second_sink.messages, Contains(HasSubstr("going on from step " + std::to_string(part) + " of first")));
    EXPECT_EQ(second_sink.losses.begin()->first, part + 1);
    fs::remove_all(first.folder);  // nothing more is taken from it
    const TrainJob third = branch_of(second, "third", 2 * part, 3 * part);
    RecordingSink stopped;
    stopped.stop_after = 2 * part + 1;
    ASSERT_EQ(train(third, stopped), TrainOutcome::kStopped);
    RecordingSink last;
    ASSERT_EQ(train(third, last), TrainOutcome::kDone);
    expect_same_model(whole, third);
    EXPECT_EQ(last.losses.at(3 * part), whole_sink.losses.at(3 * part));
    EXPECT_EQ(last.evaluations.back().loss, whole_sink.evaluations.back().loss);
    // The evaluation during training at the step where a run goes on is made by the run that goes on.
    const auto during = [](const std::vector<Evaluation>& evaluations) {
      std::map<std::int64_t, double> losses;
      for (const Evaluation& one : evaluations) {
        if (!one.final && one.split == "valid") losses[one.step] = one.loss;
      }
      return losses;
    };
    std::map<std::int64_t, double> found = during(second_sink.evaluations);
    found.merge(during(stopped.evaluations));
    found.merge(during(last.evaluations));
    for (const auto& [step, loss] : found) EXPECT_EQ(loss, during(whole_sink.evaluations).at(step)) << step;
    EXPECT_TRUE(found.contains(part));
    EXPECT_TRUE(found.contains(2 * part));
  }
};

TEST_F(BranchTest, OfStreamsGoOnWithTheSameBits) { expect_same_in_three_parts(job("whole"), 8); }

TEST_F(BranchTest, OfRotatedChunksGoOnWithTheSameBits) {
  TrainJob whole = hourglass_job("whole", BoundaryOptions::Type::kFixed);
  whole.options.optimizer.schedule = OptimizerOptions::Schedule::kConstant;
  expect_same_in_three_parts(whole, 4);
}

TEST_F(BranchTest, OfWindowsGoOnWithTheSameBits) { expect_same_in_three_parts(recurrent_job("whole", false), 4); }

TEST_F(BranchTest, OfRandomWindowsGoOnWithTheSameBits) { expect_same_in_three_parts(transformer_job("whole"), 4); }

TEST_F(BranchTest, BeforeTheDecayOfWsdGoesOnWithTheSameBitsAndAfterItDoesNot) {
  TrainJob parent = transformer_job("parent");
  parent.options.optimizer.schedule = OptimizerOptions::Schedule::kWsd;
  parent.options.optimizer.warmup_steps = 3;
  parent.options.train.steps = 20;  // the last 4 decay
  parent.options.train.keep_every = 5;
  TrainJob whole = parent;
  whole.folder = folder_.path() / "whole";
  whole.options.train.steps = 30;
  RecordingSink sink;
  ASSERT_EQ(train(parent, sink), TrainOutcome::kDone);
  ASSERT_EQ(train(whole, sink), TrainOutcome::kDone);
  const TrainJob before = branch_of(parent, "before", 15, 30);
  ASSERT_EQ(train(before, sink), TrainOutcome::kDone);
  expect_same_model(whole, before);
  const TrainJob after = branch_of(parent, "after", 20, 30);
  ASSERT_EQ(train(after, sink), TrainOutcome::kDone);
  const TensorFile a = read_safetensors(whole.folder / "model/model.safetensors");
  const TensorFile b = read_safetensors(after.folder / "model/model.safetensors");
  EXPECT_FALSE(torch::equal(a.tensors.front().second, b.tensors.front().second));
}

TEST_F(BranchTest, TakesOtherRatesAndDropoutFromThereOn) {
  const TrainJob parent = job("parent");
  RecordingSink sink;
  ASSERT_EQ(train(parent, sink), TrainOutcome::kDone);
  TrainJob same = branch_of(parent, "same", 24, 30);
  TrainJob other = branch_of(parent, "other", 24, 30);
  other.options.optimizer.lr = 0.001;
  other.options.model.get<AdaptiveSpanOptions>().dropout = 0;
  RecordingSink of_same;
  RecordingSink of_other;
  ASSERT_EQ(train(same, of_same), TrainOutcome::kDone);
  ASSERT_EQ(train(other, of_other), TrainOutcome::kDone);
  EXPECT_EQ(of_other.records.at(30).at("lr"), 0.001);
  EXPECT_EQ(of_same.records.at(30).at("lr"), 0.07);
  EXPECT_NE(of_other.losses.at(30), of_same.losses.at(30));
}

TEST_F(BranchTest, ReadsATextFromItsBeginningIfAskedTo) {
  TrainJob parent = job("parent");
  auto& shape = parent.options.model.get<AdaptiveSpanOptions>();
  shape.dropout = shape.attention_dropout = shape.span_penalty = 0;
  RecordingSink sink;
  ASSERT_EQ(train(parent, sink), TrainOutcome::kDone);
  TrainJob child = branch_of(parent, "child", 24, 26);
  child.options.continues.text = ContinueOptions::Text::kRestart;
  child.options.train.batch = 8;
  child.options.train.block = 20;
  RecordingSink of_child;
  ASSERT_EQ(train(child, of_child), TrainOutcome::kDone);

  const PreparedData data = open_prepared(child.options.data.path);
  const auto model = make_model(child.options.model, data.vocabulary);
  load_weights(*model, read_checkpoint_weights(child.folder / kCheckpointFolder / kStartCheckpoint), "the start");
  model->train();
  const TokenSource text(data.split("train"), {}, nullptr);
  const Batch first = scheme_of(*model).batches(text, {8, 20}, child.options.seed)->next();
  const ModelOutput output = model->forward(first.input, model->initial_state(8));
  EXPECT_NEAR(of_child.losses.at(25), output.summed_loss(first.targets).item<double>() / (8 * 20), 1e-6);
}

TEST_F(BranchTest, NeedsItsStart) {
  const TrainJob parent = job("parent");
  RecordingSink sink;
  ASSERT_EQ(train(parent, sink), TrainOutcome::kDone);
  const auto complaint = [&](const TrainJob& job) { return thrown_message<DataError>([&] { train(job, sink); }); };
  const TrainJob gone = branch_of(parent, "gone", 24, 30);
  fs::remove(gone.folder / kCheckpointFolder / kStartCheckpoint);
  EXPECT_THAT(complaint(gone), HasSubstr("start.safetensors"));
  TrainJob another = branch_of(parent, "another", 24, 30);
  another.options.continues.at = 20;
  EXPECT_THAT(complaint(another), HasSubstr("is of step 24, and this run begins at step 20"));
  const TrainJob damaged = branch_of(parent, "damaged", 24, 30);
  std::string bytes = read_file(damaged.folder / kCheckpointFolder / kStartCheckpoint);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(damaged.folder / kCheckpointFolder / kStartCheckpoint, bytes);
  EXPECT_NE(complaint(damaged), "");
}

TEST_F(BranchTest, KeepsEveryWantedCheckpointAndTheNewestTwo) {
  TrainJob kept = job("kept");
  kept.options.train.checkpoint_every = 5;
  kept.options.train.keep_every = 8;
  kept.options.train.eval_every = 0;
  RecordingSink sink;
  ASSERT_EQ(train(kept, sink), TrainOutcome::kDone);
  std::vector<std::int64_t> steps;
  for (const auto& entry : fs::directory_iterator(kept.folder / kCheckpointFolder)) {
    steps.push_back(step_of_checkpoint(entry.path()));
  }
  std::sort(steps.begin(), steps.end());
  EXPECT_THAT(steps, ElementsAre(8, 16, 20, 24));
}

TEST_F(BranchTest, BeginsFromTheWeightsOfACheckpoint) {
  const TrainJob parent = job("parent");
  RecordingSink sink;
  sink.stop_after = 12;
  ASSERT_EQ(train(parent, sink), TrainOutcome::kStopped);
  TrainJob child = job("child");
  const fs::path file = parent.folder / kCheckpointFolder / checkpoint_name(12);
  child.options.init_from = file.string();
  child.options.train.steps = 1;
  child.options.optimizer.lr = 1e-12;
  const fs::path own = child.folder / kCheckpointFolder;
  create_folders(own);
  fs::copy_file(file, own / kStartCheckpoint);
  write_file(own / kStartVocabulary, vocabulary_json(open_prepared(child.options.data.path).vocabulary));
  RecordingSink of_child;
  ASSERT_EQ(train(child, of_child), TrainOutcome::kDone);
  EXPECT_EQ(of_child.losses.begin()->first, 1);
  const std::map<std::string, torch::Tensor> before = [&] {
    const NamedTensors weights = read_checkpoint_weights(file);
    return std::map<std::string, torch::Tensor>(weights.begin(), weights.end());
  }();
  for (const auto& [name, tensor] : read_safetensors(child.folder / "model/model.safetensors").tensors) {
    EXPECT_TRUE(torch::allclose(tensor, before.at(name), 0, 1e-9)) << name;
  }
}

}  // namespace
}  // namespace xlm
