// Options of the model whose middle blocks work on patches of bytes.
#include "core/api/byte_patches_options.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/options.h"

namespace xlm {

void PatchBoundaryOptions::visit(OptionVisitor& v) {
  v.field({.name = "type",
           .help = "at which bytes global blocks stand: spacelike (the first of neighbouring bytes that are no letter, "
                   "digit or UTF-8 continuation), fixed (every factor-th), whitespace (every space), unigram (ends of "
                   "a tokenizer's pieces, predicted), router (where neighbours differ, learnt end to end), entropy "
                   "(where a small model, trained before, is unsure)"},
          type, kTypeNames);
  v.field({.name = "factor",
           .help = "fixed: P, bytes of a patch; router: N, the mean that its ratio loss wants; entropy: the mean on "
                   "validation that its threshold is chosen for",
           .min = 1,
           .max = 1e7},
          factor);
  v.field(
      {.name = "tokenizer",
       .help = "unigram: a segmentation of the data folder (unigram-5000), or the file of a SentencePiece model, whose "
               "pieces are the targets",
       .content = OptionContent::kTokenizer},
      tokenizer);
  v.field({.name = "loss_weight",
           .help = "router: weight of the ratio loss; 0: 0.03",
           .min = 0,
           .max = 1e6,
           .later = true,
           .of_learning = true},
          loss_weight);
  v.field(
      {.name = "model",
       .help = "entropy: run id, run folder or model folder of the small model, whose weights are taken in and stay "
               "as they are; model.type transformer with this model's options of blocks and positions, and "
               "model.windows=local_window",
       .content = OptionContent::kInnerModel},
      model);
  v.field({.name = "width",
           .help = "entropy: width of the small model; 0: local_width",
           .min = 0,
           .max = 65536,
           .later = true},
          width);
  v.field({.name = "layers",
           .help = "entropy: layers of the small model; 0: local_layers",
           .min = 0,
           .max = 1000,
           .later = true},
          layers);
  v.field(
      {.name = "rule",
       .help = "entropy: a patch begins where the entropy of the byte's prediction exceeds a threshold (global), or "
               "that of the byte before by one (monotone)",
       .later = true},
      rule, kRuleNames);
}

/// Patches of a router, and of entropies, vary in number: a third more than are wanted.
std::int64_t PatchBoundaryOptions::usual_places(std::int64_t positions) const {
  if (type == Type::kFixed) return (positions + factor - 1) / factor;
  const bool varies = type == Type::kRouter || type == Type::kEntropy;
  return std::max<std::int64_t>(1, varies ? 4 * positions / (3 * factor) : positions / 6);
}

void BytePatchesOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "width D of global blocks", .min = 1, .max = 65536}, width);
  v.field({.name = "layers", .help = "global blocks, which work on patches", .min = 1, .max = 1000}, layers);
  v.field({.name = "feed_forward",
           .help = "units of a global feed-forward; 0: 4 times the width, of swiglu 8/3 times it in whole 64s",
           .min = 0,
           .max = 1 << 20},
          feed_forward);
  v.field({.name = "local_width",
           .help = "width d of local blocks and embeddings; 0: half of width",
           .min = 0,
           .max = 65536},
          local_width);
  v.field({.name = "local_layers",
           .help = "local blocks, which work on bytes: half of them, rounded down, before the global ones, the others "
                   "behind; 0: as many as layers",
           .min = 0,
           .max = 1000},
          local_layers);
  v.field({.name = "local_feed_forward",
           .help = "units of a local feed-forward; 0: 4 times local_width, of swiglu 8/3 times it in whole 64s",
           .min = 0,
           .max = 1 << 20},
          local_feed_forward);
  v.field({.name = "local_window",
           .help = "bytes that a byte sees in a local block, itself included; 0: as many as local_width",
           .min = 0,
           .max = 1e7},
          local_window);
  v.field({.name = "learnt_positions", .help = "learnt positions are added to bytes and to patches"}, learnt_positions);
  v.field({.name = "positions",
           .help = "T, learnt positions of bytes: the longest window; 0: train.block",
           .min = 0,
           .max = 1e7},
          positions);
  v.field(
      {.name = "places",
       .help = "T_G, most patches of a window; behind them nothing is scored; 0: a sixth of positions; of router and "
               "entropy a third more than factor asks for, and as many as fixed boundaries need",
       .min = 0,
       .max = 1e7},
      places);
  v.field({.name = "local_rate",
           .help = "what the learning rate is multiplied by for all that works on bytes: local blocks, embeddings, "
                   "boundaries and output; 0: 1",
           .min = 0,
           .max = 1e6,
           .later = true,
           .of_learning = true},
          local_rate);
  v.group("boundaries", "Where patches begin.", boundaries);
  block.visit(v);
}

void BytePatchesOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdamW,
               .lr = 0.04,
               .schedule = OptimizerOptions::Schedule::kHalfCosine,
               .clip_norm = 1,
               .beta2 = 0.98,
               .weight_decay = 0.01,
               .warmup_ratio = 0.01};
  train.batch = 64;
  train.block = 6144;
  eval = {.batch = 8, .context = 6144, .stride = 6144};
}

void BytePatchesOptions::complete(TrainOptions& train) {
  const auto or_derived = [](std::int64_t& option, std::int64_t derived) {
    if (option == 0) option = derived;
  };
  or_derived(local_width, std::max<std::int64_t>(1, width / 2));
  or_derived(local_layers, layers);
  or_derived(feed_forward, block.default_feed_forward(width));
  or_derived(local_feed_forward, block.default_feed_forward(local_width));
  or_derived(local_window, local_width);
  or_derived(positions, train.block);
  or_derived(places, boundaries.usual_places(positions));
  if (boundaries.type != PatchBoundaryOptions::Type::kEntropy) return;
  or_derived(boundaries.width, local_width);
  or_derived(boundaries.layers, local_layers);
}

std::optional<OptionProblem> BytePatchesOptions::problem() const {
  if (auto wrong = block.problem_at(width)) return wrong;
  const std::int64_t local = local_width > 0 ? local_width : width / 2;
  if (local > width) {
    return {{"local_width", "model.local_width (" + std::to_string(local) + ") is more than model.width (" +
                                std::to_string(width) + "): patches are at least as wide as bytes"}};
  }
  if (local == 0 || local % block.head_width != 0) {
    return {{"local_width", "model.local_width (" + std::to_string(local) +
                                ") must be a multiple of model.head_width (" + std::to_string(block.head_width) + ")"}};
  }
  if (block.key_value_heads > 0 && local / block.head_width % block.key_value_heads != 0) {
    return {{"key_value_heads", "the " + std::to_string(local / block.head_width) +
                                    " heads of a local block must be a multiple of model.key_value_heads (" +
                                    std::to_string(block.key_value_heads) + ")"}};
  }
  return problem_of_boundaries();
}

std::optional<OptionProblem> BytePatchesOptions::problem_of_boundaries() const {
  using Type = PatchBoundaryOptions::Type;
  const bool chooses = boundaries.type == Type::kRouter || boundaries.type == Type::kEntropy;
  if (chooses && boundaries.factor < 2) {
    return {{"boundaries.factor",
             "model.boundaries.factor is 1, and with patches of one byte there is nothing to choose\n"
             "want two bytes or more, or use model.boundaries.type=fixed"}};
  }
  if (boundaries.type == Type::kEntropy && boundaries.width > 0) {
    if (const auto wrong = block.problem_at(boundaries.width)) {
      return {{"boundaries.width", "the small model of model.boundaries: " + wrong->second}};
    }
  }
  return std::nullopt;
}

