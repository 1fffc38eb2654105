// The losses of several processes equal those of one; here each process is a thread. In double precision a gradient
// that is lost or counted twice differs far more than rounding does.
#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/eval/evaluation.h"
#include "core/kernels/step_context.h"
#include "core/models/language_model.h"
#include "core/parallel/reductions.h"
#include "core/schemes/scheme.h"
#include "core/train/optimizer.h"
#include "tests/core/parallel/threads_group.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr int kDoubleSteps = 50;
constexpr std::int64_t kBatchRows = 7;
constexpr std::int64_t kBlockLength = 22;

Vocabulary few_letters() {
  Vocabulary vocabulary;
  for (const char* symbol : {" ", "a", "b", "c", "d", "e", "f"}) vocabulary.symbols.emplace_back(symbol);
  return vocabulary;
}

/// A model in double precision, the same at each call.
std::shared_ptr<LanguageModel> double_model(const ModelOptions& options) {
  torch::manual_seed(11);
  std::shared_ptr<LanguageModel> model = make_model(options, few_letters());
  model->to(torch::kDouble);
  model->train();
  return model;
}

/// Rows that count upwards and sometimes repeat a letter: [B, T + 1].
torch::Tensor tokens_of_step(int step) {
  const torch::Tensor places = torch::arange(kBlockLength + 1) * 3 / 4;
  return (places.floor().to(torch::kLong) + torch::arange(kBatchRows).unsqueeze(1) * 5 + 3 * step).remainder(7);
}

/// The mean loss of all rows at every step, computed by the processes of a group; null: by this one alone.
std::vector<double> train_in_double(LanguageModel& model, ProcessGroup* group) {
  at::set_num_threads(1);  // of this thread, because several threads that each use all cores wait for each other
  const NamedTensors& weights = model.weights();
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, weights);
  const OwnRows own = own_rows(group, kBatchRows);
  const PartOfBatch rows(own.begin);
  const double share = static_cast<double>(own.count) / static_cast<double>(kBatchRows);
  State state = model.initial_state(own.count);
  std::vector<double> losses;
  for (int step = 1; step <= kDoubleSteps; ++step) {
    const torch::Tensor tokens = tokens_of_step(step).narrow(0, own.begin, own.count);
    const torch::Tensor seen = tokens.narrow(1, 0, kBlockLength);
    const torch::Tensor targets = tokens.narrow(1, 1, kBlockLength);
    optimizer.zero_gradients();
    const TrainingLoss loss = scheme_of(model).loss(model, {.tokens = seen}, targets, state, ActivationPolicy::kKeep);
    state = loss.state;
    (loss.total * share).backward();
    double mean = loss.language_model.item<double>() * share;
    if (group != nullptr) {
      group->sum(&mean, 1);
      sum_gradients(*group, weights);
    }
    optimizer.step(1e-2, step);
    model.after_step();
    losses.push_back(mean);
  }
  return losses;
}

AdaptiveSpanOptions double_spans(AdaptiveSpanOptions::SpanType type) {
  return {.width = 12,
          .heads = 2,
          .feed_forward = 16,
          .layers = 2,
          .dropout = 0,
          .attention_dropout = 0,
          .span = 40,
          .span_type = type,
          .span_penalty = 1e-4,
          .span_ramp = 8};
}

HourglassOptions double_groups(BoundaryOptions::Type type) {
  HourglassOptions options{
      .width = 12, .heads = 2, .feed_forward = 16, .layers = {1, 1, 1}, .dropout = 0, .attention_dropout = 0};
  options.boundaries.type = type;
  if (type == BoundaryOptions::Type::kNone) options.layers = {2};
  return options;
}

Gpt2Options double_windows(RecurrenceOptions::Pool pool) {
  Gpt2Options options{.width = 12,
                      .heads = 2,
                      .layers = 3,
                      .positions = 16,
                      .dropout = 0,
                      .attention_dropout = 0,
                      .window = 10,
                      .overlap = 4,
                      .windows = 3};
  options.recurrence.pool = pool;
  options.complete();
  return options;
}

Gpt2Options double_memory(WindowMemoryOptions::Type type) {
  Gpt2Options options = double_windows(RecurrenceOptions::Pool::kNone);
  options.memory.type = type;
  options.complete();
  return options;
}

class DoublePrecision : public testing::TestWithParam<std::pair<const char*, ModelOptions>> {};

