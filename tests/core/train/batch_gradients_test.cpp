// How many rows memory holds does not change what a step computes.
#include "core/train/batch_gradients.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <new>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/memory_limit.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/parallel/process_group.h"
#include "core/train/checkpoint.h"
#include "tests/core/train/trained_batches.h"
#include "tests/core/train/training.h"

namespace xlm {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunOptions options_with(const ModelOptions& model, std::int64_t micro_batch = 0) {
  RunOptions options;
  options.model = model;
  options.train.batch = 3;
  options.train.block = 16;
  options.train.micro_batch = micro_batch;
  return options;
}

/// Eight steps with dropout. In front of one of them `prepare` changes how it and the later ones are computed.
TrainedBatches trained(const RunOptions& options, const std::function<void(BatchGradients&)>& prepare,
                       std::int64_t prepared_step = 0) {
  return train_batches(options, std::vector<std::int64_t>(8, 16), [&](BatchGradients& gradients, std::int64_t step) {
    if (step == prepared_step) prepare(gradients);
  });
}

TrainedBatches trained_after(const std::function<void(BatchGradients&)>& prepare, std::int64_t micro_batch = 0) {
  return trained(options_with(spans_of(AdaptiveSpanOptions::SpanType::kFixed), micro_batch), prepare);
}

void as_it_is(BatchGradients& /*gradients*/) {}

/// Batches that know their place, of these widths and of 16 places behind them.
class CountedBatches final : public BatchStream {
 public:
  explicit CountedBatches(bool fresh = true, std::vector<std::int64_t> widths = {}, std::int64_t rows = 3)
      : fresh_(fresh), widths_(std::move(widths)), rows_(rows) {}
  Batch next() override {
    const auto place = static_cast<std::size_t>(place_++);
    const std::int64_t width = place < widths_.size() ? widths_[place] : 16;
    const torch::Tensor text = torch::zeros({rows_, width + 1}, torch::kLong);
    return {.input = {.tokens = text.narrow(1, 0, width)}, .targets = text.narrow(1, 1, width), .fresh = fresh_};
  }
  Json state() const override { return {{"place", place_}}; }
  void restore(const Json& state) override { place_ = state.at("place").get<int>(); }
  int place() const { return place_; }

 private:
  bool fresh_;
  std::vector<std::int64_t> widths_;
  std::int64_t rows_;
  int place_ = 0;
};

constexpr double kPlenty = 1e15;  // bytes

TEST(FittingMemory, ChangesNothingIfAllRowsFit) {
  const TrainedBatches expected = trained_after(as_it_is);
  RecordingSink sink;
  CountedBatches batches;
  const TrainedBatches found =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, kPlenty, sink); });
  EXPECT_TRUE(found == expected);
  EXPECT_THAT(sink.messages, IsEmpty());
  EXPECT_EQ(batches.place(), 0) << "nothing of the text is passed over";
}

TEST(FittingMemory, ComputesFewerRowsAtOnceIfTheyDoNotAndSaysSo) {
  const TrainedBatches expected = trained_after(as_it_is, 1);
  RecordingSink sink;
  CountedBatches batches;
  const TrainedBatches found =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, 1, sink); });
  EXPECT_TRUE(found == expected) << "those of train.micro_batch=1";
  EXPECT_THAT(sink.messages, ElementsAre("note: 1 of 3 rows are computed at once (train.micro_batch): more do not fit, "
                                         "and 1 B are available"));
}

TEST(FittingMemory, LeavesFewerRowsThatTheUserWants) {
  const TrainedBatches expected = trained_after(as_it_is, 2);
  RecordingSink sink;
  CountedBatches batches;
  const TrainedBatches found =
      trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, kPlenty, sink); }, 2);
  EXPECT_TRUE(found == expected);
  EXPECT_THAT(sink.messages, IsEmpty());
}

/// What its sizes depend on: the text, weights that change, what earlier blocks or windows leave.
std::vector<std::pair<const char*, ModelOptions>> models_of_changing_sizes() {
  Gpt2Options windows{.width = 16,
                      .heads = 2,
                      .layers = 2,
                      .positions = 16,
                      .dropout = 0.2,
                      .attention_dropout = 0.2,
                      .window = 6,
                      .overlap = 2,
                      .recurrence = {.pool = RecurrenceOptions::Pool::kMean, .hidden = {8}}};
  Gpt2Options cache = windows;
  cache.recurrence = {};
  cache.memory = {.type = WindowMemoryOptions::Type::kCache, .windows = 2};
  return {{"adaptive spans", spans_of(AdaptiveSpanOptions::SpanType::kAdaptive)},
          {"dynamic spans", spans_of(AdaptiveSpanOptions::SpanType::kDynamic)},
          {"windows with recurrence", windows},
          {"windows with a cache", cache},
          {"gumbel pooling", HourglassOptions{.width = 16,
                                              .heads = 2,
                                              .feed_forward = 32,
                                              .layers = {1, 1, 1},
                                              .dropout = 0.2,
                                              .attention_dropout = 0.2,
                                              .boundaries = {.type = BoundaryOptions::Type::kGumbel}}}};
}

