// Back-propagation through windows: recomputed and kept windows have the same gradients.
#include "core/schemes/windows_loss.h"

#include <ATen/autocast_mode.h>
#include <gtest/gtest.h>

#include "core/api/gpt2_options.h"
#include "core/kernels/dropout.h"
#include "core/kernels/step_context.h"
#include "core/kernels/step_weights.h"
#include "core/runtime/device.h"
#include "tests/core/kernels/called_operations.h"

namespace xlm {
namespace {

constexpr std::int64_t kWindowSymbols = 13;

Gpt2Options small_options(double dropout, std::int64_t overlap) {
  return {.width = 16,
          .heads = 2,
          .layers = 2,
          .positions = 16,
          .dropout = dropout,
          .attention_dropout = dropout,
          .window = 8,
          .overlap = overlap};
}

std::shared_ptr<LanguageModel> recurrent_model(double dropout) {
  torch::manual_seed(4);
  Gpt2Options options = small_options(dropout, 3);
  options.recurrence = {.pool = RecurrenceOptions::Pool::kMean, .hidden = {12, 12}};
  const auto model = make_model(options, kWindowSymbols);
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model->weights()) {
    if (name.starts_with("recurrence")) weight.normal_(0, 0.3);  // so that the state matters
  }
  return model;
}

struct LossAndGradients {
  double loss;
  std::vector<torch::Tensor> gradients;
  std::uint64_t next_seed;  // the generator's next value afterwards
};

LossAndGradients loss_and_gradients(ActivationPolicy policy) {
  const auto model = recurrent_model(0.2);
  model->train();
  torch::manual_seed(9);
  const torch::Tensor text = torch::randint(kWindowSymbols, {3, 31});
  torch::Tensor targets = text.narrow(1, 1, 30).clone();
  targets[2].narrow(0, 17, 13).fill_(kNoTarget);  // a short sequence
  torch::Tensor loss = windows_loss(*model, text.narrow(1, 0, 30), targets, policy);
  loss.backward();
  LossAndGradients result{loss.item<double>(), {}, draw_dropout_seed()};
  for (const auto& [name, weight] : model->weights()) result.gradients.push_back(weight.grad());
  return result;
}

TEST(Windows, RecomputedGiveTheSameGradientsWithTheirDropout) {
  const LossAndGradients kept = loss_and_gradients(ActivationPolicy::kKeep);
  const LossAndGradients again = loss_and_gradients(ActivationPolicy::kRecompute);
  // Kept windows make their predictions together, in a product of more rows, which may sum in another order.
  EXPECT_NEAR(kept.loss, again.loss, 1e-6);
  EXPECT_EQ(kept.next_seed, again.next_seed);
  ASSERT_EQ(kept.gradients.size(), again.gradients.size());
  for (std::size_t i = 0; i < kept.gradients.size(); ++i) {
    EXPECT_TRUE(torch::allclose(kept.gradients[i], again.gradients[i], 1e-4, 1e-7)) << i;
  }
  EXPECT_GT(kept.gradients.back().abs().max().item<double>(),
            0);  // of the last recurrence bias, which has one only through time
}

TEST(Windows, AreRecomputedInTheTypeOfTheirAutocast) {
  const auto gradients = [](torch::ScalarType of_the_thread_of_gradients) {
    const auto model = recurrent_model(0);
    torch::manual_seed(9);
    const torch::Tensor text = torch::randint(kWindowSymbols, {3, 31});
    torch::Tensor loss;
    {
      const PrecisionScope scope(Precision::kBfloat16, torch::kCPU);
      loss = windows_loss(*model, text.narrow(1, 0, 30), text.narrow(1, 1, 30), ActivationPolicy::kRecompute);
    }
    at::autocast::set_autocast_dtype(torch::kCPU, of_the_thread_of_gradients);
    loss.backward();
    EXPECT_EQ(at::autocast::get_autocast_dtype(torch::kCPU), of_the_thread_of_gradients);
    at::autocast::set_autocast_dtype(torch::kCPU, torch::kBFloat16);
    std::vector<torch::Tensor> flat;
    for (const auto& [name, weight] : model->weights()) flat.push_back(weight.grad().flatten());
    return torch::cat(flat);
  };
  EXPECT_TRUE(torch::equal(gradients(torch::kBFloat16), gradients(torch::kHalf)));
}

TEST(Windows, PaddingAddsNothing) {
  const auto model = recurrent_model(0);
  torch::manual_seed(2);
  const torch::Tensor text = torch::randint(kWindowSymbols, {1, 18});
  const torch::Tensor alone =
      windows_loss(*model, text.narrow(1, 0, 17), text.narrow(1, 1, 17), ActivationPolicy::kKeep);
  const torch::Tensor tokens = torch::cat({text.narrow(1, 0, 17), torch::zeros({1, 9}, torch::kLong)}, 1);
  const torch::Tensor targets = torch::cat({text.narrow(1, 1, 17), torch::full({1, 9}, kNoTarget, torch::kLong)}, 1);
  EXPECT_NEAR(windows_loss(*model, tokens, targets, ActivationPolicy::kKeep).item<double>(), alone.item<double>(),
              1e-6);
}

std::shared_ptr<LanguageModel> plain_model(double dropout, std::int64_t overlap) {
  torch::manual_seed(4);
  return make_model(small_options(dropout, overlap), kWindowSymbols);
}

/// Targets for rows of 30 tokens; the last row has fewer.
struct WindowTexts {
  WindowTexts() {
    torch::manual_seed(9);
    const torch::Tensor text = torch::randint(kWindowSymbols, {3, 31});
    tokens = text.narrow(1, 0, 30);
    targets = text.narrow(1, 1, 30).clone();
    targets[2].narrow(0, 17, 13).fill_(kNoTarget);
  }
  torch::Tensor tokens, targets;
};

std::vector<torch::Tensor> gradients_of(const LanguageModel& model, const torch::Tensor& loss) {
  std::vector<torch::Tensor> weights;
  for (const auto& [name, weight] : model.weights()) weights.push_back(weight);
  return torch::autograd::grad({loss}, weights);
}

void expect_all_near(const std::vector<torch::Tensor>& found, const std::vector<torch::Tensor>& expected,
                     double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_LT((found[i] - expected[i]).norm().item<double>(), tolerance * expected[i].norm().item<double>()) << i;
  }
}

