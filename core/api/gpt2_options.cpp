// Options of GPT-2.
#include "core/api/gpt2_options.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

namespace {

/// A config.json of Hugging Face. Its values must be supported here.
class HuggingFaceConfig {
 public:
  HuggingFaceConfig(const Json& config, const std::string& source) : config_(config), source_(source) {
    if (!config.is_object()) throw wrong("not a map");
  }

  /// Null if the key is missing.
  Json value(const std::string& key) const { return config_.value(key, Json()); }

  void must_be(const std::string& key, const Json& expected) const {
    if (!config_.contains(key) || value(key) == expected) return;
    throw wrong("'" + key + "' is " + value(key).dump() + "; only " + expected.dump() + " is supported");
  }
  void must_lack(const std::string& key) const {
    if (value(key).empty()) return;
    throw wrong("it has '" + key + "', and such models are not supported");
  }

  /// A size by either of its names; `other_key` "": it has only one.
  std::int64_t number(const std::string& key, const std::string& other_key, std::int64_t otherwise) const {
    const Json first = value(key);
    const Json second = value(other_key);
    if (!first.is_null() && !second.is_null() && first != second) {
      throw wrong("'" + key + "' is " + first.dump() + " and '" + other_key + "' is " + second.dump() +
                  ", which are two names of one size");
    }
    const Json& given = first.is_null() ? second : first;
    if (given.is_null()) return otherwise;
    if (!given.is_number_integer() || given < 1 || given > 100'000'000) {
      throw wrong("'" + (first.is_null() ? other_key : key) + "' is " + given.dump() + ", not a size");
    }
    return given.get<std::int64_t>();
  }
  bool flag(const std::string& key, bool otherwise) const {
    const Json given = config_.value(key, Json(otherwise));
    if (!given.is_boolean()) throw wrong("'" + key + "' is " + given.dump());
    return given.get<bool>();
  }
  double real(const std::string& key, double otherwise) const {
    const Json given = config_.value(key, Json(otherwise));
    if (!given.is_number() || given < 0) throw wrong("'" + key + "' is " + given.dump());
    return given.get<double>();
  }

  DataError wrong(const std::string& what) const { return DataError(source_ + ": " + what); }

 private:
  const Json& config_;
  const std::string& source_;
};

Gpt2Options::Activation activation_of(const HuggingFaceConfig& config) {
  using Activation = Gpt2Options::Activation;
  // Several names of one function, which differ in how it is computed.
  static constexpr std::array<std::pair<std::string_view, Activation>, 10> kNames{
      {{"gelu_new", Activation::kGeluNew},
       {"gelu_fast", Activation::kGeluNew},
       {"gelu_pytorch_tanh", Activation::kGeluNew},
       {"gelu_python_tanh", Activation::kGeluNew},
       {"gelu_accurate", Activation::kGeluNew},
       {"gelu", Activation::kGelu},
       {"gelu_python", Activation::kGelu},
       {"relu", Activation::kRelu},
       {"silu", Activation::kSilu},
       {"swish", Activation::kSilu}}};
  const Json given = config.value("activation_function");
  if (given.is_null()) return Activation::kGeluNew;
  const auto* const known = std::ranges::find_if(kNames, [&](const auto& each) { return given == each.first; });
  if (known == kNames.end()) {
    throw config.wrong("'activation_function' is " + given.dump() + "; supported are gelu_new, gelu, relu and silu");
  }
  return known->second;
}

}  // namespace

void RecurrenceOptions::visit(OptionVisitor& v) {
  v.field(
      {.name = "pool",
       .help =
           "what a window passes to the next: nothing (none: plain GPT-2), or its hidden states pooled by their mean, "
           "by their maximum, or by attention with one learnt key"},
      pool, kPoolNames);
  v.field({.name = "insert_layer",
           .help = "layer, counted from 1, whose attention gets it as one more key and value; 0: every layer",
           .min = 0,
           .max = 1000},
          insert_layer);
  v.field({.name = "hidden", .help = "units of the feed-forward's hidden layers", .min = 1, .max = 1 << 20}, hidden);
  v.field({.name = "embeddings", .help = "number of embeddings passed on", .min = 1, .max = 1024}, embeddings);
  v.field({.name = "pool_repeated",
           .help = "pool all positions of a window; false: without those that the next window repeats"},
          pool_repeated);
}

void WindowMemoryOptions::visit(OptionVisitor& v) {
  v.field({.name = "memory",
           .help = "what a window keeps for the next ones, instead of recurrence.pool: nothing, keys and values of its "
                   "tokens (cache), or memory tokens that it reads and writes (tokens)",
           .later = true},
          type, kTypeNames);
  v.field({.name = "memory_windows",
           .help = "cache: earlier windows whose keys and values are kept; 0: 1",
           .min = 0,
           .max = 1e6,
           .later = true},
          windows);
  v.field({.name = "memory_tokens",
           .help = "tokens: memory tokens in front of a window, and as many behind it; 0: 10",
           .min = 0,
           .max = 1e5,
           .later = true},
          tokens);
  v.field({.name = "memory_detach",
           .help = "no gradient flows through what is kept into earlier windows, as in Transformer-XL",
           .later = true,
           .of_learning = true},
          detach);
}

void WindowMemoryOptions::complete() {
  if (caches() && windows == 0) windows = 1;
  if (has_tokens() && tokens == 0) tokens = 10;
}