/// During training, where streams have filled their caches, and counts are not 0.
TEST(FittingMemory, ChangesNothingOfModelsWhoseSizesChange) {
  for (const auto& [name, model] : models_of_changing_sizes()) {
    const RunOptions options = options_with(model);
    const TrainedBatches expected = trained(options, as_it_is);
    for (const bool fresh : {true, false}) {
      RecordingSink sink;
      CountedBatches batches(fresh);
      const auto fit = [&](BatchGradients& gradients) { gradients.fit_memory(batches, kPlenty, sink); };
      EXPECT_TRUE(trained(options, fit, 5) == expected) << name;
      EXPECT_THAT(sink.messages, IsEmpty()) << name;
      EXPECT_EQ(batches.place(), 0) << name;
    }
  }
}

TEST(FittingMemory, ComputesFewerRowsOfModelsWhoseSizesChange) {
  for (const auto& [name, model] : models_of_changing_sizes()) {
    const TrainedBatches expected = trained(options_with(model, 1), as_it_is);
    RecordingSink sink;
    CountedBatches batches;
    const auto fit = [&](BatchGradients& gradients) { gradients.fit_memory(batches, 1, sink); };
    EXPECT_TRUE(trained(options_with(model), fit) == expected) << name;
    EXPECT_EQ(sink.messages.size(), 1U) << name;
  }
}

/// Other parts give other bits, and other programs leave another amount of memory.
TEST(FittingMemory, ResumesWithTheSameRowsWhereBitsMustBeTheSame) {
  RunOptions options = options_with(spans_of(AdaptiveSpanOptions::SpanType::kFixed));
  const TrainedBatches in_parts = trained(options_with(options.model, 1), as_it_is);
  const TrainedBatches at_once = trained(options, as_it_is);
  ASSERT_FALSE(in_parts == at_once);
  Checkpoint checkpoint;
  checkpoint.state = Json::object();
  RecordingSink first;
  CountedBatches batches;
  trained(options, [&](BatchGradients& gradients) {
    gradients.fit_memory(batches, 1, first);
    gradients.save(checkpoint);
  });
  const auto resumed = [&](const Checkpoint& from, TrainSink& sink) {
    return trained(options, [&](BatchGradients& gradients) {
      gradients.restore(from);
      gradients.fit_memory(batches, kPlenty, sink);
    });
  };
  RecordingSink again;
  EXPECT_TRUE(resumed(checkpoint, again) == at_once) << "there is more memory now";
  options.train.deterministic = true;
  RecordingSink same;
  EXPECT_TRUE(resumed(checkpoint, same) == in_parts);
  EXPECT_THAT(same.messages, ElementsAre("note: 1 of 3 rows are computed at once (train.micro_batch): as before "
                                         "(train.deterministic)"));
  Checkpoint older = checkpoint;
  older.state = Json::object();
  EXPECT_TRUE(resumed(older, again) == at_once) << "it does not say";
  EXPECT_THAT(again.messages, IsEmpty());
}

/// Keeps what its calls are of.
class Watched final : public LanguageModel {
 public:
  struct Call {
    std::int64_t rows, width;
    bool gradients_held;

    bool operator==(const Call& other) const = default;
  };

  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    calls.push_back({input.tokens.size(0), input.tokens.size(1), weight_.grad().defined()});
    if (input.tokens.size(0) > most_rows) throw std::bad_alloc();
    ModelOutput output;
    output.hidden = weight_ + torch::zeros({input.tokens.size(0), input.tokens.size(1), 11});
    return output;
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  bool has_gradients() const { return weight_.grad().defined(); }

  std::vector<Call> calls;
  std::int64_t most_rows = 99;

 private:
  torch::Tensor weight_ = parameter("weight", torch::ones({11}));
};

/// Parts of a step but the first add to gradients that are held. One part alone does not.
TEST(FittingMemory, MeasuresTheWidestBatchAsPartsOfAStepAreComputed) {
  using Call = Watched::Call;
  Watched model;
  RunOptions options;
  options.train.batch = 2;
  options.train.block = 16;
  RecordingSink sink;
  CountedBatches batches(true, {4, 9, 5, 16, 3}, 2);
  BatchGradients(options, model, torch::kCPU, nullptr).fit_memory(batches, kPlenty, sink);
  for (const Call& call : model.calls) EXPECT_TRUE(call == (Call{call.rows, 16, call.rows == 1})) << call.rows;
  EXPECT_EQ(model.calls.back().rows, 2);
  EXPECT_FALSE(model.has_gradients()) << "they are those of no step";
  EXPECT_EQ(batches.place(), 0);

  model.calls.clear();
  CountedBatches narrow(true, std::vector<std::int64_t>(64, 7), 2);
  BatchGradients(options, model, torch::kCPU, nullptr).fit_memory(narrow, kPlenty, sink);
  for (const Call& call : model.calls) EXPECT_EQ(call.width, 7) << "of the next 64 batches";
}

