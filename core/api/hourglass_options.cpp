// Options of the hourglass.
#include "core/api/hourglass_options.h"

#include <numeric>

namespace xlm {

void BoundaryOptions::visit(OptionVisitor& v) {
  v.field({.name = "type",
           .help = "where groups end: none (vanilla), fixed (every factor-th token), whitespace (after each space), "
                   "or predicted: unigram (taught by a segmentation), entropy (by spikes of the model's own entropy), "
                   "gumbel (end to end)"},
          type, kTypeNames);
  v.field({.name = "factor", .help = "fixed: tokens of a group", .min = 1, .max = 1e7}, factor);
  v.field({.name = "prior",
           .help = "gumbel: α, the expected share of tokens that end a group",
           .min = 0,
           .max = 1,
           .open_min = true,
           .open_max = true,
           .of_learning = true},
          prior);
  v.field({.name = "temperature", .help = "gumbel: temperature of the relaxed samples", .min = 0, .open_min = true},
          temperature);
  v.field({.name = "window", .help = "entropy: k, the preceding tokens that a spike must exceed", .min = 1, .max = 1e6},
          window);
  v.field(
      {.name = "tokenizer",
       .help = "unigram: a segmentation of the data folder (unigram-5000), or the file of a SentencePiece model, whose "
               "pieces are the targets",
       .content = OptionContent::kTokenizer},
      tokenizer);
  v.field({.name = "loss",
           .help = "unigram, entropy: published (the sigmoid applied twice, as in the published program) or logits "
                   "(plain binary cross-entropy); gumbel: published (a binomial prior) or range (the prior is a limit, "
                   "and so is a smaller share; between them the loss is 0)"},
          loss, kLossNames);
  v.field({.name = "prior_sd",
           .help = "range: σ, the standard deviation of the share of tokens that end a group",
           .min = 0,
           .max = 1,
           .later = true,
           .of_learning = true},
          prior_sd);
  v.field({.name = "range",
           .help = "range: λ, the number of prior_sd from the prior down to the smallest free share; 0: 3",
           .min = 0,
           .max = 1e6,
           .later = true,
           .of_learning = true},
          range);
}

void HourglassOptions::visit(OptionVisitor& v) {
  v.field({.name = "width", .help = "model width D", .min = 2, .max = 65536}, width);
  v.field({.name = "heads", .help = "attention heads H of a layer", .min = 1, .max = 1024}, heads);
  v.field({.name = "feed_forward", .help = "units of the feed-forward layer", .min = 1, .max = 1 << 20}, feed_forward);
  v.field({.name = "layers",
           .help = "layers before, between and after pooling and up-sampling; one number: no pooling",
           .min = 0,
           .max = 1000},
          layers);
  dropout_field(v, "dropout", "dropout of embeddings, position encodings and what each layer adds", dropout);
  dropout_field(v, "attention_dropout", "dropout of attention weights", attention_dropout);
  v.field({.name = "pooling", .help = "a group's vector: the mean of its tokens', or its last token's (subsample)"},
          pooling, kPoolingNames);
  v.group("boundaries", "Where groups of tokens end.", boundaries);
}

void HourglassOptions::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdam,
               .lr = 2.5e-4,
               .warmup_steps = 4000,
               .schedule = OptimizerOptions::Schedule::kCosine,
               .clip_norm = 0.25};
  train.batch = 8;
  train.block = 2048;
  eval = {.batch = 16, .context = 2048, .stride = 512, .select = EvalOptions::Select::kLast};
}

