// How a step is computed does not change what it computes: refused recordings, and rows that memory holds.
#include "core/train/batch_gradients.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/api/adaptive_span_options.h"
#include "core/models/language_model.h"
#include "core/train/optimizer.h"
#include "core/train/rerun_recorder.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Runs a step like a recorder, and then finds that it cannot be recorded.
class RefusingRecorder final : public StepRecorder {
 public:
  RefusingRecorder(std::function<void()> refuse, int& asked) : refuse_(std::move(refuse)), asked_(&asked) {}
  void warm_up(const std::function<void()>& work) override { work(); }
  void record(const std::function<void()>& work) override {
    ++*asked_;
    work();
    torch::manual_seed(77);  // the generator must be seeded again
    refuse_();
  }
  void replay() override { FAIL() << "there is no recording"; }
  void forget() override {}

 private:
  std::function<void()> refuse_;
  int* asked_;
};

/// The losses of eight steps with dropout, and the weights that they lead to. Before them, `prepare` changes how they
/// are computed.
std::pair<std::vector<double>, torch::Tensor> trained_after(const std::function<void(BatchGradients&)>& prepare,
                                                            std::int64_t micro_batch = 0) {
  torch::manual_seed(7);
  RunOptions options;
  options.model = ModelOptions(AdaptiveSpanOptions{.width = 16,
                                                   .heads = 2,
                                                   .feed_forward = 32,
                                                   .layers = 2,
                                                   .dropout = 0.2,
                                                   .attention_dropout = 0.2,
                                                   .span = 40,
                                                   .span_type = AdaptiveSpanOptions::SpanType::kFixed});
  options.train.batch = 3;
  options.train.block = 16;
  options.train.micro_batch = micro_batch;
  const std::shared_ptr<LanguageModel> model = make_model(options.model, 11);
  model->train();
  const NamedTensors weights{model->weights().begin(), model->weights().end()};
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdagrad, .lr = 0.07}, weights);
  BatchGradients gradients(options, *model, torch::kCPU, nullptr, nullptr);
  torch::manual_seed(8);
  const torch::Tensor text = torch::randint(11, {3, 8 * 16 + 1}, torch::kLong);
  prepare(gradients);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < 8; ++step) {
    optimizer.zero_gradients();
    const Batch batch{.input = {.tokens = text.narrow(1, 16 * step, 16)},
                      .targets = text.narrow(1, 16 * step + 1, 16),
                      .fresh = step == 0};
    losses.push_back(gradients.add(batch, step));
    optimizer.step(0.07, step + 1);
    model->after_step();
  }
  std::vector<torch::Tensor> all;
  for (const auto& [name, weight] : weights) all.push_back(weight.detach().flatten());
  return {losses, torch::cat(all)};
}

std::pair<std::vector<double>, torch::Tensor> trained_by(std::unique_ptr<StepRecorder> recorder, TrainSink& sink) {
  return trained_after([&](BatchGradients& gradients) { gradients.record_by(std::move(recorder), sink); });
}

void as_it_is(BatchGradients& /*gradients*/) {}

TEST(RefusedRecordings, TrainAsUnrecordedStepsDoAndSaySoOnce) {
  const auto [expected, weights] = trained_after(as_it_is);
  const std::vector<std::pair<std::function<void()>, const char*>> refusals{
      {[] {
         throw c10::Error(c10::SourceLocation{__func__, __FILE__, 0},
                          "CUDA error: operation not permitted when stream is capturing\nand more");
       },
       "CUDA error: operation not permitted when stream is capturing"},
      {[] {
         throw c10::OutOfMemoryError(c10::SourceLocation{__func__, __FILE__, 0}, "CUDA out of memory.");
       },
       "CUDA out of memory."},
      {[] { throw Error("cannot start an attention kernel: unknown"); }, "cannot start an attention kernel: unknown"}};
  for (const auto& [refuse, why] : refusals) {
    RecordingSink sink;
    int asked = 0;
    const auto [losses, found] = trained_by(std::make_unique<RefusingRecorder>(refuse, asked), sink);
    EXPECT_EQ(losses, expected) << why;
    EXPECT_TRUE(found.equal(weights)) << why;
    EXPECT_THAT(sink.messages,
                ElementsAre(AllOf(HasSubstr("train.cuda_graph has no effect from step 6 on"), testing::EndsWith(why))));
    EXPECT_EQ(asked, 1);
  }
}

TEST(RefusedRecordings, OthersAreReplayedWithoutAWord) {
  const auto [expected, weights] = trained_after(as_it_is);
  RecordingSink sink;
  const auto [losses, found] = trained_by(std::make_unique<RerunRecorder>(), sink);
  EXPECT_EQ(losses, expected);
  EXPECT_TRUE(found.equal(weights));
  EXPECT_THAT(sink.messages, IsEmpty());
}

/// Batches that know their place.
class CountedBatches final : public BatchStream {
 public:
  Batch next() override {
    ++place_;
    const torch::Tensor text = torch::zeros({3, 17}, torch::kLong);
    return {.input = {.tokens = text.narrow(1, 0, 16)}, .targets = text.narrow(1, 1, 16), .fresh = true};
  }
  Json state() const override { return {{"place", place_}}; }
  void restore(const Json& state) override { place_ = state.at("place").get<int>(); }
  int place() const { return place_; }

 private:
  int place_ = 0;
};

constexpr double kPlenty = 1e15;  // bytes

TEST(FittingMemory, ChangesNothingIfAllRowsFit) {
  const auto [expected, weights] = trained_after(as_it_is);
  RecordingSink sink;
  CountedBatches batches;
  const auto [losses, found] =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, kPlenty, sink); });
  EXPECT_EQ(losses, expected);
  EXPECT_TRUE(found.equal(weights));
  EXPECT_THAT(sink.messages, IsEmpty());
  EXPECT_EQ(batches.place(), 0) << "nothing of the text is passed over";
}

TEST(FittingMemory, ComputesFewerRowsAtOnceIfTheyDoNotAndSaysSo) {
  const auto [expected, weights] = trained_after(as_it_is, 1);
  RecordingSink sink;
  CountedBatches batches;
  const auto [losses, found] =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, 1, sink); });
  EXPECT_EQ(losses, expected) << "those of train.micro_batch=1";
  EXPECT_TRUE(found.equal(weights));
  EXPECT_THAT(sink.messages, ElementsAre("note: 1 of 3 rows are computed at once (train.micro_batch): more do not fit, "
                                         "and 1 B are available"));
}

TEST(FittingMemory, LeavesFewerRowsThatTheUserWants) {
  const auto [expected, weights] = trained_after(as_it_is, 2);
  RecordingSink sink;
  CountedBatches batches;
  const auto [losses, found] =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, kPlenty, sink); }, 2);
  EXPECT_EQ(losses, expected);
  EXPECT_THAT(sink.messages, IsEmpty());
}

TEST(FittingMemory, LeavesTheCpuAlone) {
  RecordingSink sink;
  CountedBatches batches;
  trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, sink); });
  EXPECT_THAT(sink.messages, IsEmpty());
}

}  // namespace
}  // namespace xlm
