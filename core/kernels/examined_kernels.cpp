// The check of the GPU kernels of attention.
#include "core/kernels/examined_kernels.h"

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shared_library.h"
#include "core/kernels/kernel_trial.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::variable_list;

constexpr std::array<std::int64_t, 3> kHeadWidths{64, 96, 128};

/// Random numbers for a check, from a separate generator. The run's are not shifted, and every GPU gets the same.
class CheckNumbers {
 public:
  explicit CheckNumbers(torch::Device device) : device_(device) {}

  Tensor normal(at::IntArrayRef sizes) { return torch::randn(sizes, generator_).to(device_); }
  Tensor uniform(at::IntArrayRef sizes) { return torch::rand(sizes, generator_).to(device_); }

 private:
  torch::Device device_;
  at::Generator generator_ = at::detail::createCPUGenerator(20191);
};

/// The output of `attention` and the gradients of `leaves` for a given gradient of the output.
template <class Attention>
variable_list output_and_gradients(const Attention& attention, const variable_list& leaves, const Tensor& upstream) {
  const Tensor out = attention(leaves);
  // With the product as a first operation, the thread of the gradients has a context before cuBLAS asks for it.
  variable_list all = torch::autograd::grad({(out * upstream.to(out.scalar_type())).sum()}, leaves);
  all.insert(all.begin(), out.detach());
  return all;
}

/// Runs both versions on the same leaves: the kernels in bfloat16, the plain one in float32. Names the result that
/// differs by more than roundings of bfloat16. The limit is several times the difference measured on the stand-in.
template <class Kernel, class Plain>
std::string compare_with_plain(const char* what, const variable_list& values, const Tensor& upstream,
                               const Kernel& kernel, const Plain& plain) {
  constexpr double kTolerance = 0.02;
  const auto leaves = [&](torch::ScalarType type) {
    variable_list result;
    for (const Tensor& value : values) {
      result.push_back(value.to(torch::kBFloat16).to(type).detach().set_requires_grad(true));
    }
    return result;
  };
  const variable_list expected = output_and_gradients(plain, leaves(torch::kFloat), upstream);
  const variable_list actual = output_and_gradients(kernel, leaves(torch::kBFloat16), upstream);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double off = relative_difference(actual[i], expected[i]);
    if (!(off <= kTolerance)) {
      return fmt::format("{} attention's {} differs by {:.3g} of its size", what,
                         i == 0 ? "value" : "gradient " + std::to_string(i), off);
    }
  }
  return "";
}

std::string fault_of_banded(BandKernels& kernels, CheckNumbers& numbers, std::int64_t width) {
  const variable_list values{numbers.normal({1, 2, 80, width}), numbers.normal({1, 2, 180, width}),
                             numbers.normal({1, 2, 180, width}), numbers.normal({width, 100}),
                             numbers.uniform({1, 2, 80, 1}) * 90};
  const auto input = [](const variable_list& leaves) {
    return BandedAttentionInput{
        .query = leaves[0], .key = leaves[1], .value = leaves[2], .position = leaves[3], .span = leaves[4], .ramp = 20};
  };
  return compare_with_plain(
      "banded", values, numbers.normal(values[0].sizes()).to(torch::kBFloat16),
      [&](const variable_list& leaves) { return banded_attention_by(kernels, input(leaves)); },
      [&](const variable_list& leaves) { return banded_attention_plain(input(leaves)); });
}

std::string fault_of_relative(BandKernels& kernels, CheckNumbers& numbers, std::int64_t width) {
  const variable_list values{numbers.normal({1, 2, 150, width}), numbers.normal({1, 2, 150, width}),
                             numbers.normal({1, 2, 150, width}), numbers.normal({2, 150, width}),
                             numbers.normal({2, width}),         numbers.normal({2, width})};
  const auto input = [](const variable_list& leaves) {
    return RelativeAttentionInput{.query = leaves[0],
                                  .key = leaves[1],
                                  .value = leaves[2],
                                  .position = leaves[3],
                                  .content_bias = leaves[4],
                                  .position_bias = leaves[5]};
  };
  return compare_with_plain(
      "relative", values, numbers.normal(values[0].sizes()).to(torch::kBFloat16),
      [&](const variable_list& leaves) { return relative_attention_by(kernels, input(leaves)); },
      [&](const variable_list& leaves) { return relative_attention_plain(input(leaves)); });
}