std::optional<OptionProblem> HourglassOptions::problem() const {
  if (width % heads != 0) {
    return {{"heads", "model.width (" + std::to_string(width) + ") must be a multiple of model.heads (" +
                          std::to_string(heads) + ")"}};
  }
  if (width % 2 != 0) {
    return {{"width", "model.width (" + std::to_string(width) + ") must be even: half sines, half cosines"}};
  }
  if (layers.size() != 1 && layers.size() != 3) {
    return {{"layers", "model.layers must be one number, or three: [before, between, after]"}};
  }
  if (std::accumulate(layers.begin(), layers.end(), std::int64_t{0}) == 0) {
    return {{"layers", "model.layers sum to nothing: at least one layer is needed"}};
  }
  const bool none = boundaries.type == BoundaryOptions::Type::kNone;
  if (none && pools()) {
    return {{"layers", "model.boundaries.type 'none' has no boundaries to pool by: give model.layers as one number"}};
  }
  if (!none && !pools()) {
    return {{"layers",
             "model.layers has no stage to pool for: give three numbers such as [2, 8, 2], or "
             "model.boundaries.type=none"}};
  }
  if (boundaries.type == BoundaryOptions::Type::kGumbel && pooling == Pooling::kSubsample) {
    return {
        {"pooling",
         "model.pooling 'subsample' passes no gradient to the boundaries, from which model.boundaries.type 'gumbel' "
         "learns: use the mean, or another type"}};
  }
  if (boundaries.loss == BoundaryOptions::Loss::kRange) return problem_of_range();
  return std::nullopt;
}

std::optional<OptionProblem> HourglassOptions::problem_of_range() const {
  if (boundaries.type != BoundaryOptions::Type::kGumbel) {
    return {
        {"boundaries.loss",
         "model.boundaries.loss 'range' limits how many groups model.boundaries.type 'gumbel' makes: use that type, "
         "or another loss"}};
  }
  if (boundaries.prior_sd == 0) {
    return {{"boundaries.prior_sd",
             "model.boundaries.loss 'range' leaves no range if model.boundaries.prior_sd is 0\n"
             "set the standard deviation of the share of tokens that end a group, such as "
             "model.boundaries.prior_sd=0.02"}};
  }
  return std::nullopt;
}

std::optional<OptionProblem> HourglassOptions::problem_with(const TrainOptions& train) const {
  using Type = BoundaryOptions::Type;
  if (boundaries.type == Type::kFixed && boundaries.factor > train.block) {
    return {{"boundaries.factor",
             "model.boundaries.factor (" + std::to_string(boundaries.factor) +
                 ") is more than the tokens of a block (train.block=" + std::to_string(train.block) + ")"}};
  }
  if (boundaries.type == Type::kUnigram && boundaries.tokenizer.empty() && train.has_length()) {
    return {{"boundaries.tokenizer",
             "model.boundaries.type 'unigram' learns from a segmentation: give model.boundaries.tokenizer, a "
             "segmentation made by xlm prepare-data --train-unigram or a SentencePiece model's file"}};
  }
  if (boundaries.type == Type::kEntropy && train.block < 2) {
    return {{"boundaries.window",
             "model.boundaries.window compares a token with those before it in its block; "
             "train.block=1 has none"}};
  }
  return std::nullopt;
}

std::vector<HourglassOptions> HourglassOptions::smallest() {
  using Type = BoundaryOptions::Type;
  const HourglassOptions small{
      .width = 16, .heads = 2, .feed_forward = 32, .layers = {1, 1, 1}, .dropout = 0, .attention_dropout = 0};
  std::vector<HourglassOptions> all;
  for (const Type type :
       {Type::kNone, Type::kFixed, Type::kWhitespace, Type::kUnigram, Type::kEntropy, Type::kGumbel}) {
    all.push_back(small);
    all.back().boundaries.type = type;
    if (type == Type::kNone) all.back().layers = {2};
    if (type == Type::kUnigram) all.back().boundaries.tokenizer = "unigram-8";
  }
  all.push_back(small);
  all.back().pooling = Pooling::kSubsample;
  all.back().boundaries.type = Type::kFixed;  // gumbel cannot learn with it
  all.push_back(small);
  all.back().boundaries = {.type = Type::kEntropy, .loss = BoundaryOptions::Loss::kLogits};
  all.push_back(small);
  all.back().boundaries = {.type = Type::kGumbel, .loss = BoundaryOptions::Loss::kRange, .prior_sd = 0.05};
  return all;
}

ModelOptions hourglass_options() { return HourglassOptions{}; }

}  // namespace xlm