void Gpt2Options::visit(OptionVisitor& v) {
  v.field({.name = "pretrained",
           .help = "Hugging Face folder of a GPT-2: its config.json gives the shape; training starts from its weights, "
                   "if it has "
                   "any; empty: random weights",
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
  v.field({.name = "tied", .help = "one matrix for embedding and output; given by a pretrained model"}, tied);
  v.field(
      {.name = "norm_epsilon", .help = "added to the variance in layer norms; given by a pretrained model", .min = 0},
      norm_epsilon);
  v.field({.name = "activation",
           .help = "activation between the feed-forward's two matrices; given by a pretrained model",
           .later = true},
          activation, kActivationNames);
  v.field({.name = "attention_scale",
           .help = "divisor of the products of queries and keys: the root of a head's width, that times the "
                   "layer's number, none, or that number; given by a pretrained model",
           .later = true},
          attention_scale, kAttentionScaleNames);
  dropout_field(v, "dropout", "dropout of embeddings and of what each layer adds", dropout);
  dropout_field(v, "attention_dropout", "dropout of attention weights", attention_dropout);
  v.field({.name = "window",
           .help = "T, tokens of a window; 0: 300, or the model's positions if those are fewer",
           .min = 0,
           .max = 1e7,
           .of_weights = false},
          window);
  v.field({.name = "overlap",
           .help = "O, tokens that a window shares with the next one, 0 … T − 1",
           .min = 0,
           .max = 1e7,
           .of_weights = false},
          overlap);
  v.field({.name = "windows",
           .help = "windows of a training sequence, through which gradients flow; train.block sets it in tokens",
           .min = 1,
           .max = 1e6},
          windows);
  memory.visit(v);
  v.group("recurrence", "What a window passes to the next.", recurrence);
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
  memory.complete();
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
  if (whole.pools() && whole.memory.type != WindowMemoryOptions::Type::kNone) {
    return {{"memory",
             "model.memory and model.recurrence.pool are two ways to pass something to the next window\n"
             "set one of them to none"}};
  }
  if (whole.pools() && whole.recurrence.insert_layer > whole.layers) {
    return {{"recurrence.insert_layer", "model.recurrence.insert_layer (" + text(whole.recurrence.insert_layer) +
                                            ") is outside the model's layers 1 … " + text(whole.layers)}};
  }
  return std::nullopt;
}

std::optional<OptionProblem> Gpt2Options::problem_with(const TrainOptions& train) const {
  if (train.block <= kMaxBlock) return std::nullopt;
  return {{"windows", "model.windows (" + std::to_string(windows) + ") of model.window (" + std::to_string(window) +
                          ") make a training sequence of " + std::to_string(train.block) + " tokens, more than the " +
                          std::to_string(kMaxBlock) + " of train.block"}};
}

void Gpt2Options::adopt(const Json& config, const std::string& source) {
  const HuggingFaceConfig shape(config, source);
  shape.must_be("model_type", "gpt2");
  shape.must_be("add_cross_attention", false);
  shape.must_be("is_encoder_decoder", false);
  shape.must_lack("quantization_config");
  shape.must_lack("pruned_heads");
  shape.must_lack("auto_map");
  const auto take = [&](const char* option, std::int64_t& value, const char* key, const char* other_key,
                        std::int64_t otherwise) {
    const std::int64_t given = shape.number(key, other_key, otherwise);
    if (value != 0 && value != given) {
      throw UsageError("model." + std::string(option) + " is " + std::to_string(value) + ", but " + source + " has " +
                       std::to_string(given) + "\nleave it out: the pretrained model gives it");
    }
    value = given;
  };
  take("width", width, "n_embd", "hidden_size", 768);
  take("heads", heads, "n_head", "num_attention_heads", 12);
  take("layers", layers, "n_layer", "num_hidden_layers", 12);
  take("feed_forward", feed_forward, "n_inner", "", 4 * width);
  take("positions", positions, "n_positions", "max_position_embeddings", shape.number("n_ctx", "", 1024));
  tied = shape.flag("tie_word_embeddings", true);
  norm_epsilon = shape.real("layer_norm_epsilon", 1e-5);
  activation = activation_of(shape);
  const bool by_layer = shape.flag("scale_attn_by_inverse_layer_idx", false);
  attention_scale = shape.flag("scale_attn_weights", true)
                        ? (by_layer ? AttentionScale::kWidthAndLayer : AttentionScale::kWidth)
                        : (by_layer ? AttentionScale::kLayer : AttentionScale::kNone);
}

void Gpt2Options::check_foreign(const Json& config, const std::string& source) const {
  Gpt2Options given;
  given.adopt(config, source);
  Gpt2Options own = *this;
  own.complete();
  const auto compare = [&](const char* option, const auto& there, const auto& here) {
    if (there == here) return;
    throw DataError(fmt::format("{}: its model.{} is {}, and this run's is {}", source, option, there, here));
  };
  const auto name_of = [](const auto& names, auto value) { return names.at(static_cast<std::size_t>(value)); };
  compare("heads", given.heads, own.heads);
  compare("tied", given.tied, own.tied);
  compare("norm_epsilon", given.norm_epsilon, own.norm_epsilon);
  compare("activation", name_of(kActivationNames, given.activation), name_of(kActivationNames, own.activation));
  compare("attention_scale", name_of(kAttentionScaleNames, given.attention_scale),
          name_of(kAttentionScaleNames, own.attention_scale));
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
    all.back().activation = static_cast<Activation>(all.size() - 1);
    all.back().attention_scale = static_cast<AttentionScale>(all.size() - 1);
  }
  all.push_back(small);
  all.back().tied = false;
  all.push_back(small);
  all.back().memory = {.type = WindowMemoryOptions::Type::kCache, .windows = 2};
  all.push_back(small);
  all.back().memory = {.type = WindowMemoryOptions::Type::kTokens, .tokens = 3};
  return all;
}

ModelOptions gpt2_options() { return Gpt2Options{}; }

}  // namespace xlm