TEST(WindowsSideBySide, HaveTheLossOfOneAfterTheOther) {
  const WindowTexts texts;
  for (const std::int64_t overlap : {0, 3, 7}) {
    const auto model = plain_model(0, overlap);
    model->to(torch::kDouble);
    torch::Tensor expected;
    for (std::int64_t begin = 0, scored_from = 0; scored_from < 30; begin += 8 - overlap) {
      const std::int64_t length = std::min<std::int64_t>(8, 30 - begin);
      const torch::Tensor logits = model->forward(texts.tokens.narrow(1, begin, length), {}).logits();
      const std::int64_t known = scored_from - begin;
      const torch::Tensor part = plain_summed_cross_entropy(logits.narrow(1, known, length - known), {}, {},
                                                            texts.targets.narrow(1, scored_from, length - known));
      expected = expected.defined() ? expected + part : part;
      scored_from = begin + length;
    }
    expected = expected / texts.targets.ne(kNoTarget).sum();
    const torch::Tensor found = windows_loss(*model, texts.tokens, texts.targets, ActivationPolicy::kKeep);
    EXPECT_NEAR(found.item<double>(), expected.item<double>(), 1e-12) << overlap;
    expect_all_near(gradients_of(*model, found), gradients_of(*model, expected), 1e-10);
  }
}

