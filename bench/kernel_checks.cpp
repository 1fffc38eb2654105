// Compares kernels and compositions with their plain versions.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/checks.h"
#include "core/kernels/band_attention_device.h"
#include "core/kernels/banded_attention.h"
#include "core/kernels/causal_attention.h"
#include "core/kernels/cross_entropy.h"
#include "core/kernels/examined_kernels.h"
#include "core/kernels/kernel_table.h"
#include "core/kernels/kernel_trial.h"
#include "core/kernels/linear.h"
#include "core/kernels/norm_device.h"
#include "core/kernels/relative_attention.h"
#include "core/kernels/segment_pooling.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

using Tensors = std::vector<torch::Tensor>;
using Operation = std::function<torch::Tensor(const Tensors&)>;

/// An operation of the program, its plain version, and inputs for both, in double on the CPU.
struct KernelCheck {
  std::string name;
  Operation given;
  Operation plain;
  std::vector<Tensors> inputs;
  std::vector<Precision> precisions{Precision::kFloat32, Precision::kBfloat16};
  bool autocast = false;  // bfloat16 comes from autocast of float32 inputs, as in a model's linear layers
};

Tensors value_and_gradients(const Operation& operation, const Tensors& inputs) {
  Tensors leaves;
  for (const torch::Tensor& input : inputs) leaves.push_back(input.detach().clone().set_requires_grad(true));
  const torch::Tensor output = operation(leaves);
  torch::manual_seed(99);
  const torch::Tensor upstream = torch::randn(output.sizes(), torch::kDouble).to(output.device(), output.scalar_type());
  Tensors all{output.detach()};
  for (const torch::Tensor& gradient : torch::autograd::grad({(output * upstream).sum()}, leaves)) {
    all.push_back(gradient);
  }
  return all;
}

double squared(const torch::Tensor& x) { return x.square().sum().item<double>(); }

/// Adds the squared errors of value and gradients to `sums`.
void add_errors(const Tensors& found, const Tensors& truth, std::vector<double>& sums) {
  sums.resize(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    sums[i] += squared(found[i].to(torch::kCPU, torch::kDouble) - truth[i]);
  }
}

/// Errors are summed over all inputs, so that one lucky rounding does not decide.
Check compare(const KernelCheck& check, Precision precision, torch::Device device) {
  const bool lower = precision == Precision::kBfloat16;
  const double slack = lower ? 1e-3 : 1e-6;
  std::vector<double> given;
  std::vector<double> plain;
  std::vector<double> sizes;
  for (const Tensors& exact : check.inputs) {
    const Tensors truth = value_and_gradients(check.plain, exact);
    Tensors inputs;
    for (const torch::Tensor& x : exact) {
      inputs.push_back(x.to(device, lower && !check.autocast ? torch::kBFloat16 : torch::kFloat));
    }
    const PrecisionScope scope(check.autocast ? precision : Precision::kFloat32, device);
    add_errors(value_and_gradients(check.given, inputs), truth, given);
    add_errors(value_and_gradients(check.plain, inputs), truth, plain);
    sizes.resize(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) sizes[i] += squared(truth[i]);
  }
  Check result{.name = fmt::format("{}, {}", check.name, kPrecisionNames.at(static_cast<std::size_t>(precision))),
               .bound = fmt::format("≤ 2 × the plain version's error + {:g}", slack),
               .measured = {},
               .passed = true};
  double worst = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double size = std::sqrt(sizes[i]);
    const double error = std::sqrt(given[i]) / size;
    const double of_plain = std::sqrt(plain[i]) / size;
    const double share = error / (2 * of_plain + slack);
    if (!(share <= 1)) result.passed = false;
    if (share <= worst) continue;
    worst = share;
    result.measured =
        fmt::format("{}: {:.1e}, plain {:.1e}", i == 0 ? "value" : fmt::format("gradient {}", i), error, of_plain);
    if (std::isnan(share)) break;
  }
  return result;
}

