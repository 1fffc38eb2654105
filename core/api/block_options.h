// Options of the blocks of a modern transformer, for every model that is made of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"

namespace xlm {

struct BlockOptions {
  enum class Norm { kRms, kLayer };
  static constexpr std::array<std::string_view, 2> kNormNames{"rms", "layer"};
  /// The pairs of numbers of queries and keys that turn with the position: (2i, 2i + 1), or (i, i + d/2) as Llama has.
  enum class Rotary { kNeighbours, kHalves, kNone };
  static constexpr std::array<std::string_view, 3> kRotaryNames{"neighbours", "halves", "none"};
  enum class Activation { kSwiglu, kGelu, kRelu, kRelu2 };
  static constexpr std::array<std::string_view, 4> kActivationNames{"swiglu", "gelu", "relu", "relu2"};
  enum class Weights { kGpt, kSimple };
  static constexpr std::array<std::string_view, 2> kWeightsNames{"gpt", "simple"};

  static constexpr double kNormEpsilon = 1e-5;  // as most models have it

  Norm norm = Norm::kRms;
  bool qk_norm = false;
  std::int64_t head_width = 64;
  std::int64_t key_value_heads = 0;
  std::vector<std::int64_t> windows{0};
  Rotary rotary = Rotary::kNeighbours;
  double rope_theta = 10'000;
  Activation activation = Activation::kSwiglu;
  Weights weights = Weights::kGpt;
  double dropout = 0;
  double norm_epsilon = 0;

  void visit(OptionVisitor& v);

  /// The window of a layer, counted from 0; 0: none.
  std::int64_t window_of(std::int64_t layer) const { return windows[static_cast<std::size_t>(layer) % windows.size()]; }
  /// The default width of a feed-forward: 4·width, of swiglu 8/3·width in whole 64s.
  std::int64_t default_feed_forward(std::int64_t width) const;
  /// ε of norms.
  double epsilon() const { return norm_epsilon > 0 ? norm_epsilon : kNormEpsilon; }
  /// What is wrong with blocks of this width, as {key, message}.
  std::optional<std::pair<std::string, std::string>> problem_at(std::int64_t width) const;
};

}  // namespace xlm
