// Options of GPT-2.
#include "core/api/gpt2_options.h"

#include <algorithm>

#include "base/error.h"

namespace xlm {

void RecurrenceOptions::visit(OptionVisitor& v) {
  v.field({.name = "pool",
           .help = "what a window hands to the next: none (plain GPT-2), or its hidden states pooled by their mean, "
                   "by their maximum, or by attention with one learnt key"},
          pool, kPoolNames);
  v.field({.name = "insert_layer",
           .help = "layer, counted from 1, whose attention sees it as one more key and value; 0: every layer",
           .min = 0,
           .max = 1000},
          insert_layer);
  v.field({.name = "hidden", .help = "units of the feed-forward's hidden layers", .min = 1, .max = 1 << 20}, hidden);
  v.field({.name = "embeddings", .help = "embeddings that are handed over", .min = 1, .max = 1024}, embeddings);
  v.field({.name = "pool_repeated",
           .help = "pool all positions of a window; false: without those that the next window repeats"},
          pool_repeated);
}

void Gpt2Options::visit(OptionVisitor& v) {
  v.field({.name = "pretrained",
           .help = "Hugging Face folder of a GPT-2: its config.json says the shape, and its weights, where it has "
                   "any, are what training starts from; empty: random weights",
           .content = OptionContent::kModelFolder},
          pretrained);
  v.field({.name = "width", .help = "model width k; 0: as pretrained, otherwise 768", .min = 0, .max = 65536}, width);
  v.field({.name = "heads",
           .help = "attention heads H of a layer; 0: as pretrained, otherwise one per 64 of the width",
           .min = 0,
           .max = 1024},
          heads);
  v.field({.name = "layers", .help = "layers L; 0: as pretrained, otherwise 12", .min = 0, .max = 1000}, layers);
  v.field({.name = "feed_forward",
           .help = "units of the feed-forward layer; 0: as pretrained, otherwise 4 times the width",
           .min = 0,
           .max = 1 << 20},
          feed_forward);
  v.field({.name = "positions",
           .help = "learnt positions, the longest window; 0: as pretrained, otherwise 1024",
           .min = 0,
           .max = 1e7},
          positions);
  v.field({.name = "tied", .help = "one matrix for embedding and output; a pretrained model says it itself"}, tied);
  v.field({.name = "norm_epsilon",
           .help = "added to the variance in layer norms; a pretrained model says it itself",
           .min = 0},
          norm_epsilon);
  v.field({.name = "dropout",
           .help = "dropout of embeddings and of what each layer adds",
           .min = 0,
           .max = 1,
           .open_max = true},
          dropout);
  v.field({.name = "attention_dropout", .help = "dropout of attention weights", .min = 0, .max = 1, .open_max = true},
          attention_dropout);
  v.field({.name = "window",
           .help = "T, tokens of a window; 0: 300, or the model's positions where those are fewer",
           .min = 0,
           .max = 1e7,
           .of_weights = false},
          window);
  v.field({.name = "overlap",
           .help = "O, tokens of a window that the next one repeats, 0 … T − 1",
           .min = 0,
           .max = 1e7,
           .of_weights = false},
          overlap);
  v.field({.name = "windows",
           .help = "windows of a training sequence, through which gradients flow; train.block says it in tokens",
           .min = 1,
           .max = 1e6},
          windows);
  v.group("recurrence", "What a window hands to the next.", recurrence);
}

void Gpt2Options::paper_defaults(OptimizerOptions& optimizer, TrainOptions& train, EvalOptions& eval) {
  optimizer = {.type = OptimizerOptions::Type::kAdam, .lr = 5e-5, .warmup_steps = 100};
  train.batch = 4;
  train.block = 0;
  eval = {.batch = 8, .select = EvalOptions::Select::kBest};
}

void Gpt2Options::complete() {
  const auto fill = [](std::int64_t& value, std::int64_t otherwise) {
    if (value == 0) value = otherwise;
  };
  fill(width, 768);
  fill(heads, std::max<std::int64_t>(1, width / 64));
  fill(layers, 12);
  fill(feed_forward, 4 * width);
  fill(positions, 1024);
  fill(window, std::min<std::int64_t>(300, positions));
}

void Gpt2Options::complete(TrainOptions& train) {
  complete();
  if (train.block == 0) train.block = window + (windows - 1) * (window - overlap);
}

std::optional<OptionProblem> Gpt2Options::problem() const {
  Gpt2Options whole = *this;
  whole.complete();
  const auto text = [](std::int64_t number) { return std::to_string(number); };
  if (whole.width % whole.heads != 0) {
    return {{"heads",
             "model.width (" + text(whole.width) + ") must be a multiple of model.heads (" + text(whole.heads) + ")"}};
  }
  if (whole.window > whole.positions) {
    return {{"window", "model.window (" + text(whole.window) + ") is more than the model's positions (" +
                           text(whole.positions) + ")"}};
  }
  if (whole.overlap >= whole.window) {
    return {{"overlap", "model.overlap (" + text(whole.overlap) + ") must be less than model.window (" +
                            text(whole.window) + ")"}};
  }
  if (whole.recurrent() && whole.recurrence.insert_layer > whole.layers) {
    return {{"recurrence.insert_layer", "model.recurrence.insert_layer (" + text(whole.recurrence.insert_layer) +
                                            ") is outside the model's layers 1 … " + text(whole.layers)}};
  }
  return std::nullopt;
}

std::optional<OptionProblem> Gpt2Options::problem_with(const TrainOptions& train) const {
  if (train.block <= kMostBlock) return std::nullopt;
  return {{"windows", "model.windows (" + std::to_string(windows) + ") of model.window (" + std::to_string(window) +
                          ") make a training sequence of " + std::to_string(train.block) + " tokens, more than the " +
                          std::to_string(kMostBlock) + " of train.block"}};
}

void Gpt2Options::adopt(const Json& config, const std::string& source) {
  const auto wrong = [&](const std::string& what) { return DataError(source + ": " + what); };
  if (!config.is_object()) throw wrong("not a map");
  const auto number = [&](const char* key, std::int64_t otherwise) {
    const auto found = config.find(key);
    if (found == config.end() || found->is_null()) return otherwise;
    if (!found->is_number_integer() || *found < 1 || *found > 100'000'000) {
      throw wrong("'" + std::string(key) + "' is " + found->dump() + ", not a size");
    }
    return found->get<std::int64_t>();
  };
  const auto must_be = [&](const char* key, const Json& expected) {
    const auto found = config.find(key);
    if (found != config.end() && *found != expected) {
      throw wrong("'" + std::string(key) + "' is " + found->dump() + "; only " + expected.dump() + " is built here");
    }
  };
  must_be("model_type", "gpt2");
  if (config.value("activation_function", Json("gelu_new")) != "gelu_pytorch_tanh")  // another name of the same
    must_be("activation_function", "gelu_new");
  must_be("scale_attn_weights", true);
  must_be("scale_attn_by_inverse_layer_idx", false);
  must_be("add_cross_attention", false);
  const auto take = [&](const char* option, std::int64_t& value, const char* key, std::int64_t otherwise) {
    const std::int64_t given = number(key, otherwise);
    if (value != 0 && value != given) {
      throw UsageError("model." + std::string(option) + " is " + std::to_string(value) + ", and " + source + " says " +
                       std::to_string(given) + "\nleave it out: the pretrained model says it");
    }
    value = given;
  };
  take("width", width, "n_embd", 768);
  take("heads", heads, "n_head", 12);
  take("layers", layers, "n_layer", 12);
  take("feed_forward", feed_forward, "n_inner", 4 * width);
  take("positions", positions, "n_positions", number("n_ctx", 1024));
  const Json tie = config.value("tie_word_embeddings", Json(true));
  const Json epsilon = config.value("layer_norm_epsilon", Json(1e-5));
  if (!tie.is_boolean()) throw wrong("'tie_word_embeddings' is " + tie.dump());
  if (!epsilon.is_number()) throw wrong("'layer_norm_epsilon' is " + epsilon.dump());
  tied = tie.get<bool>();
  norm_epsilon = epsilon.get<double>();
}

std::vector<Gpt2Options> Gpt2Options::smallest() {
  using Pool = RecurrenceOptions::Pool;
  const Gpt2Options small{
      .width = 16, .heads = 2, .layers = 2, .feed_forward = 32, .positions = 64, .dropout = 0, .attention_dropout = 0};
  std::vector<Gpt2Options> all;
  for (const Pool pool : {Pool::kNone, Pool::kMean, Pool::kMax, Pool::kAttention}) {
    all.push_back(small);
    all.back().recurrence.pool = pool;
    all.back().recurrence.hidden = {8};
  }
  all.push_back(small);
  all.back().tied = false;
  return all;
}

ModelOptions gpt2_options() { return Gpt2Options{}; }

}  // namespace xlm
