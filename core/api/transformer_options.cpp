// Options of the plain transformer.
#include "core/api/transformer_options.h"

#include <string>

namespace xlm {

void TransformerOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width k", .min = 1, .max = 65536}, width);
  v.field({.name = "layers", .help = "layers L", .min = 1, .max = 1000}, layers);
  v.field({.name = "feed_forward",
           .help = "units of the feed-forward; 0: 4 times the width, of swiglu 8/3 times it in whole 64s",
           .min = 0,
           .max = 1 << 20},
          feed_forward);
  v.field({.name = "positions",
           .help = "learnt positions, added to the embeddings: the longest window; 0: none",
           .min = 0,
           .max = 1e7},
          positions);
  v.field({.name = "tied", .help = "one matrix for embedding and output"}, tied);
  block.visit(v);
}

void TransformerOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdamW,
               .lr = 1e-3,
               .schedule = OptimizerOptions::Schedule::kCosine,
               .clip_norm = 1,
               .beta2 = 0.95,
               .weight_decay = 0.1,
               .decay = OptimizerOptions::Decay::kMatrices,
               .warmup_ratio = 0.01,
               .min_lr_ratio = 0.1};
  train.batch = 64;
  train.block = 1024;
  eval = {.batch = 8, .context = 1024, .stride = 1024};
}

void TransformerOptions::complete(TrainOptions& /*train*/) {
  if (feed_forward == 0) feed_forward = block.default_feed_forward(width);
}

std::optional<OptionProblem> TransformerOptions::problem_with(const TrainOptions& train) const {
  if (positions == 0 || train.block <= positions) return std::nullopt;
  return {{"positions", "model.positions (" + std::to_string(positions) + ") are fewer than the tokens of a window " +
                            "(train.block=" + std::to_string(train.block) + ")"}};
}

std::optional<OptionProblem> TransformerOptions::problem_with(const EvalOptions& eval) const {
  if (positions == 0 || eval.context <= positions) return std::nullopt;
  return {{"positions", "model.positions (" + std::to_string(positions) +
                            ") are fewer than the tokens of a window in evaluations (eval.context=" +
                            std::to_string(eval.context) + ")\ngive eval.context and eval.stride, or more positions"}};
}

std::vector<TransformerOptions> TransformerOptions::smallest() {
  TransformerOptions small{.width = 16, .layers = 2, .positions = 0};
  small.block.head_width = 8;
  std::vector<TransformerOptions> all{small};
  TransformerOptions other = small;
  other.positions = 64;
  other.tied = true;
  other.block.norm = BlockOptions::Norm::kLayer;
  other.block.qk_norm = true;
  other.block.weights = BlockOptions::Weights::kSimple;
  other.block.activation = BlockOptions::Activation::kRelu;
  other.block.windows = {6, 0};
  all.push_back(other);
  other = small;
  other.block.rotary = BlockOptions::Rotary::kHalves;
  other.block.key_value_heads = 1;
  other.block.activation = BlockOptions::Activation::kGelu;
  all.push_back(other);
  other.block.rotary = BlockOptions::Rotary::kNone;
  other.block.activation = BlockOptions::Activation::kRelu2;
  other.block.windows = {5};
  all.push_back(other);
  return all;
}

ModelOptions transformer_options() { return TransformerOptions{}; }

}  // namespace xlm