enum class SpanMask { kNone, kOfAHead, kOfAQuery };

KernelCheck banded_check(const std::string& name, SpanMask mask, torch::Tensor (*given)(const BandedAttentionInput&)) {
  const auto with = [mask](torch::Tensor (*attention)(const BandedAttentionInput&)) {
    return [=](const Tensors& x) {
      return attention({.query = x[0],
                        .key = x[1],
                        .value = x[2],
                        .position = x[3],
                        .span = mask == SpanMask::kNone ? torch::Tensor() : x[4],
                        .ramp = 32});
    };
  };
  KernelCheck check{.name = name, .given = with(given), .plain = with(banded_attention_plain)};
  const auto real = torch::TensorOptions(torch::kDouble);
  // Blocks shorter and longer than the band, and lengths that are no multiple of a tile or of eight.
  for (const auto& [queries, band] :
       std::vector<std::pair<std::int64_t, std::int64_t>>{{64, 64}, {33, 200}, {136, 70}}) {
    Tensors inputs{torch::randn({2, 3, queries, 64}, real), torch::randn({2, 3, band + queries, 64}, real),
                   torch::randn({2, 3, band + queries, 64}, real), torch::randn({64, band}, real)};
    // Spans near 0, inside the band and beyond it. None lies on a corner of the mask, where rounding decides the slope.
    if (mask == SpanMask::kOfAHead) {
      inputs.push_back(
          torch::tensor({0.37, 0.5 * static_cast<double>(band) + 0.21, 2.0 * static_cast<double>(band)}, real)
              .view({1, 3, 1, 1}));
    } else if (mask == SpanMask::kOfAQuery) {
      inputs.push_back(torch::randint(band, {2, 3, queries, 1}, real) + 0.37);
    }
    check.inputs.push_back(std::move(inputs));
  }
  // bfloat16 is too coarse for spans: models keep them in float32, also under autocast.
  if (mask != SpanMask::kNone) check.precisions = {Precision::kFloat32};
  return check;
}

KernelCheck relative_check(const std::string& name, torch::Tensor (*given)(const RelativeAttentionInput&)) {
  const auto with = [](torch::Tensor (*attention)(const RelativeAttentionInput&)) {
    return [=](const Tensors& x) {
      return attention(
          {.query = x[0], .key = x[1], .value = x[2], .position = x[3], .content_bias = x[4], .position_bias = x[5]});
    };
  };
  KernelCheck check{.name = name, .given = with(given), .plain = with(relative_attention_plain)};
  const auto real = torch::TensorOptions(torch::kDouble);
  for (const std::int64_t length : {5, 64, 70, 300}) {
    const auto heads = [&] { return torch::randn({2, 3, length, 64}, real); };
    check.inputs.push_back({heads(), heads(), heads(), torch::randn({3, length, 64}, real), torch::randn({3, 64}, real),
                            torch::randn({3, 64}, real)});
  }
  return check;
}

KernelCheck causal_check() {
  const auto with = [](torch::Tensor (*attention)(const CausalAttentionInput&)) {
    return [=](const Tensors& x) { return attention({.query = x[0], .key = x[1], .value = x[2]}); };
  };
  KernelCheck check{.name = "causal attention", .given = with(causal_attention), .plain = with(causal_attention_plain)};
  const auto real = torch::TensorOptions(torch::kDouble);
  for (const auto& [queries, keys] : std::vector<std::pair<std::int64_t, std::int64_t>>{{64, 64}, {300, 301}, {5, 9}}) {
    check.inputs.push_back({torch::randn({2, 3, queries, 64}, real), torch::randn({2, 3, keys, 64}, real),
                            torch::randn({2, 3, keys, 64}, real)});
  }
  return check;
}

