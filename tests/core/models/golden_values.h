// Weights and text by formula, as tests/golden's scripts compute them: the same numbers in any language. Comparisons
// with the numbers of those scripts.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/json.h"
#include "core/models/language_model.h"

namespace xlm {

/// scale · sin(0.37 i + 1.7 index + 0.11) over the flattened tensor, rounded to single precision.
inline torch::Tensor golden_values(std::int64_t index, torch::IntArrayRef shape, double scale) {
  const torch::Tensor i = torch::arange(c10::multiply_integers(shape), torch::kDouble);
  return (scale * torch::sin(0.37 * i + (1.7 * static_cast<double>(index) + 0.11))).to(torch::kFloat).reshape(shape);
}

struct GoldenScale {
  double mean = 0;
  double scale = 0.3;
};

/// Fills a model's weights in their precision. A weight's index is its name's place in alphabetical order; `scale_of`
/// says around which value and how far its numbers vary.
inline void fill_golden_weights(LanguageModel& model, const std::function<GoldenScale(const std::string&)>& scale_of) {
  const torch::NoGradGuard no_grad;
  const std::map<std::string, torch::Tensor> sorted(model.weights().begin(), model.weights().end());
  std::int64_t index = 0;
  for (const auto& [name, weight] : sorted) {
    const GoldenScale of = scale_of(name);
    weight.copy_(of.mean + golden_values(index, weight.sizes(), of.scale).to(weight.scalar_type()));
    ++index;
  }
}

inline void expect_golden_logits(const torch::Tensor& logits, const Json& expected) {
  ASSERT_EQ(logits.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::int64_t v = 0; v < logits.numel(); ++v) {
    EXPECT_NEAR(logits[v].item<double>(), expected.at(static_cast<std::size_t>(v)).get<double>(), 1e-10) << v;
  }
}

/// The length of each weight's gradient; 0 for one that has none.
inline void expect_golden_gradients(const LanguageModel& model, const Json& norms, double tolerance = 1e-9) {
  for (const auto& [name, weight] : model.weights()) {
    const double norm = norms.at(name).get<double>();
    const double own = weight.grad().defined() ? weight.grad().norm().item<double>() : 0;
    EXPECT_NEAR(own, norm, tolerance * norm + 1e-12) << name;
  }
  EXPECT_EQ(norms.size(), model.weights().size());
}

/// `count` numbers of a linear congruential sequence.
inline torch::Tensor golden_sequence(std::int64_t count, std::int64_t seed) {
  std::vector<std::int64_t> numbers;
  std::int64_t x = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    x = (1103515245 * x + 12345) % (std::int64_t{1} << 31);
    numbers.push_back(x >> 16);
  }
  return torch::tensor(numbers, torch::kLong);
}

/// A text of so many rows and columns, with symbols below `symbols`.
inline torch::Tensor golden_text(std::int64_t rows, std::int64_t columns, std::int64_t symbols) {
  return (golden_sequence(rows * columns, 31337) % symbols).view({rows, columns});
}

}  // namespace xlm
