// Transformer-XL layers without memory: relative attention and a feed-forward, each followed by a residual and a layer
// norm (Dai et al. 2019, §3.3; Nawrot et al. 2023, §4.2).
//
// B batch, T positions, D width, H heads, d = D / H, F feed-forward units.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/nn/initial_weights.h"

namespace xlm {

struct TransformerXlShape {
  std::int64_t width = 512;
  std::int64_t heads = 8;
  std::int64_t feed_forward = 2048;
  double dropout = 0.1;
  double attention_dropout = 0.1;
};

/// What all layers of a model share.
struct RelativePositions {
  torch::Tensor sinusoids;      // [≥ T, D], row x belongs to distance x
  torch::Tensor content_bias;   // r_w_bias [H, d]
  torch::Tensor position_bias;  // r_r_bias [H, d]
};

/// [sin, cos] halves at frequencies 10000^(−2n/D), n = 0 … D/2 − 1, for distances 0 … length − 1: [length, D].
torch::Tensor sinusoid_table(std::int64_t length, std::int64_t width, const torch::TensorOptions& options);

/// Layers that a sequence passes one after the other.
class TransformerXlStage {
 public:
  /// Declares `count` layers as PREFIX.0.dec_attn.qkv_net.weight, …, with N(0, 0.02) weights and zero biases.
  TransformerXlStage(const DeclareParameter& declare, const std::string& prefix, std::int64_t count,
                     const TransformerXlShape& shape);

  /// [B, T, D] → [B, T, D]; position t sees positions ≤ t. Dropout if `training`: also of the position encoding, drawn
  /// once for the stage.
  torch::Tensor forward(const torch::Tensor& hidden, const RelativePositions& positions, bool training) const;

  std::int64_t size() const { return static_cast<std::int64_t>(layers_.size()); }

 private:
  struct Affine {
    torch::Tensor weight, bias;
  };
  struct Layer {
    Affine qkv, r, out, attention_norm;  // [3D, D], [D, D], [D, D], [D]
    Affine inner, outer, norm;           // [F, D], [D, F], [D]
  };

  torch::Tensor attention(const Layer& layer, const torch::Tensor& hidden, const torch::Tensor& encoding,
                          const RelativePositions& positions, bool training) const;

  TransformerXlShape shape_;
  std::vector<Layer> layers_;
};

/// The parameters of an affine map, weight [out, in] ~ N(0, 0.02) and bias 0, declared as NAME.weight and NAME.bias.
void declare_affine(const DeclareParameter& declare, const std::string& name, std::int64_t out, std::int64_t in,
                    torch::Tensor& weight, torch::Tensor& bias);
/// The parameters of a layer norm: weight [width] ~ N(1, 0.02) and bias 0.
void declare_norm(const DeclareParameter& declare, const std::string& name, std::int64_t width, torch::Tensor& weight,
                  torch::Tensor& bias);

}  // namespace xlm