/// Pools groups to their means and spreads these back to the tokens.
KernelCheck pooling_check() {
  const torch::Tensor boundaries = torch::rand({3, 200}) < 0.2;
  const auto pooled_and_spread = [](const torch::Tensor& means, const torch::Tensor& first, const Tensors& x) {
    return torch::cat({first.expand({x[0].size(0), 1, x[0].size(2)}), means}, 1);
  };
  const Operation given = [=](const Tensors& x) {
    const torch::Tensor flags = boundaries.to(x[0].device());
    const Groups groups = find_groups(flags);
    const torch::Tensor means = group_means(x[0], flags.to(x[0].scalar_type()), groups);
    return spread_groups(pooled_and_spread(means, x[1], x), groups);
  };
  const Operation plain = [=](const Tensors& x) {
    const torch::Tensor closed = boundaries.to(x[0].device()).to(torch::kLong).cumsum(1);  // at or before a token
    const torch::Tensor group = closed - boundaries.to(x[0].device()).to(torch::kLong);    // that a token belongs to
    const std::int64_t count = closed.max().item<std::int64_t>();
    const torch::Tensor ids = torch::arange(count + 1, closed.options());
    const auto numbers = [&](const torch::Tensor& y) { return y.to(x[0].scalar_type()); };
    const torch::Tensor whole = group < closed.select(1, closed.size(1) - 1).unsqueeze(1);  // its group is closed
    const torch::Tensor members =
        numbers((group.unsqueeze(2) == ids.narrow(0, 0, count)).logical_and(whole.unsqueeze(2)));  // [B, T, G]
    const torch::Tensor means = torch::matmul(members.transpose(1, 2), x[0]) / members.sum(1).clamp_min(1).unsqueeze(2);
    return torch::matmul(numbers(closed.unsqueeze(2) == ids), pooled_and_spread(means, x[1], x));
  };
  const auto real = torch::TensorOptions(torch::kDouble);
  return {.name = "pooling and back",
          .given = given,
          .plain = plain,
          .inputs = {{torch::randn({3, 200, 24}, real), torch::randn({1, 1, 24}, real)}},
          .precisions = {Precision::kFloat32}};
}

KernelCheck cross_entropy_check() {
  torch::Tensor targets = torch::randint(5003, {2, 301});
  targets[1].narrow(0, 40, 100).fill_(kNoTarget);
  const auto with = [targets](torch::Tensor (*loss)(const torch::Tensor&, const torch::Tensor&, const torch::Tensor&,
                                                    const torch::Tensor&)) {
    return [=](const Tensors& x) { return loss(x[0], x[1], x[2], targets.to(x[0].device())); };
  };
  const auto real = torch::TensorOptions(torch::kDouble);
  return {.name = "cross-entropy of 5,003 symbols",
          .given = with(summed_cross_entropy),
          .plain = with(plain_summed_cross_entropy),
          .inputs = {{torch::randn({2, 301, 32}, real), torch::randn({5003, 32}, real), torch::randn({5003}, real)}},
          .autocast = true};
}

KernelCheck linear_check() {
  const auto real = torch::TensorOptions(torch::kDouble);
  return {.name = "linear layers",
          .given = [](const Tensors& x) { return affine_layer(linear_layer(x[0], x[1], x[2]), x[3], x[4]); },
          .plain = [](const Tensors& x) { return torch::linear(torch::linear(x[0], x[1], x[2]), x[3].t(), x[4]); },
          .inputs = {{torch::randn({3, 70, 40}, real), torch::randn({72, 40}, real), torch::randn({72}, real),
                      torch::randn({72, 24}, real), torch::randn({24}, real)}},
          .autocast = true};
}

/// The GPU's kernels, as on a GPU whose blocks may have less shared memory.
class KernelsOfSmallBlocks final : public BandKernels {
 public:
  KernelsOfSmallBlocks(BandKernels& kernels, int shared_memory) : kernels_(kernels), shared_memory_(shared_memory) {}

  int shared_memory() const override { return shared_memory_; }
  void forward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    kernels_.forward(kind, arguments, heads);
  }
  void backward(const band::Kind& kind, const band::Arguments& arguments, int heads) override {
    kernels_.backward(kind, arguments, heads);
  }

 private:
  BandKernels& kernels_;
  int shared_memory_;
};