TEST_P(DoublePrecision, LossesOfSeveralProcessesAreThoseOfOne) {
  const int usual_threads = at::get_num_threads();
  const std::vector<double> expected = train_in_double(*double_model(GetParam().second), nullptr);
  ASSERT_LT(expected.back(), 0.97 * expected.front()) << "it should learn";
  for (const std::int64_t count : {2, 3}) {
    std::vector<std::shared_ptr<LanguageModel>> models;  // made here, because random weights come from one generator
    for (std::int64_t rank = 0; rank < count; ++rank) models.push_back(double_model(GetParam().second));
    std::vector<std::vector<double>> found(static_cast<std::size_t>(count));
    const auto errors = ThreadsGroup(count).run([&](ProcessGroup& group) {
      const auto at = static_cast<std::size_t>(group.rank());
      found[at] = train_in_double(*models[at], &group);
    });
    EXPECT_THAT(errors, testing::Each(""));
    // Sums in another order differ by some 1e-16 of a loss of 2 nats. Fifty updates magnify that.
    // One row too many or too few of a gradient shows in the next loss by far more than 1e-12.
    for (const std::vector<double>& losses : found) {
      ASSERT_EQ(losses.size(), expected.size());
      for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], expected[i], 1e-12) << "step " << i + 1;
    }
  }
  at::set_num_threads(usual_threads);
}

/// Models that score in different ways: with a state, in chunks, in windows.
TEST_P(DoublePrecision, AnEvaluationBySeveralProcessesIsThatOfOne) {
  const int usual_threads = at::get_num_threads();
  at::set_num_threads(1);
  const TemporaryFolder folder;
  std::string tokens;
  for (int i = 0; i < 500; ++i) tokens.push_back(static_cast<char>(i * i % 7));
  write_file(folder.path() / "tokens", tokens);
  const Split split{TokenFile(folder.path() / "tokens", 1)};
  const TokenSource source(split, {});
  const ProgressCallback go_on = [](std::int64_t, std::int64_t) { return true; };
  const SplitSettings settings{.rows = 5, .block = 16, .context = 16, .stride = 6, .by_part = true};
  const SplitLoss expected = evaluate_split(*double_model(GetParam().second), source, settings, go_on);
  for (const std::int64_t count : {2, 3}) {
    std::vector<std::shared_ptr<LanguageModel>> models;
    for (std::int64_t rank = 0; rank < count; ++rank) models.push_back(double_model(GetParam().second));
    const auto errors = ThreadsGroup(count).run([&](ProcessGroup& group) {
      at::set_num_threads(1);
      SplitSettings own = settings;
      own.group = &group;
      const SplitLoss found = evaluate_split(*models[static_cast<std::size_t>(group.rank())], source, own, go_on);
      EXPECT_EQ(found.tokens, expected.tokens);
      EXPECT_NEAR(found.loss, expected.loss, 1e-12);
      EXPECT_EQ(found.parts.tokens, expected.parts.tokens);
      EXPECT_THAT(found.parts.sums, testing::Pointwise(testing::DoubleNear(1e-9), expected.parts.sums));
    });
    EXPECT_THAT(errors, testing::Each(""));
  }
  at::set_num_threads(usual_threads);
}

INSTANTIATE_TEST_SUITE_P(
    Models, DoublePrecision,
    testing::Values(std::pair("fixed", ModelOptions(double_spans(AdaptiveSpanOptions::SpanType::kFixed))),
                    std::pair("adaptive", ModelOptions(double_spans(AdaptiveSpanOptions::SpanType::kAdaptive))),
                    std::pair("dynamic", ModelOptions(double_spans(AdaptiveSpanOptions::SpanType::kDynamic))),
                    std::pair("expire", ModelOptions(double_spans(AdaptiveSpanOptions::SpanType::kExpire))),
                    std::pair("none", ModelOptions(double_groups(BoundaryOptions::Type::kNone))),
                    std::pair("pooled", ModelOptions(double_groups(BoundaryOptions::Type::kFixed))),
                    std::pair("whitespace", ModelOptions(double_groups(BoundaryOptions::Type::kWhitespace))),
                    std::pair("gpt2", ModelOptions(double_windows(RecurrenceOptions::Pool::kNone))),
                    std::pair("recurrent", ModelOptions(double_windows(RecurrenceOptions::Pool::kMean))),
                    std::pair("cache", ModelOptions(double_memory(WindowMemoryOptions::Type::kCache))),
                    std::pair("tokens", ModelOptions(double_memory(WindowMemoryOptions::Type::kTokens)))),
    [](const auto& model) { return model.param.first; });

}  // namespace
}  // namespace xlm