TEST(FittingMemory, AStepWithoutMemorySaysHowManyRowsItReallyComputed) {
  Watched model;
  RunOptions options;
  options.train.batch = 3;
  options.train.block = 16;
  CountedBatches batches;
  RecordingSink sink;
  BatchGradients gradients(options, model, torch::kCPU, nullptr);
  const auto rows_without_memory = [&] {
    try {
      gradients.add(batches.next(), 0);
    } catch (const StepMemoryError& error) {
      return error.rows();
    }
    return std::int64_t{0};
  };
  EXPECT_EQ(rows_without_memory(), 0);
  model.most_rows = 1;
  EXPECT_EQ(rows_without_memory(), 3);
  gradients.fit_memory(batches, kPlenty, sink);
  EXPECT_THAT(sink.messages, ElementsAre(AllOf(HasSubstr("1 of 3 rows"), HasSubstr("more do not fit"))));
  EXPECT_EQ(rows_without_memory(), 0) << "fewer are computed";
  model.most_rows = 0;
  EXPECT_EQ(rows_without_memory(), 1);
}

/// The second of two processes, which has found that `rows` rows fit.
class OtherProcess final : public ProcessGroup {
 public:
  explicit OtherProcess(std::int64_t rows) : ProcessGroup(0, 2), rows_(rows) {}
  void sum(const torch::Tensor& /*values*/) override { FAIL() << "no gradients or losses are added"; }
  void max(const torch::Tensor& values) override { values.clamp_min_(-rows_); }
  torch::Tensor gather(const torch::Tensor& own) override {
    ADD_FAILURE() << "nothing is gathered";
    return own;
  }

 private:
  std::int64_t rows_;
};

TEST(FittingMemory, ComputesAsManyRowsAsTheProcessThatHoldsLeast) {
  RunOptions options;
  options.train.batch = 4;
  options.train.block = 16;
  for (const std::int64_t other_rows : {1, 4}) {
    Watched model;
    OtherProcess other(other_rows);
    CountedBatches batches(true, {}, 4);
    RecordingSink sink;
    BatchGradients gradients(options, model, torch::kCPU, &other);
    gradients.fit_memory(batches, kPlenty, sink);
    if (other_rows == 1) {
      EXPECT_THAT(sink.messages, ElementsAre("note: 1 of 2 rows are computed at once (train.micro_batch): no more fit "
                                             "on the GPU of another process"));
    } else {
      EXPECT_THAT(sink.messages, IsEmpty());
    }
    model.most_rows = 0;
    try {
      gradients.add(batches.next(), 0);
      ADD_FAILURE() << "there was no memory";
    } catch (const StepMemoryError& error) {
      EXPECT_EQ(error.rows(), other_rows == 1 ? 1 : 2);
    }
  }
}

/// All rows fit in each of two processes. One process alone has twice as many.
TEST(FittingMemory, MeasuresAgainIfFewerProcessesResume) {
  RunOptions options;
  options.train.batch = 4;
  options.train.block = 16;
  options.train.deterministic = true;
  Watched model;
  model.most_rows = 2;
  Checkpoint checkpoint;
  checkpoint.state = Json::object();
  {
    OtherProcess other(4);
    CountedBatches batches(true, {}, 4);
    RecordingSink sink;
    BatchGradients two(options, model, torch::kCPU, &other);
    two.fit_memory(batches, kPlenty, sink);
    two.save(checkpoint);
    EXPECT_THAT(sink.messages, IsEmpty());
  }
  EXPECT_EQ(checkpoint.state.at("fitted_rows"), 2) << "of a process";
  const auto resumed = [&](std::int64_t batch) {
    options.train.batch = batch;
    CountedBatches batches(true, {}, batch);
    RecordingSink sink;
    BatchGradients alone(options, model, torch::kCPU, nullptr);
    alone.restore(checkpoint);
    model.calls.clear();
    alone.fit_memory(batches, kPlenty, sink);
    alone.add(batches.next(), 0);
    return sink.messages;
  };
  model.most_rows = 1;
  EXPECT_THAT(resumed(4), ElementsAre(AllOf(HasSubstr("1 of 4 rows"), HasSubstr("more do not fit"))));
  model.most_rows = 2;
  EXPECT_THAT(resumed(2), IsEmpty());
  EXPECT_EQ(model.calls.size(), 1U) << "what is known is not measured";
}

TEST(FittingMemory, LeavesTheCpuAlone) {
  RecordingSink sink;
  CountedBatches batches;
  trained_after([&](BatchGradients& gradients) { gradients.fit_memory(batches, sink); });
  EXPECT_THAT(sink.messages, IsEmpty());
}

}  // namespace
}  // namespace xlm