/// The compact kernels of 99 and 163 KB (compute capability 8.6 and 8.0), as far as this GPU's blocks have room for
/// them.
Check check_compact_kernels(torch::Device device) {
  struct Case {
    int shared_memory_kb;
    std::int64_t width;
    bool two_queries;
  };
  BandKernels& all = band_kernels_of(device);
  std::vector<std::string> tried;
  std::vector<std::string> faults;
  for (const Case& each : {Case{99, 64, false}, Case{99, 64, true}, Case{163, 128, true}}) {
    if (each.shared_memory_kb * 1024 > all.shared_memory()) continue;
    const std::string name = fmt::format("{} attention {} wide in {} KB", each.two_queries ? "relative" : "banded",
                                         each.width, each.shared_memory_kb);
    KernelsOfSmallBlocks kernels(all, each.shared_memory_kb * 1024);
    const std::string fault =
        fault_of_trial(device, "compact attention", "banded-attention=libtorch,relative-attention=libtorch",
                       [&] { return find_fault(kernels, device, each.width, each.two_queries); });
    tried.push_back(name);
    if (!fault.empty()) faults.push_back(fmt::format("{}: {}", name, fault));
  }
  return {.name = "own attention kernels, compact",
          .bound = "they compute the same",
          .measured = fmt::format("{}", fmt::join(faults.empty() ? tried : faults, "; ")),
          .passed = faults.empty()};
}

/// A check that kernels passed their trials. A GPU that runs none of them is fine.
Check trials_check(const std::string& name, const std::string& found) {
  return {.name = name,
          .bound = "those that run compute the same",
          .measured = found,
          .passed = found.find("differs") == std::string::npos};
}

/// The kernels of norms as wide as the recipes' models, and of losses.
Check check_row_kernels(torch::Device device) {
  std::vector<std::string> obstacles;
  KernelCall call{.device = device, .autocast = true};
  for (const std::int64_t width : {128, 512, 768, 1024}) {
    call.width = width;
    if (const char* why = obstacle_to_norm_kernels(call)) {
      obstacles.push_back(fmt::format("norms {} wide are libtorch's: {}", width, why));
    }
  }
  if (const char* why = obstacle_to_loss_kernels(call)) {
    obstacles.push_back(fmt::format("losses are libtorch's: {}", why));
  }
  return trials_check("own kernels of norms and losses",
                      obstacles.empty() ? "own kernels in bfloat16" : fmt::format("{}", fmt::join(obstacles, "; ")));
}

}  // namespace

std::vector<Check> check_kernels(const CheckJob& job) {
  torch::manual_seed(1);
  std::vector<KernelCheck> checks{
      banded_check("banded attention", SpanMask::kNone, banded_attention),
      banded_check("banded attention, a span for each head", SpanMask::kOfAHead, banded_attention),
      banded_check("banded attention, a span for each query", SpanMask::kOfAQuery, banded_attention),
      relative_check("relative attention", relative_attention),
      causal_check(),
      pooling_check(),
      cross_entropy_check(),
      linear_check()};
  // The compositions that a GPU uses if it cannot run the program's own kernels.
  checks.push_back(banded_check("banded attention, composed", SpanMask::kNone, banded_attention_composed));
  checks.push_back(
      banded_check("banded attention, a span for each head, composed", SpanMask::kOfAHead, banded_attention_composed));
  checks.push_back(relative_check("relative attention, composed", relative_attention_composed));
  std::vector<Check> results;
  if (job.device.is_cuda()) {
    const std::string found = describe_attention(job.device);
    results.push_back(trials_check("own attention kernels", found));
    if (found.starts_with("own")) results.push_back(check_compact_kernels(job.device));
    results.push_back(check_row_kernels(job.device));
  }
  for (const KernelCheck& check : checks) {
    for (const Precision precision : check.precisions) results.push_back(compare(check, precision, job.device));
  }
  return results;
}

}  // namespace xlm