/// Those of a GPU, from libxlm_cuda.so.
std::unique_ptr<BandKernels> make_gpu_kernels(torch::Device device) {
  using MakeKernels = BandKernels* (*)(int);
  const auto make = reinterpret_cast<MakeKernels>(library_function("libxlm_cuda.so", "xlm_make_band_kernels"));
  return std::unique_ptr<BandKernels>(make(device.index()));
}

ExaminedKernels& examined_kernels(torch::Device device) {
  static std::mutex mutex;
  static std::map<int, ExaminedKernels> all;
  const std::lock_guard lock(mutex);
  return all.try_emplace(device.index(), device, [device] { return make_gpu_kernels(device); }).first->second;
}

}  // namespace

std::string find_fault(BandKernels& kernels, torch::Device device, std::int64_t width, bool two_queries) {
  CheckNumbers numbers(device);
  return two_queries ? fault_of_relative(kernels, numbers, width) : fault_of_banded(kernels, numbers, width);
}

ExaminedKernels::ExaminedKernels(torch::Device device, Make make) : device_(device), make_(std::move(make)) {}

const std::string& ExaminedKernels::obstacle(std::int64_t width, bool two_queries) {
  const std::lock_guard lock(mutex_);
  const std::pair<std::int64_t, bool> form(width, two_queries);
  const auto found = obstacles_.find(form);
  if (found != obstacles_.end()) return found->second;
  const std::string& why = obstacles_.emplace(form, examine(width, two_queries)).first->second;
  if (!why.empty()) {
    TORCH_WARN(two_queries ? "relative" : "banded", " attention on ", device_.str(),
               " is composed of libtorch's operations: ", why);
  }
  return why;
}

std::string ExaminedKernels::examine(std::int64_t width, bool two_queries) {
  return fault_of_trial(device_, "attention", "banded-attention=libtorch,relative-attention=libtorch", [&] {
    if (!kernels_) kernels_ = make_();
    const band::Kind largest =
        band::fitting({static_cast<int>(width), two_queries, !two_queries, true}, kernels_->shared_memory());
    const int needed = band::block_memory(largest);
    if (needed > kernels_->shared_memory()) {
      return fmt::format("a block has {} KB of shared memory, and heads {} wide need {}",
                         kernels_->shared_memory() / 1024, width, (needed + 1023) / 1024);
    }
    return find_fault(*kernels_, device_, width, two_queries);
  });
}

std::string ExaminedKernels::describe() {
  std::vector<std::string> composed;
  bool any = false;
  for (const bool two_queries : {false, true}) {
    for (const std::int64_t width : kHeadWidths) {
      const std::string& why = obstacle(width, two_queries);
      any = any || why.empty();
      if (why.empty()) continue;
      composed.push_back(fmt::format("{} attention {} wide ({})", two_queries ? "relative" : "banded", width, why));
    }
  }
  if (composed.empty()) return "own kernels in bfloat16";
  return fmt::format("{}composed: {}", any ? "own kernels in bfloat16; " : "", fmt::join(composed, "; "));
}

bool fits_grid(std::int64_t heads) { return heads <= 65'535; }

const char* obstacle_to_band_kernels(const KernelCall& call, bool two_queries) {
  if (!call.device.is_cuda()) return "the device is no GPU";
  if (call.type != torch::kBFloat16) return "the operands are not bfloat16";
  if (std::ranges::find(kHeadWidths, call.head_width) == kHeadWidths.end()) {
    return "heads are 64, 96 or 128 wide in these kernels";
  }
  if (!fits_grid(call.heads)) return "the batch has more than 65,535 heads";
  if (at::globalContext().deterministicAlgorithms()) return "train.deterministic asks for sums in one order";
  const std::string& why = examined_kernels(call.device).obstacle(call.head_width, two_queries);
  return why.empty() ? nullptr : why.c_str();
}

BandKernels& band_kernels_of(torch::Device device) { return examined_kernels(device).kernels(); }

std::string describe_attention(torch::Device device) { return examined_kernels(device).describe(); }

}  // namespace xlm