// As on a GPU: GPT-2's layers find what they share.
TEST(Windows, WithSharedWeightsHaveTheSameGradients) {
  const WindowTexts texts;
  const auto model = recurrent_model(0);
  model->to(torch::kDouble);
  const auto loss = [&] { return windows_loss(*model, texts.tokens, texts.targets, ActivationPolicy::kKeep); };
  const torch::Tensor expected = loss();
  torch::Tensor found;
  {
    const StepWeights shared(torch::kDouble);
    found = loss();
  }
  EXPECT_NEAR(found.item<double>(), expected.item<double>(), 1e-12);
  const CalledOperations called;
  const std::vector<torch::Tensor> gradients = gradients_of(*model, found);
  EXPECT_EQ(called.of("aten::embedding_dense_backward"), 1);
  EXPECT_EQ(called.of("aten::native_layer_norm_backward"), 6 * 5 + 5) << "of six windows, and of the weights";
  expect_all_near(gradients, gradients_of(*model, expected), 1e-10);
}

TEST(WindowsSideBySide, TakeFewCallsForAnyNumber) {
  const auto model = plain_model(0, 3);
  for (const std::int64_t length : {8 + 5 * 4, 8 + 5 * 40, 8 + 5 * 40 + 2}) {
    const torch::Tensor text = torch::randint(kWindowSymbols, {2, length + 1});
    const CalledOperations called;
    windows_loss(*model, text.narrow(1, 0, length), text.narrow(1, 1, length), ActivationPolicy::kKeep);
    EXPECT_EQ(called.of("aten::embedding"), length % 5 == 3 ? 2 : 3) << "the first, a shorter last, and the rest";
  }
}

// Recomputed windows are called in other parts than kept ones, and drop the same.
TEST(WindowsSideBySide, RecomputedDropTheSame) {
  const WindowTexts texts;
  const auto model = plain_model(0.2, 3);
  model->train();
  const auto result = [&](ActivationPolicy policy) {
    torch::manual_seed(21);
    for (const auto& [name, weight] : model->weights()) weight.mutable_grad().reset();
    const torch::Tensor loss = windows_loss(*model, texts.tokens, texts.targets, policy);
    loss.backward();
    std::vector<torch::Tensor> all{loss.detach()};
    for (const auto& [name, weight] : model->weights()) all.push_back(weight.grad());
    return all;
  };
  const auto kept = result(ActivationPolicy::kKeep);
  expect_all_near(result(ActivationPolicy::kRecompute), kept, 1e-5);
  {
    const SeedsOnDevice recorded(true);  // only a GPU's own generator is not seeded
    expect_all_near(result(ActivationPolicy::kKeep), kept, 1e-7);
    expect_all_near(result(ActivationPolicy::kRecompute), kept, 1e-5);
  }
  model->eval();
  EXPECT_GT((result(ActivationPolicy::kKeep).front() - kept.front()).abs().item<double>(), 1e-3)
      << "dropout must drop something";
}

// A row that is computed alone drops the same as in its batch.
TEST(WindowsSideBySide, RowsDropTheSameAlone) {
  const WindowTexts texts;
  const auto model = plain_model(0.2, 3);
  model->train();
  torch::manual_seed(21);
  const double whole = windows_loss(*model, texts.tokens, texts.targets, ActivationPolicy::kKeep).item<double>() *
                       texts.targets.ne(kNoTarget).sum().item<double>();
  double parts = 0;
  for (const auto& [row, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {1, 2}}) {
    torch::manual_seed(21);
    const PartOfBatch part(row);
    const torch::Tensor targets = texts.targets.narrow(0, row, count);
    parts += windows_loss(*model, texts.tokens.narrow(0, row, count), targets, ActivationPolicy::kKeep).item<double>() *
             targets.ne(kNoTarget).sum().item<double>();
  }
  EXPECT_NEAR(parts / whole, 1, 1e-6);
}

}  // namespace
}  // namespace xlm