std::optional<OptionProblem> BytePatchesOptions::problem_with(const TrainOptions& train) const {
  const bool taught = boundaries.type == PatchBoundaryOptions::Type::kUnigram;
  if (taught && boundaries.tokenizer.empty() && train.has_length()) {
    return {{"boundaries.tokenizer",
             "model.boundaries.type 'unigram' learns from a segmentation: give model.boundaries.tokenizer, a "
             "segmentation made by xlm prepare-data --train-unigram or a SentencePiece model's file"}};
  }
  const bool asks = boundaries.type == PatchBoundaryOptions::Type::kEntropy;
  if (asks && boundaries.model.empty() && train.has_length()) {
    return {{"boundaries.model",
             "model.boundaries.type 'entropy' asks a small model that was trained before: give model.boundaries.model, "
             "a run of model.type=transformer"}};
  }
  return too_few_positions(learnt_positions ? positions : 0, "bytes", train);
}

std::optional<OptionProblem> BytePatchesOptions::problem_with(const EvalOptions& eval) const {
  return too_few_positions(learnt_positions ? positions : 0, "bytes", eval);
}

std::optional<std::string> BytePatchesOptions::difference_of_inner(TransformerOptions inner) const {
  BlockOptions wanted = block;
  BlockOptions& given = inner.block;
  wanted.windows = {local_window};
  bool has_window = !given.windows.empty();
  for (std::int64_t i = 0; has_window && i < boundaries.layers; ++i) has_window = given.window_of(i) == local_window;
  if (has_window) given.windows = wanted.windows;
  for (BlockOptions* options : {&wanted, &given}) {
    if (options->key_value_heads == 0) options->key_value_heads = boundaries.width / options->head_width;
  }
  // No prediction depends on these.
  wanted.weights = given.weights;
  wanted.dropout = given.dropout;
  if (wanted.rotary == BlockOptions::Rotary::kNone) wanted.rope_theta = given.rope_theta;
  OptionLister of_wanted;
  wanted.visit(of_wanted);
  OptionLister of_given;
  given.visit(of_given);
  const auto text = [](const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
  for (std::size_t i = 0; i < of_wanted.entries().size(); ++i) {
    const OptionEntry& want = of_wanted.entries()[i];
    const Json& is = of_given.entries()[i].value;
    if (is != want.value) return "model." + want.key + " is " + text(is) + ", and must be " + text(want.value);
  }
  return std::nullopt;
}

std::vector<BytePatchesOptions> BytePatchesOptions::smallest() {
  using Type = PatchBoundaryOptions::Type;
  BytePatchesOptions small{.width = 16, .layers = 1, .local_width = 8, .local_layers = 2, .local_window = 6};
  small.positions = 32;
  small.places = 32;  // as many as a row can need
  small.boundaries.factor = 3;
  small.block.head_width = 4;
  std::vector<BytePatchesOptions> all{small};
  BytePatchesOptions other = small;
  other.boundaries.type = Type::kFixed;
  other.learnt_positions = false;
  other.block.norm = BlockOptions::Norm::kRms;
  other.block.rotary = BlockOptions::Rotary::kNeighbours;
  other.block.activation = BlockOptions::Activation::kSwiglu;
  other.block.weights = BlockOptions::Weights::kGpt;
  all.push_back(other);
  other.boundaries.type = Type::kWhitespace;
  other.block.rotary = BlockOptions::Rotary::kHalves;
  other.block.key_value_heads = 1;
  other.block.activation = BlockOptions::Activation::kGelu;
  all.push_back(other);
  other = small;
  other.boundaries.type = Type::kUnigram;
  other.boundaries.tokenizer = "unigram-8";
  all.push_back(other);
  other.boundaries = {.type = Type::kRouter, .factor = 2};
  all.push_back(other);
  other.boundaries = {.type = Type::kEntropy, .factor = 2, .width = 8, .layers = 1};
  all.push_back(other);
  other.boundaries.rule = PatchBoundaryOptions::Rule::kMonotone;
  all.push_back(other);
  other = small;
  other.local_layers = 1;  // none before the global blocks
  other.block.activation = BlockOptions::Activation::kRelu2;
  other.block.windows = {3};
  all.push_back(other);
  return all;
}

ModelOptions byte_patches_options() { return BytePatchesOptions{}; }

}  // namespace xlm
