// Options of a transformer whose attention decays with distance.
#include "core/api/decaying_attention_options.h"

#include <cmath>

namespace xlm {

void DecayingAttentionOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width D", .min = 1, .max = 65536}, width);
  v.field({.name = "heads", .help = "attention heads H of a layer", .min = 1, .max = 1024}, heads);
  v.field({.name = "feed_forward", .help = "units of the feed-forward layer", .min = 1, .max = 1 << 20}, feed_forward);
  v.field({.name = "layers", .help = "transformer layers", .min = 1, .max = 1000}, layers);
  v.field({.name = "dropout", .help = "dropout of what each layer adds", .min = 0, .max = 1, .open_max = true},
          dropout);
  v.field({.name = "reach",
           .help = "tokens over which attention halves, for the head that looks furthest back",
           .min = 1,
           .max = 1e6},
          reach);
  v.field({.name = "decay", .help = "fixed by reach, or learnt from that beginning for every head of every layer"},
          decay, kDecayNames);
}

void DecayingAttentionOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdam, .lr = 5e-4, .warmup_steps = 1000, .clip_norm = 1};
  train.batch = 16;
  train.block = 512;
  eval = {.batch = 16, .context = 512, .stride = 256};
}

std::optional<OptionProblem> DecayingAttentionOptions::problem() const {
  if (width % heads == 0) return std::nullopt;
  return {{"heads", "model.width (" + std::to_string(width) + ") must be a multiple of model.heads (" +
                        std::to_string(heads) + ")"}};
}

std::vector<DecayingAttentionOptions> DecayingAttentionOptions::smallest() {
  std::vector<DecayingAttentionOptions> all;
  for (const Decay decay : {Decay::kFixed, Decay::kLearnt}) {
    all.push_back({.width = 16, .heads = 2, .feed_forward = 32, .layers = 2, .dropout = 0, .reach = 8, .decay = decay});
  }
  return all;
}

double DecayingAttentionOptions::half_distance(std::int64_t head) const {
  return std::pow(reach, static_cast<double>(head + 1) / static_cast<double>(heads));
}

ModelOptions decaying_attention_options() { return DecayingAttentionOptions{}; }

}  // namespace xlm
