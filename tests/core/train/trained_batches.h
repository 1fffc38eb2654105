// Trains small models on given batches by BatchGradients, for tests of what must not change the numbers of a step.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <vector>

#include "core/models/language_model.h"
#include "core/train/batch_gradients.h"
#include "core/train/optimizer.h"

namespace xlm {

struct TrainedBatches {
  std::vector<double> losses;
  torch::Tensor weights;
  std::vector<double> counts;

  bool operator==(const TrainedBatches& other) const {
    return losses == other.losses && weights.equal(other.weights) && counts == other.counts;
  }
};

/// A step for each of `widths`, the tokens of a row, which `before_step` may change. Batches have 3 rows.
inline TrainedBatches train_batches(const RunOptions& options, const std::vector<std::int64_t>& widths,
                                    const std::function<void(BatchGradients&, std::int64_t step)>& before_step) {
  torch::manual_seed(7);
  const std::shared_ptr<LanguageModel> model = make_model(options.model, 11);
  model->train();
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdagrad, .lr = 0.07}, model->weights());
  BatchGradients gradients(options, *model, torch::kCPU, nullptr);
  torch::manual_seed(8);
  const std::int64_t length = std::accumulate(widths.begin(), widths.end(), std::int64_t{1});
  const torch::Tensor text = torch::randint(11, {3, length}, torch::kLong);
  TrainedBatches result;
  std::int64_t step = 0;
  std::int64_t begin = 0;
  for (const std::int64_t width : widths) {
    before_step(gradients, step);
    optimizer.zero_gradients();
    const Batch batch{.input = {.tokens = text.narrow(1, begin, width)},
                      .targets = text.narrow(1, begin + 1, width),
                      .fresh = step == 0};
    result.losses.push_back(gradients.add(batch, step));
    ++step;
    optimizer.step(0.07, step);
    model->after_step();
    begin += width;
  }
  std::vector<torch::Tensor> all;
  for (const auto& [name, weight] : model->weights()) all.push_back(weight.detach().flatten());
  result.weights = torch::cat(all);
  result.counts = model->counts().sums;
  return result;
}

}  // namespace xlm
