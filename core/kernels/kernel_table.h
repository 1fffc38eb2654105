// Which version of an operation computes a call: one table for all operations, read from the top.
//
// The environment variable XLM_KERNELS requests versions, for tests and measurements: "products=own,linear=libtorch".
// Operations are products, linear, causal-attention, banded-attention, window-attention, relative-attention,
// tanh-gelu, residual-norm and cross-entropy; versions are widened, own, gpu, libtorch and plain. Calls that the
// version cannot compute go by the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

namespace xlm {

enum class Operation {
  kProducts,  // small matrix products in float32 on the CPU, which own kernels are made of
  kLinear,
  kCausalAttention,
  kBandedAttention,
  kWindowAttention,
  kRelativeAttention,
  kTanhGelu,
  kResidualNorm,
  kCrossEntropy
};

enum class KernelVersion {
  kWidened,   // in float32, with operands and results in bfloat16's values
  kOwn,       // this program's loops on the CPU
  kGpu,       // this program's kernels on a GPU
  kComposed,  // libtorch's fused operations
  kPlain,     // libtorch's differentiable operations
};

/// What the choice of a version depends on.
struct KernelCall {
  torch::Device device = torch::kCPU;
  torch::ScalarType type = torch::kFloat;  // of the operands
  bool autocast = false;                   // to bfloat16
  bool empty = false;                      // no element to compute
  bool dropout = false;                    // of attention weights
  std::int64_t head_width = 64;
  std::int64_t heads = 1;          // of attention, those of every row of the batch
  std::int64_t queries = 1 << 10;  // of a head
  std::int64_t width = 512;        // of rows of a norm
  std::int64_t symbols = 1 << 16;  // of the cross-entropy; 0 if it is given logits
  bool bias = false;               // of the cross-entropy's logits
};

/// The device, type and autocast of a call on `x`.
KernelCall kernel_call(const torch::Tensor& x);

/// The same with the head width, heads and number of queries [B, n, T, d].
KernelCall attention_call(const torch::Tensor& query, double dropout);

/// The requested version if nothing stands against it, otherwise the first of the table. Throws UsageError for an
/// XLM_KERNELS that names none.
KernelVersion choose_kernel(Operation operation, const KernelCall& call);

/// The choice for a call, with its reasons.
struct KernelChoice {
  std::string operation, version, gain;
  std::vector<std::string> passed_over;  // "version: why not", of those before it in the table
};

/// What training on a device takes, for each operation.
std::vector<KernelChoice> kernel_choices(torch::Device device, bool bfloat16);

}  // namespace xlm
