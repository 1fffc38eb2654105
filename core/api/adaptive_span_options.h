// Options of the adaptive attention span (Sukhbaatar et al. 2019).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/api/options.h"

namespace xlm {

class LanguageModel;

struct AdaptiveSpanOptions {
  static constexpr std::string_view kType = "adaptive-span";
  static constexpr TextScheme kScheme = TextScheme::kStreaming;
  static constexpr std::string_view kSummary =
      "sequential transformer whose heads learn how far back they look (characters; Sukhbaatar et al. 2019)";

  enum class SpanType { kFixed, kAdaptive, kDynamic };
  static constexpr std::array<std::string_view, 3> kSpanTypeNames{"fixed", "adaptive", "dynamic"};

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

  void visit(OptionVisitor& v) {
    v.field({.name = "width", .help = "model width D", .min = 1, .max = 65536}, width);
    v.field({.name = "heads", .help = "attention heads H of a layer", .min = 1, .max = 1024}, heads);
    v.field({.name = "feed_forward", .help = "units of the feed-forward layer", .min = 1, .max = 1 << 20},
            feed_forward);
    v.field({.name = "layers", .help = "transformer layers", .min = 1, .max = 1000}, layers);
    v.field({.name = "dropout", .help = "dropout after the feed-forward's ReLU", .min = 0, .max = 1, .open_max = true},
            dropout);
    v.field({.name = "attention_dropout", .help = "dropout of attention weights", .min = 0, .max = 1, .open_max = true},
            attention_dropout);
    v.field({.name = "span", .help = "span limit S: the farthest distance a head can look back", .min = 1, .max = 1e6},
            span);
    v.field({.name = "span_type",
             .help = "fixed (always S), adaptive (learnt per head), dynamic (a function of the input)"},
            span_type, kSpanTypeNames);
    v.field({.name = "span_penalty", .help = "λ, the price of a unit of span in the loss", .min = 0}, span_penalty);
    v.field({.name = "span_ramp", .help = "R, the length of the soft mask's ramp", .min = 1, .max = 1e6}, span_ramp);
  }

  /// What the paper fixes beside the model (Sukhbaatar et al. 2019, §3).
  static void paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
    optimizer = {.type = OptimizerOptions::Type::kAdagrad, .lr = 0.07, .warmup_steps = 32000, .clip_step = 0.03};
    train.batch = 64;
    train.block = 512;
    eval = {.batch = 8, .select = EvalOptions::Select::kLast};
  }

  /// What is wrong with the options together, as {key, message}.
  std::optional<std::pair<std::string, std::string>> problem() const {
    if (width % heads != 0) {
      return {{"heads", "model.width (" + std::to_string(width) + ") must be a multiple of model.heads (" +
                            std::to_string(heads) + ")"}};
    }
    return std::nullopt;
  }

  /// A model with random weights (core/models/adaptive_span.cpp); only inside core.
  std::shared_ptr<LanguageModel> make(std::int64_t symbols) const;
};

}  // namespace xlm
