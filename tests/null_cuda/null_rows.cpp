// null_rows [ROW…]: what one training step of gpu-check's rows of the papers' sizes asks of a GPU, on the stand-in for
// CUDA (README.md). Prints a JSON object: by row the kernels that are started, waits, copies of memory that is not
// pinned, and peak memory.
#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "bench/training_step.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/hourglass_options.h"
#include "core/runtime/device.h"
#include "tests/null_cuda/stand_in/control.h"

namespace xlm {
namespace {

template <class Function>
Function of_stand_in(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, name);
  if (found == nullptr) throw Error("this program needs the stand-in for CUDA: see tests/null_cuda/README.md");
  return reinterpret_cast<Function>(found);
}

/// Tokens of a word of text8, the space included; as many are in a group of the whitespace model.
constexpr double kTokensOfAWord = 5.7;

/// How many groups the model makes of a row; 0: it reads no number of groups.
double groups_of(const StepRow& row, const HourglassOptions& options) {
  const auto block = static_cast<double>(row.block);
  switch (options.boundaries.type) {
    case BoundaryOptions::Type::kNone:
      return 0;
    case BoundaryOptions::Type::kFixed:
      return block / static_cast<double>(options.boundaries.factor);
    case BoundaryOptions::Type::kGumbel:
      return std::round(block * options.boundaries.prior);
    default:
      return std::round(block / kTokensOfAWord);
  }
}

/// Lets copies from the GPU bring what the row supposes: spans of heads, numbers of groups.
void answer_for(const StepRow& row) {
  using null_cuda::AnswerType;
  const auto answer = of_stand_in<null_cuda::SetAnswer>(null_cuda::kSetAnswer);
  of_stand_in<null_cuda::ClearAnswers>(null_cuda::kClearAnswers)();
  constexpr std::size_t kBytes = 8;
  if (const auto* spans = row.model.get_if<AdaptiveSpanOptions>()) {
    const auto heads = static_cast<std::size_t>(spans->heads);
    const auto limit = static_cast<double>(spans->span);
    std::vector<double> of_layer(heads, row.short_span / limit);  // as the weights hold them
    of_layer[0] = row.long_span / limit;
    answer(kBytes * heads * static_cast<std::size_t>(spans->layers), AnswerType::kReal, of_layer.data(),
           of_layer.size());
    const double half = limit / 2;  // what a dynamic span predicts before it has learnt anything
    answer(kBytes * heads * 2, AnswerType::kReal, &half, 1);
  }
  if (const auto* pooling = row.model.get_if<HourglassOptions>()) {
    const double groups = groups_of(row, *pooling);
    if (groups > 0) answer(kBytes, AnswerType::kInteger, &groups, 1);
  }
}

Json numbers_of(const StepRow& row, torch::Device device) {
  const auto take_peak = of_stand_in<null_cuda::TakePeak>(null_cuda::kTakePeak);
  const auto device_waits = of_stand_in<null_cuda::DeviceWaits>(null_cuda::kDeviceWaits);
  answer_for(row);
  return_kept_memory(device);
  take_peak(device.index());
  const long waits_before = device_waits();
  const StepCost cost = measure_steps(row, 1, Precision::kBfloat16, device, nullptr);
  const auto last_step = of_stand_in<null_cuda::LastStep>(null_cuda::kLastStep);
  null_cuda::Counts step;
  last_step(&step);
  Json numbers = {{"launches", step.launches + step.products},
                  {"waits", step.waits},
                  {"device_waits", device_waits() - waits_before},  // of the steps before it, too: two for each step
                  {"pageable_copies", step.pageable_copies},
                  {"peak_bytes", take_peak(device.index())},  // with what libtorch's allocator keeps
                  {"tensor_bytes", static_cast<std::int64_t>(cost.memory)}};
  if (measure_steps(row, 1, Precision::kBfloat16, device, default_recorder(device)).recorded) {
    null_cuda::Counts recorded;
    last_step(&recorded);
    numbers["recorded_launches"] = recorded.launches + recorded.products;
  }
  return numbers;
}

int run(const std::vector<std::string>& chosen) {
  RunOptions settings;
  settings.device = "cuda";
  settings.train.threads = 1;
  const torch::Device device = prepare_device(settings);
  Json all = Json::object();
  for (const StepRow& row : rows_for_a_gpu()) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), row.name) == chosen.end()) continue;
    all[row.name] = numbers_of(row, device);
  }
  fmt::print("{}", json_text(all));
  return all.empty() ? 2 : 0;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) {
  try {
    return xlm::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
