// A step without memory says how many rows it computed at once.
#include "core/train/batch_gradients.h"

#include <new>

#include <gtest/gtest.h>

#include "base/memory_limit.h"
#include "core/train/checkpoint.h"

namespace xlm {
namespace {

/// Has no memory for more than some rows.
class SmallMemory final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    if (input.tokens.size(0) > most_rows) throw std::bad_alloc();
    ModelOutput output;
    output.hidden = weight_ + torch::zeros({input.tokens.size(0), input.tokens.size(1), 11});
    return output;
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }

  std::int64_t most_rows = 99;

 private:
  torch::Tensor weight_ = parameter("weight", torch::ones({11}));
};

std::int64_t rows_without_memory(std::int64_t micro_batch, std::int64_t most_rows) {
  SmallMemory model;
  model.most_rows = most_rows;
  RunOptions options;
  options.train.batch = 3;
  options.train.block = 16;
  options.train.micro_batch = micro_batch;
  const torch::Tensor tokens = torch::zeros({3, 16}, torch::kLong);
  try {
    BatchGradients(options, model, torch::kCPU, nullptr)
        .add({.input = {.tokens = tokens}, .targets = tokens, .fresh = true}, 0);
  } catch (const StepMemoryError& error) {
    return error.rows();
  }
  return 0;
}

TEST(StepMemory, AStepWithoutItSaysHowManyRowsItReallyComputed) {
  EXPECT_EQ(rows_without_memory(0, 3), 0);
  EXPECT_EQ(rows_without_memory(0, 1), 3);
  EXPECT_EQ(rows_without_memory(2, 1), 2);
  EXPECT_EQ(rows_without_memory(1, 1), 0) << "fewer are computed";
  EXPECT_EQ(rows_without_memory(1, 0), 1);
}

}  // namespace
}  // namespace xlm
