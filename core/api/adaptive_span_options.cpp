// Options of the adaptive attention span.
#include "core/api/adaptive_span_options.h"

#include <algorithm>

namespace xlm {

void AdaptiveSpanOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width D", .min = 1, .max = 65536}, width);
  v.field({.name = "heads", .help = "attention heads H of a layer", .min = 1, .max = 1024}, heads);
  v.field({.name = "feed_forward", .help = "units of the feed-forward layer", .min = 1, .max = 1 << 20}, feed_forward);
  v.field({.name = "layers", .help = "transformer layers", .min = 1, .max = 1000}, layers);
  dropout_field(v, "dropout", "dropout after the feed-forward's ReLU", dropout);
  dropout_field(v, "attention_dropout", "dropout of attention weights", attention_dropout);
  v.field({.name = "span", .help = "span limit S: the largest distance a head can look back", .min = 1, .max = 1e6},
          span);
  v.field(
      {.name = "span_type",
       .help = "fixed (always S), adaptive (learnt per head), dynamic (a function of the input), expire (each memory "
               "says how long it is kept)"},
      span_type, kSpanTypeNames);
  v.field({.name = "span_penalty", .help = "λ, the price of a unit of span in the loss", .min = 0, .of_learning = true},
          span_penalty);
  v.field({.name = "span_ramp", .help = "R, the length of the soft mask's ramp", .min = 1, .max = 1e6}, span_ramp);
  v.field({.name = "windows",
           .help = "fixed spans by layer, repeated over the layers; the longest is the span limit; 0: the span limit",
           .min = 0,
           .max = 1e6,
           .later = true},
          windows);
}

void AdaptiveSpanOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdagrad, .lr = 0.07, .warmup_steps = 32000, .clip_step = 0.03};
  train.batch = 64;
  train.block = 512;
  eval = {.batch = 8, .select = EvalOptions::Select::kLast};
}

std::optional<OptionProblem> AdaptiveSpanOptions::problem() const {
  if (width % heads != 0) {
    return {{"heads", "model.width (" + std::to_string(width) + ") must be a multiple of model.heads (" +
                          std::to_string(heads) + ")"}};
  }
  if (windows.empty()) return {{"windows", "model.windows is empty; 0 is a layer that sees the span limit"}};
  const bool windowed = std::ranges::any_of(windows, [](std::int64_t window) { return window > 0; });
  if (windowed && span_type != SpanType::kFixed) {
    return {{"windows", "model.windows are the spans of model.span_type=fixed: a learnt span has none"}};
  }
  std::int64_t longest = 0;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    longest = std::max(longest, span_of(static_cast<std::size_t>(layer)));
  }
  if (longest != span) {  // the table of positions has a column for each distance up to the limit
    const std::string text = std::to_string(longest);
    return {{"windows", "the longest window of a layer (" + text + ") must be model.span (" + std::to_string(span) +
                            ")\nset model.span=" + text}};
  }
  return std::nullopt;
}

std::vector<AdaptiveSpanOptions> AdaptiveSpanOptions::smallest() {
  std::vector<AdaptiveSpanOptions> all;
  for (const SpanType type : {SpanType::kFixed, SpanType::kAdaptive, SpanType::kDynamic}) {
    all.push_back({.width = 16,
                   .heads = 2,
                   .feed_forward = 32,
                   .layers = 2,
                   .dropout = 0,
                   .attention_dropout = 0,
                   .span = 20,
                   .span_type = type,
                   .span_ramp = 4});
  }
  AdaptiveSpanOptions windowed = all.front();
  windowed.windows = {5, 0};
  all.push_back(windowed);
  AdaptiveSpanOptions expiring = all.front();
  expiring.span_type = SpanType::kExpire;
  all.push_back(expiring);
  return all;
}

ModelOptions adaptive_span_options() { return AdaptiveSpanOptions{}; }

}  // namespace xlm
