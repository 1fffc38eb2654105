// Options of the adaptive attention span (Sukhbaatar et al. 2019), and of memories that expire (Sukhbaatar et al.
// 2021).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/api/model_options.h"

namespace xlm {

struct AdaptiveSpanOptions {
  static constexpr std::string_view kType = "adaptive-span";
  static constexpr TextScheme kScheme = TextScheme::kStreaming;
  static constexpr std::string_view kSummary =
      "sequential transformer whose heads learn how far back they look (characters; Sukhbaatar et al. 2019)";

  enum class SpanType { kFixed, kAdaptive, kDynamic, kExpire };
  static constexpr std::array<std::string_view, 4> kSpanTypeNames{"fixed", "adaptive", "dynamic", "expire"};

  std::int64_t width = 512;
  std::int64_t heads = 8;
  std::int64_t feed_forward = 2048;
  std::int64_t layers = 12;
  double dropout = 0.3;
  double attention_dropout = 0.3;
  std::int64_t span = 1024;
  SpanType span_type = SpanType::kAdaptive;
  double span_penalty = 2e-6;
  std::int64_t span_ramp = 32;
  std::vector<std::int64_t> windows{0};

  /// The span limit of a layer, counted from 0: its window, or `span`.
  std::int64_t span_of(std::size_t layer) const {
    const std::int64_t window = windows[layer % windows.size()];
    return window > 0 ? window : span;
  }

  void visit(OptionVisitor& v);

  /// The paper's settings besides the model (Sukhbaatar et al. 2019, §3).
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval);

  std::optional<OptionProblem> problem() const;

  static std::vector<AdaptiveSpanOptions> smallest();
};

}  // namespace xlm
