// The table of kernels.
#include "core/kernels/kernel_table.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"
#include "core/kernels/cross_entropy.h"
#include "core/kernels/examined_kernels.h"
#include "core/kernels/norm_device.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd_dispatch.h"

namespace xlm {
namespace {

constexpr std::int64_t kFewQueries = 16;     // the own loops work on tiles of queries
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

const char* against_small_products(const KernelCall&) {
  return simd_lanes < 16 ? "they run at half of the processor's rate without AVX-512" : nullptr;
}

const char* against_own_loops(const KernelCall& call) {
  return call.device.is_cpu() ? nullptr : "the device is no CPU";
}

const char* against_own_activation(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  return call.type == torch::kFloat || call.type == torch::kBFloat16 ? nullptr : "the numbers are double";
}

const char* against_own_norms(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  if (call.empty) return "there is nothing to compute";
  return call.type == torch::kFloat ? nullptr : "the residual stream is not float32";
}

const char* against_own_causal_attention(const KernelCall& call) {
  if (!call.device.is_cpu()) return "the device is no CPU";
  if (call.dropout) return "it has no dropout";
  return call.queries < kFewQueries ? "there are few queries" : nullptr;
}

/// libtorch's multiplies by MKL, whose loops for other processors are slower.
const char* against_own_causal_attention_here(const KernelCall& call) {
  if (const char* obstacle = against_own_causal_attention(call)) return obstacle;
  return __builtin_cpu_is("intel") != 0 ? "it was measured to be faster on AMD's processors alone" : nullptr;
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

const char* against_pieces_of_a_gpu(const KernelCall& call) {
  if (const char* obstacle = against_pieces(call)) return obstacle;
  return obstacle_to_loss_kernels(call);
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
    KernelRow{Operation::kProducts, KernelVersion::kComposed, "libtorch's small products", "faster steps with AVX-512",
              against_small_products},
    KernelRow{Operation::kProducts, KernelVersion::kOwn, "blocks in registers", "twice the rate without AVX-512",
              nothing},
    KernelRow{Operation::kProducts, KernelVersion::kComposed, "libtorch's small products", "", nothing},  // on request
    KernelRow{Operation::kLinear, KernelVersion::kWidened, "float32 with bfloat16's values",
              "25 times libtorch's bfloat16", against_widening},
    KernelRow{Operation::kLinear, KernelVersion::kOwn, "tiles of small products", "2 to 4 times libtorch's layers",
              against_own_products},
    KernelRow{Operation::kLinear, KernelVersion::kComposed, "libtorch's", "", nothing},
    KernelRow{Operation::kCausalAttention, KernelVersion::kWidened, "float32 with bfloat16's values",
              "25 times libtorch's bfloat16", against_widening},
    KernelRow{Operation::kCausalAttention, KernelVersion::kOwn, "tiles in cache", "1.1 to 2.2 times a step",
              against_own_causal_attention_here},
    KernelRow{Operation::kCausalAttention, KernelVersion::kComposed, "libtorch's fused attention",
              "no scores in memory", against_fused_causal_attention},
    KernelRow{Operation::kCausalAttention, KernelVersion::kOwn, "tiles in cache", "",
              against_own_causal_attention},  // on request
    KernelRow{Operation::kCausalAttention, KernelVersion::kPlain, "libtorch's, step by step", "", nothing},
    KernelRow{Operation::kBandedAttention, KernelVersion::kOwn, "tiles in cache",
              "2 to 20 times a step of the published program", against_own_loops},
    KernelRow{Operation::kBandedAttention, KernelVersion::kGpu, "own GPU kernels", "no scores in memory",
              against_banded_gpu_kernels},
    KernelRow{Operation::kBandedAttention, KernelVersion::kComposed, "libtorch's fused attention with a bias", "",
              nothing},
    KernelRow{Operation::kWindowAttention, KernelVersion::kOwn, "tiles in cache",
              "no mask, and no products outside windows", against_own_loops},
    KernelRow{Operation::kWindowAttention, KernelVersion::kComposed, "libtorch's fused attention in blocks", "",
              nothing},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kOwn, "tiles in cache",
              "1.6 to 2 times a step of the published program", against_own_loops},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kGpu, "own GPU kernels", "no scores in memory",
              against_relative_gpu_kernels},
    KernelRow{Operation::kRelativeAttention, KernelVersion::kComposed, "libtorch's fused attention with a bias", "",
              nothing},
    KernelRow{Operation::kTanhGelu, KernelVersion::kOwn, "own loops", "a step takes 3 % less", against_own_activation},
    KernelRow{Operation::kTanhGelu, KernelVersion::kComposed, "libtorch's", "", nothing},
    KernelRow{Operation::kResidualNorm, KernelVersion::kOwn, "own loops, with the sum before",
              "a step takes 1 to 7 % less", against_own_norms},
    KernelRow{Operation::kResidualNorm, KernelVersion::kGpu, "own GPU kernels, with the sum before", "one pass",
              obstacle_to_norm_kernels},
    KernelRow{Operation::kResidualNorm, KernelVersion::kComposed, "libtorch's", "", nothing},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kOwn, "own loops, some rows at a time",
              "logits are never all in memory", against_own_pieces},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kGpu, "own GPU kernel, some rows at a time",
              "logits become their gradient in bfloat16", against_pieces_of_a_gpu},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kComposed, "libtorch's, some rows at a time",
              "logits are never all in memory", against_pieces},
    KernelRow{Operation::kCrossEntropy, KernelVersion::kPlain, "libtorch's, all logits at once", "", nothing},
};

