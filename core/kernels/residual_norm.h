// A residual stream, what a layer adds to it, and the norm of the sum, in one pass.
#pragma once

#include <cstdint>
#include <optional>

#include <torch/torch.h>

namespace xlm {

struct NormOptions {
  bool centred = false;  // the mean is subtracted first, as layer norm has it; otherwise root mean square
  double epsilon = 1e-5;
};

struct ResidualNorm {
  torch::Tensor sum;     // in the type of the stream
  torch::Tensor normed;  // what a linear layer multiplies
};

/// `stream` [..., k] plus `added` [..., k] (undefined: nothing), and the norm of the sum over its last dimension times
/// `scale` [k]. Under autocast the norm may have the type of products already, rounded once.
ResidualNorm residual_norm(const torch::Tensor& stream, const torch::Tensor& added, const torch::Tensor& scale,
                           const NormOptions& options);

/// What a layer adds to a residual stream, before its dropout (place_dropout).
struct AddedPart {
  torch::Tensor value;  // [B, ..., k]
  double dropout = 0;
  std::uint64_t seed = 0;
  torch::Tensor seed_place = {};  // [1] int64, of a recorded step, on the GPU; undefined: one is drawn there
};

struct NormWeights {
  torch::Tensor scale, bias;  // [k]; the bias may be undefined
};

/// The norm of a sum where it is the stream itself.
struct NormedStream {
  torch::Tensor stream;  // in the type of the stream before
  torch::Tensor read;    // what linear layers multiply: the same numbers, in the type of products if that is cheap
};

/// The norm of `stream` [B, ..., k] plus what is added, times scale plus bias.
NormedStream normed_sum(const torch::Tensor& stream, const AddedPart& added, const NormWeights& weights,
                        const NormOptions& options);

/// `stream` plus what is added (maybe nothing), and the norm of the sum, times scale plus bias, by a GPU's kernel;
/// nullopt if it does not compute such a call. What uses of the weights share is left to StepWeights.
std::optional<ResidualNorm> residual_norm_on_gpu(const torch::Tensor& stream, const AddedPart& added,
                                                 const NormWeights& weights, const NormOptions& options);

/// The norm alone, by libtorch, in the type of x.
torch::Tensor norm_of(const torch::Tensor& x, const torch::Tensor& scale, const NormOptions& options);

/// The versions, for tests.
ResidualNorm residual_norm_fused(const torch::Tensor& stream, const torch::Tensor& added, const torch::Tensor& scale,
                                 const NormOptions& options);
ResidualNorm residual_norm_composed(const torch::Tensor& stream, const torch::Tensor& added, const torch::Tensor& scale,
                                    const NormOptions& options);
NormedStream normed_sum_composed(const torch::Tensor& stream, const AddedPart& added, const NormWeights& weights,
                                 const NormOptions& options);

}  // namespace xlm
