// Options of a transformer whose attention decays with distance.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/api/model_options.h"

namespace xlm {

struct DecayingAttentionOptions {
  static constexpr std::string_view kType = "decaying-attention";
  static constexpr TextScheme kScheme = TextScheme::kRotatedChunks;
  static constexpr std::string_view kSummary =
      "transformer without positions, whose attention halves every so many tokens, each head at its own rate";

  enum class Decay { kFixed, kLearnt };
  static constexpr std::array<std::string_view, 2> kDecayNames{"fixed", "learnt"};

  std::int64_t width = 256;
  std::int64_t heads = 4;
  std::int64_t feed_forward = 1024;
  std::int64_t layers = 4;
  double dropout = 0.1;
  double reach = 64;
  Decay decay = Decay::kLearnt;

  void visit(OptionVisitor& v);
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);
  std::optional<OptionProblem> problem() const;
  static std::vector<DecayingAttentionOptions> smallest();

  /// Tokens over which the attention of head 0 … H − 1 halves: a geometric series that ends at `reach`.
  double half_distance(std::int64_t head) const;
};

}  // namespace xlm
