// What a window of a transformer keeps for the windows after it: keys and values of its tokens (Dai et al. 2019, §3.2),
// or memory tokens that it reads and writes (Bulatov et al. 2022, §3).
// experiments/recipes/recurrence/README.md#memories-of-windows says what they leave open.
//
// B batch, T tokens of a window, C kept tokens, m memory tokens, L layers, H heads, d head width, k width.
#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "core/nn/initial_weights.h"

namespace xlm {

/// Keys and values of tokens that a layer has read: [B, H, tokens, d]; undefined: of none.
struct KeysAndValues {
  torch::Tensor keys, values;
  torch::Tensor place = {};  // [1] int64: where the next token's belong among tokens that are not all read; undefined:
                             // behind them
};

/// The sizes of a model's layers, and how its windows lie.
struct WindowSizes {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t window = 0;
  std::int64_t overlap = 0;
};

/// Keys and values of earlier windows, which every query of a window sees. Their positions are those in their own
/// window. A state has the keys and the values of each layer, [B, H, C, d]: K_1, V_1, K_2, V_2, …
class WindowCache {
 public:
  WindowCache() = default;
  /// Keeps at most `windows` earlier windows, without the tokens that a window repeats. With `detach` no gradient flows
  /// into them.
  WindowCache(const WindowSizes& sizes, std::int64_t windows, bool detach)
      : sizes_(sizes), longest_(windows * (sizes.window - sizes.overlap)), detach_(detach) {}

  /// The state in front of a text, with C = 0.
  std::vector<torch::Tensor> initial(std::int64_t batch, const torch::TensorOptions& options) const;
  /// By layer, what a window begins with.
  static std::vector<KeysAndValues> read(const std::vector<torch::Tensor>& state);
  /// The state after a window. `layers` are the kept keys and values, and behind them those of its `length` tokens.
  std::vector<torch::Tensor> write(const std::vector<KeysAndValues>& layers, std::int64_t length) const;

  /// FLOPs of a window's attention to C = `windows` · (T − O) kept tokens, two per multiply-add.
  double flops_of_window() const;

 private:
  WindowSizes sizes_;
  std::int64_t longest_ = 0;
  bool detach_ = false;
};

/// Memory tokens: the same m vectors stand in front of a window and behind it, without positions. Those in front are
/// read by all tokens of the window; what the last layer makes of those behind is the next window's memory.
/// A state is [B, m, k], or [B, 0, k] in front of a text.
class MemoryTokens {
 public:
  MemoryTokens() = default;
  /// Declares the first window's memory, `memory.tokens` [m, k], drawn from N(0, deviation).
  MemoryTokens(const DeclareParameter& declare, const WindowSizes& sizes, std::int64_t count, double deviation,
               bool detach);

  std::int64_t count() const { return count_; }
  std::vector<torch::Tensor> initial(std::int64_t batch, const torch::TensorOptions& options) const;
  /// The memory of a window: [B, m, k].
  torch::Tensor read(const std::vector<torch::Tensor>& state) const;
  /// The state after a window, of its last m vectors behind the model's last norm: [B, m, k].
  std::vector<torch::Tensor> write(const torch::Tensor& behind) const;

  /// FLOPs of a window for its 2m vectors: the layers' matrices, which have `matrices` numbers, and attention.
  double flops_of_window(double matrices) const;

 private:
  WindowSizes sizes_;
  std::int64_t count_ = 0;
  bool detach_ = false;
  torch::Tensor first_;  // [m, k]
};

}  // namespace xlm
