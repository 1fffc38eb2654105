// The table of kernels.
#include "core/kernels/kernel_table.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/kernels/band_attention_device.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/register_gemm.h"

namespace xlm {
namespace {

constexpr std::int64_t kManySymbols = 1024;  // fewer logits are smaller than what is saved elsewhere

bool is_real(torch::ScalarType type) { return type == torch::kFloat || type == torch::kDouble; }

// Each returns why a version cannot compute a call, or null.

const char* nothing(const KernelCall&) { return nullptr; }

const char* against_widening(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  if (!call.autocast) return "no product in bfloat16 is asked for";
  if (call.empty) return "there is nothing to compute";
  return has_bfloat16_products() ? "the processor multiplies bfloat16" : nullptr;
}

const char* against_own_products(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  if (call.autocast) return "the products are in bfloat16";
  if (call.empty) return "there is nothing to compute";
  return call.type == torch::kFloat ? nullptr : "the operands are not float32";
}

const char* against_register_blocks(const KernelCall& call) {
  if (!uses_register_gemm())
    return "steps with libtorch's small products are faster with AVX-512 (or XLM_PRODUCTS chose them)";
  return against_own_products(call);
}

const char* against_own_loops(const KernelCall& call) {
  return call.device.is_cpu() ? nullptr : "the device is no CPU";
}

const char* against_own_sums(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  return is_real(call.type) ? nullptr : "the operands are neither float32 nor double";
}

const char* against_fused_causal_attention(const KernelCall& call) {
  return call.dropout && call.device.is_cpu() ? "libtorch's has no dropout on the CPU" : nullptr;
}

const char* against_banded_gpu_kernels(const KernelCall& call) { return obstacle_to_band_kernels(call, false); }

const char* against_relative_gpu_kernels(const KernelCall& call) { return obstacle_to_band_kernels(call, true); }

const char* against_pieces(const KernelCall& call) {
  if (call.symbols < kManySymbols) return "there are fewer than 1024 symbols";
  if (call.empty) return "there is nothing to compute";
  return is_real(call.type) ? nullptr : "the weight is neither float32 nor double";
}

const char* against_own_pieces(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  return against_pieces(call);
}

struct KernelRow {
  Operation operation;
  KernelVersion version;
  std::string_view name;
  std::string_view gain;  // measured: docs/performance.md
  const char* (*obstacle)(const KernelCall&);
};

/// Every operation ends with a version that nothing stands against.
constexpr std::array kKernelTable{
    KernelRow{Operation::kLinear, KernelVersion::kWidened, "float32 with bfloat16's values",
              "25 times libtorch's bfloat16", against_widening},
    KernelRow{Operation::kLinear, KernelVersion::kOwn, "blocks in registers", "2 to 4 times libtorch's layers",
              against_register_blocks},
    KernelRow{Operation::kLinear, KernelVersion::kOwn, "tiles of libtorch's small products",
              "2 to 4 times libtorch's layers", against_own_products},
    KernelRow{Operation::kLinear, KernelVersion::kComposed, "libtorch's", "", nothing},
    KernelRow{Operation::kCausalAttention, KernelVersion::kWidened, "float32 with bfloat16's values",
              "25 times libtorch's bfloat16", against_widening},
    KernelRow{Operation::kCausalAttention, KernelVersion::kComposed, "libtorch's fused attention",
              "no scores in memory", against_fused_causal_attention},
    KernelRow{Operation::kCausalAttention, KernelVersion::kPlain, "libtorch's, step by step", "", nothing},
    KernelRow{Operation::kBandedAttention, KernelVersion::kOwn, "tiles in cache",
              "2 to 20 times a step of the published program", against_own_loops},
    KernelRow{Operation::kBandedAttention, KernelVersion::kGpu, "own GPU kernels", "no scores in memory",
              against_banded_gpu_kernels},
    KernelRow{Operation::kBandedAttention, KernelVersion::kComposed, "libtorch's fused attention with a bias", "",
              nothing},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kOwn, "tiles in cache",
              "1.6 to 2 times a step of the published program", against_own_loops},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kGpu, "own GPU kernels", "no scores in memory",
              against_relative_gpu_kernels},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kComposed, "libtorch's fused attention with a bias", "",
              nothing},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kOwn, "own loops, some rows at a time",
              "logits are never all in memory", against_own_pieces},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kComposed, "libtorch's, some rows at a time",
              "logits are never all in memory", against_pieces},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kPlain, "libtorch's, all logits at once", "", nothing},
    KernelRow{Operation::kSegmentSums, KernelVersion::kOwn, "own loops", "", against_own_sums},
    KernelRow{Operation::kSegmentSums, KernelVersion::kPlain, "libtorch's", "", nothing},
};

struct NamedOperation {
  Operation operation;
  std::string_view name;
};

constexpr std::array kOperations{NamedOperation{Operation::kLinear, "linear layers"},
                                 NamedOperation{Operation::kCausalAttention, "causal attention"},
                                 NamedOperation{Operation::kBandedAttention, "banded attention"},
                                 NamedOperation{Operation::kRelativeAttention, "relative attention"},
                                 NamedOperation{Operation::kCrossEntropy, "cross-entropy"},
                                 NamedOperation{Operation::kSegmentSums, "sums of groups"}};

}  // namespace

KernelCall kernel_call(const torch::Tensor& x) {
  const torch::DeviceType device = x.device().type();
  const bool autocast = at::autocast::is_autocast_enabled(device) &&
                        (!x.is_cpu() || at::autocast::get_autocast_dtype(device) == torch::kBFloat16);
  return {.device = x.device(), .type = x.scalar_type(), .autocast = autocast, .empty = x.numel() == 0};
}

KernelCall attention_call(const torch::Tensor& query, double dropout) {
  KernelCall call = kernel_call(query);
  call.dropout = dropout > 0;
  call.head_width = query.size(-1);
  call.heads = query.size(0) * query.size(1);
  return call;
}

KernelVersion choose_kernel(Operation operation, const KernelCall& call) {
  return std::find_if(kKernelTable.begin(), kKernelTable.end(),
                      [&](const KernelRow& row) { return row.operation == operation && row.obstacle(call) == nullptr; })
      ->version;
}

std::vector<KernelChoice> kernel_choices(torch::Device device, bool bfloat16) {
  std::vector<KernelChoice> choices;
  for (const NamedOperation& operation : kOperations) {
    // Autocast leaves the weights of linear layers and sums in float32, and gives attention what it multiplies.
    const bool attention = operation.operation == Operation::kCausalAttention ||
                           operation.operation == Operation::kBandedAttention ||
                           operation.operation == Operation::kRelativeAttention;
    const KernelCall call{
        .device = device, .type = attention && bfloat16 ? torch::kBFloat16 : torch::kFloat, .autocast = bfloat16};
    KernelChoice choice{.operation = std::string(operation.name), .version = "", .gain = "", .passed_over = {}};
    for (const KernelRow& row : kKernelTable) {
      if (row.operation != operation.operation) continue;
      if (const char* obstacle = row.obstacle(call); obstacle != nullptr) {
        choice.passed_over.push_back(std::string(row.name) + ": " + obstacle);
        continue;
      }
      choice.version = row.name;
      choice.gain = row.gain;
      break;
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace xlm
