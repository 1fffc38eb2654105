// Time of one update by each optimiser for the weights of a transformer, in turn with libtorch's fused AdamW over the
// same weights.
//   optimizer_time [--device D] [--threads N] [--steps N] [--width K] [--layers L]
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/progress.h"
#include "base/terminal.h"
#include "base/text.h"
#include "bench/training_step.h"
#include "core/api/transformer_options.h"
#include "core/models/language_model.h"
#include "core/runtime/device.h"
#include "core/train/optimizer.h"

namespace xlm {
namespace {

constexpr std::int64_t kBytes = 256;  // symbols

struct TimedUpdate {
  std::string name;
  std::function<void(std::int64_t number)> update;
  std::vector<double> seconds = {};
};

/// torch.optim.AdamW(fused=True): one call of libtorch's kernel with all tensors.
std::function<void(std::int64_t)> fused_adamw_of_libtorch(const NamedTensors& weights) {
  std::vector<torch::Tensor> all, gradients, first, second, steps;
  for (const auto& [name, weight] : weights) {
    all.push_back(weight);
    gradients.push_back(weight.grad());
    first.push_back(torch::zeros_like(weight.detach()));
    second.push_back(torch::zeros_like(weight.detach()));
    steps.push_back(torch::zeros({}, torch::TensorOptions().device(weight.device())));
  }
  return [=](std::int64_t number) {
    const torch::NoGradGuard no_grad;
    for (const torch::Tensor& step : steps) step.fill_(static_cast<double>(number));
    at::_fused_adamw_(all, gradients, first, second, {}, steps, 1e-9, 0.9, 0.95, 0.1, 1e-8, false, false);
  };
}

/// torch::optim::AdamW: a loop over the tensors, several operations each.
std::function<void(std::int64_t)> plain_adamw_of_libtorch(const NamedTensors& weights) {
  std::vector<torch::Tensor> all;
  for (const auto& [name, weight] : weights) all.push_back(weight);
  const auto optimizer = std::make_shared<torch::optim::AdamW>(all, torch::optim::AdamWOptions(1e-9).weight_decay(0.1));
  return [optimizer](std::int64_t /*number*/) { optimizer->step(); };
}

std::function<void(std::int64_t)> own(OptimizerOptions::Type type, const NamedTensors& weights) {
  const auto optimizer = std::make_shared<Optimizer>(OptimizerOptions{.type = type, .lr = 1e-9}, weights);
  return [optimizer](std::int64_t number) { optimizer->step(1e-9, number); };
}

int time_optimizers(int argc, char** argv) {
  std::int64_t steps = 20;
  std::int64_t threads = 0;
  TransformerOptions shape{.width = 512, .layers = 8};
  std::string device_name = "cpu";
  for (int i = 1; i < argc; i += 2) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    const bool known = (word == "--steps" && parse_integer(next, steps) && steps > 0) ||
                       (word == "--threads" && parse_integer(next, threads)) ||
                       (word == "--width" && parse_integer(next, shape.width) && shape.width % 64 == 0) ||
                       (word == "--layers" && parse_integer(next, shape.layers) && shape.layers > 0);
    if (word == "--device" && !next.empty()) {
      device_name = next;
    } else if (!known) {
      fmt::print(stderr, "usage: optimizer_time [--device D] [--threads N] [--steps N] [--width K] [--layers L]\n");
      return 2;
    }
  }
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
  const torch::Device device = choose_device(device_name);
  const auto model = make_model(ModelOptions(shape), kBytes);
  model->to(device);
  const NamedTensors& weights = model->weights();
  for (auto [name, weight] : weights) weight.mutable_grad() = torch::randn_like(weight.detach()).mul_(1e-3);
  using Type = OptimizerOptions::Type;
  std::vector<TimedUpdate> updates{{"adagrad", own(Type::kAdagrad, weights)},
                                   {"adamw", own(Type::kAdamW, weights)},
                                   {"muon", own(Type::kMuon, weights)},
                                   {"libtorch-fused-adamw", fused_adamw_of_libtorch(weights)},
                                   {"libtorch-adamw", plain_adamw_of_libtorch(weights)}};
  const auto wait = [&] { weights.front().second.detach().flatten()[0].item<float>(); };  // a GPU works behind the call
  for (std::int64_t step = 1; step <= steps + 2; ++step) {
    for (TimedUpdate& each : updates) {
      wait();
      const double start = monotonic_seconds();
      each.update(step);
      wait();
      if (step > 2) each.seconds.push_back(monotonic_seconds() - start);
    }
  }
  fmt::print("{} weights, {} threads\n", human_count(static_cast<double>(model->parameter_count())),
             at::get_num_threads());
  TextTable table({{"optimiser"}, {"ms/update", true}, {"ns/weight", true}});
  for (const TimedUpdate& each : updates) {
    const double seconds = median_seconds(each.seconds);
    table.add({each.name, fmt::format("{:.2f}", 1e3 * seconds),
               fmt::format("{:.2f}", 1e9 * seconds / static_cast<double>(model->parameter_count()))});
  }
  fmt::print("{}", table.render(TextTable::Format::kText));
  return 0;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) {
  try {
    return xlm::time_optimizers(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