struct NamedOperation {
  Operation operation;
  std::string_view name;
  std::string_view key;  // in XLM_KERNELS
};

/// In the order of Operation.
constexpr std::array kOperations{
    NamedOperation{Operation::kProducts, "products in kernels", "products"},
    NamedOperation{Operation::kLinear, "linear layers", "linear"},
    NamedOperation{Operation::kCausalAttention, "causal attention", "causal-attention"},
    NamedOperation{Operation::kBandedAttention, "banded attention", "banded-attention"},
    NamedOperation{Operation::kWindowAttention, "windowed attention", "window-attention"},
    NamedOperation{Operation::kRelativeAttention, "relative attention", "relative-attention"},
    NamedOperation{Operation::kTanhGelu, "GELU with tanh", "tanh-gelu"},
    NamedOperation{Operation::kResidualNorm, "norms of sums", "residual-norm"},
    NamedOperation{Operation::kCrossEntropy, "cross-entropy", "cross-entropy"}};

constexpr std::array<std::string_view, 5> kVersionKeys{"widened", "own", "gpu", "libtorch", "plain"};

std::string_view key_of(KernelVersion version) { return kVersionKeys[static_cast<std::size_t>(version)]; }

using Requests = std::array<std::optional<KernelVersion>, kOperations.size()>;

/// Reads "OPERATION=VERSION,…".
Requests parse_requests(std::string_view text) {
  Requests requests;
  for (const std::string& request : split(text, ',')) {
    const std::size_t equals = request.find('=');
    const std::string_view key = std::string_view(request).substr(0, equals);
    const auto* const operation =
        std::ranges::find_if(kOperations, [&](const auto& named) { return named.key == key; });
    if (equals == std::string::npos || operation == kOperations.end()) {
      std::vector<std::string_view> keys;
      for (const NamedOperation& named : kOperations) keys.push_back(named.key);
      throw UsageError(fmt::format("XLM_KERNELS is not a list of OPERATION=VERSION: {}\noperations are {}", request,
                                   fmt::join(keys, ", ")));
    }
    const std::string_view version = std::string_view(request).substr(equals + 1);
    std::vector<std::string_view> versions;
    for (const KernelRow& row : kKernelTable) {
      if (row.operation != operation->operation) continue;
      if (version == key_of(row.version)) requests[static_cast<std::size_t>(row.operation)] = row.version;
      if (std::ranges::find(versions, key_of(row.version)) == versions.end()) {
        versions.push_back(key_of(row.version));
      }
    }
    if (!requests[static_cast<std::size_t>(operation->operation)]) {
      throw UsageError(fmt::format("XLM_KERNELS: {} has no version {:?}\nits versions are {}", key, version,
                                   fmt::join(versions, ", ")));
    }
  }
  return requests;
}

std::optional<KernelVersion> requested(Operation operation) {
  static const Requests requests = [] {
    const char* text = std::getenv("XLM_KERNELS");
    return text == nullptr || *text == '\0' ? Requests{} : parse_requests(text);
  }();
  return requests[static_cast<std::size_t>(operation)];
}

const KernelRow& choose_row(Operation operation, const KernelCall& call) {
  const auto fits = [&](const KernelRow& row) { return row.operation == operation && row.obstacle(call) == nullptr; };
  if (const std::optional<KernelVersion> version = requested(operation)) {
    const auto* const row =
        std::ranges::find_if(kKernelTable, [&](const KernelRow& of) { return of.version == *version && fits(of); });
    if (row != kKernelTable.end()) return *row;
  }
  return *std::ranges::find_if(kKernelTable, fits);
}

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
  call.queries = query.size(2);
  return call;
}

KernelVersion choose_kernel(Operation operation, const KernelCall& call) { return choose_row(operation, call).version; }

std::vector<KernelChoice> kernel_choices(torch::Device device, bool bfloat16) {
  std::vector<KernelChoice> choices;
  for (const NamedOperation& operation : kOperations) {
    if (operation.operation == Operation::kProducts && !device.is_cpu()) continue;
    // Autocast leaves the weights of linear layers and sums in float32, and gives attention what it multiplies.
    const bool attention =
        operation.operation == Operation::kCausalAttention || operation.operation == Operation::kBandedAttention ||
        operation.operation == Operation::kWindowAttention || operation.operation == Operation::kRelativeAttention;
    const KernelCall call{
        .device = device, .type = attention && bfloat16 ? torch::kBFloat16 : torch::kFloat, .autocast = bfloat16};
    const KernelRow& chosen = choose_row(operation.operation, call);
    KernelChoice choice{.operation = std::string(operation.name),
                        .version = std::string(chosen.name),
                        .gain = std::string(chosen.gain),
                        .passed_over = {}};
    for (const KernelRow* row = kKernelTable.data(); row != &chosen; ++row) {
      if (row->operation != operation.operation) continue;
      const bool unwanted = requested(operation.operation) == chosen.version && row->version != chosen.version;
      const char* obstacle = unwanted ? "XLM_KERNELS requests another" : row->obstacle(call);
      choice.passed_over.push_back(fmt::format("{}: {}", row->name, obstacle));
    }
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace xlm
