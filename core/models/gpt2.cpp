// GPT-2 as in Hugging Face's implementation, and what windows pass on: pooled hidden states (Radford et al. 2019;
// Yoshida et al. 2020, §3.1), or a memory (core/nn/window_memory.h).
// experiments/recipes/recurrence/README.md#gpt-2-and-recurrence states what they leave open.
//
// B batch, T tokens of a window, P of them scored, E embeddings passed on, L layers, H heads, k width, d = k / H, F
// feed-forward units, V symbols.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "core/api/gpt2_options.h"
#include "core/kernels/causal_attention.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/kernels/residual_norm.h"
#include "core/kernels/step_context.h"
#include "core/kernels/step_weights.h"
#include "core/kernels/tanh_gelu.h"
#include "core/models/capabilities.h"
#include "core/models/captured_steps.h"
#include "core/models/model_folder.h"
#include "core/nn/initial_weights.h"
#include "core/nn/pooled_state.h"
#include "core/nn/transformer_block.h"
#include "core/nn/window_memory.h"

namespace xlm {
namespace {

using torch::Tensor;

constexpr double kInitialDeviation = 0.02;

struct AffineWeights {
  Tensor weight, bias;
};

struct Gpt2Layer {
  AffineWeights norm_1, attention, projection;  // [k], [k, 3k], [k, k]
  AffineWeights norm_2, inner, outer;           // [k], [k, F], [F, k]
};

class Gpt2 final : public LanguageModel,
                   public ReadsWindows,
                   public ReadsIncrementally,
                   public ExtendsAnother,
                   public SharesWeightFiles,
                   public NeedsVocabulary,
                   public Capturable {
 public:
  Gpt2(Gpt2Options options, std::int64_t symbols) : o_(std::move(options)) {
    const std::int64_t width = o_.width;
    wte_ = parameter("wte.weight", normal_weights({symbols, width}, kInitialDeviation));
    wpe_ = parameter("wpe.weight", normal_weights({o_.positions, width}, kInitialDeviation));
    // Projections into the residual start smaller the more layers there are.
    const double projected = kInitialDeviation / std::sqrt(2.0 * static_cast<double>(o_.layers));
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      const std::string at = fmt::format("h.{}.", i);
      layers_.push_back({.norm_1 = declare_layer_norm(at + "ln_1"),
                         .attention = declare_map(at + "attn.c_attn", width, 3 * width, kInitialDeviation),
                         .projection = declare_map(at + "attn.c_proj", width, width, projected),
                         .norm_2 = declare_layer_norm(at + "ln_2"),
                         .inner = declare_map(at + "mlp.c_fc", width, o_.feed_forward, kInitialDeviation),
                         .outer = declare_map(at + "mlp.c_proj", o_.feed_forward, width, projected)});
    }
    final_norm_ = declare_layer_norm("ln_f");
    head_ = o_.tied ? wte_ : parameter("lm_head.weight", normal_weights({symbols, width}, kInitialDeviation));
    const DeclareParameter declare = [this](const std::string& name, Tensor initial) {
      return parameter(name, std::move(initial));
    };
    if (o_.pools()) pooled_ = PooledState(declare, o_.recurrence, o_.layers, width, kInitialDeviation);
    const WindowSizes sizes{
        .layers = o_.layers, .heads = o_.heads, .width = width, .window = o_.window, .overlap = o_.overlap};
    if (o_.memory.caches()) cache_ = WindowCache(sizes, o_.memory.windows, o_.memory.detach);
    if (o_.memory.has_tokens()) {
      memory_ = MemoryTokens(declare, sizes, o_.memory.tokens, kInitialDeviation, o_.memory.detach);
    }
  }

  ModelOutput forward(const ModelInput& input, const State& state) override {
    const std::int64_t length = input.tokens.size(1);
    const std::int64_t scored = input.scored > 0 ? input.scored : length;
    const std::int64_t pooled = o_.recurrence.pool_repeated ? length : std::min(length, o_.window - o_.overlap);
    const std::int64_t behind = memory_.count();  // m memory tokens
    Tensor hidden = embed(input.tokens, 0);       // [B, T, k]
    if (behind > 0) {
      const Tensor memory = memory_.read(state);         // [B, m, k]
      hidden = torch::cat({memory, hidden, memory}, 1);  // [B, m + T + m, k]
    }
    std::vector<KeysAndValues> known;  // by layer, of earlier windows, then also of this one
    if (o_.memory.caches()) known = WindowCache::read(state);
    PooledState::Mixture mixture(pooled_, pooled, hidden.is_cuda());
    Residual residual{.stream = hidden};
    const Tensor seeds = seeds_of_window(hidden);
    ResidualNorm sum;
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      const bool last = i + 1 == o_.layers;
      const Tensor inserted = o_.pools() && pooled_.enters(i) ? state.at(0) : Tensor();
      const bool inserts = inserted.defined() && inserted.size(1) > 0;
      sum = inserts ? ResidualNorm{.sum = sum_of(residual), .normed = {}}
                    : norm_of_sum(residual, layers_[static_cast<std::size_t>(i)].norm_1);
      if (o_.pools() && i > 0) mixture.add(sum.sum, i - 1);
      KeysAndValues* cache = known.empty() ? nullptr : &known[static_cast<std::size_t>(i)];
      const std::int64_t kept = last && !o_.pools() ? scored + behind : sum.sum.size(1);
      residual = run_layer(i, sum, inserted, kept, cache, seeds);
    }
    sum = norm_of_sum(residual, final_norm_);
    if (o_.pools()) mixture.add(sum.sum, o_.layers - 1);
    hidden = sum.normed.defined() ? last_positions(sum.normed, scored + behind)
                                  : final_norm(last_positions(sum.sum, scored + behind));  // [B, P + m, k]
    ModelOutput output;
    output.hidden = behind > 0 ? hidden.narrow(1, 0, scored) : hidden;  // [B, P, k]
    output.head = {.weight = head_};
    if (o_.pools()) output.state = {pooled_.hand_over(mixture.mixed())};
    if (o_.memory.caches()) output.state = cache_.write(known, length);
    if (behind > 0) output.state = memory_.write(hidden.narrow(1, scored, behind).to(wte_.scalar_type()));
    return output;
  }

  using LanguageModel::forward;
  /// The first window of a document receives nothing from others.
  State initial_state(std::int64_t batch) const override {
    const torch::TensorOptions options = wte_.options().requires_grad(false);
    if (o_.memory.caches()) return cache_.initial(batch, options);
    if (o_.memory.has_tokens()) return memory_.initial(batch, options);
    if (!o_.pools()) return {};
    return {torch::empty({batch, 0, o_.width}, options)};
  }

  /// The cost of the blocks' matrices and attention, two per multiply-add, that of the recurrence, and that of the
  /// output layer; without embeddings, norms and biases. Repeated tokens cost again, but have no logits. paper_flops
  /// counts as the paper does, the blocks alone, in which a memory is.
  NamedValues costs(std::int64_t /*block*/) const override {
    const auto width = static_cast<double>(o_.width);
    const auto layers = static_cast<double>(o_.layers);
    const auto window = static_cast<double>(o_.window);
    const double again = window / (window - static_cast<double>(o_.overlap));
    const double matrices = layers * (4 * width * width + 2 * width * static_cast<double>(o_.feed_forward));
    const double memory = cache_.flops_of_window() + memory_.flops_of_window(matrices);
    const double paper =
        (2 * matrices + 2 * layers * window * width) * again + memory / (window - static_cast<double>(o_.overlap));
    const double own = o_.pools() ? pooled_.flops_per_token(window) * again : 0;
    const double logits = 2 * static_cast<double>(head_.numel());
    return {{"params", static_cast<double>(parameter_count())},
            {"flops_per_token", paper + own + logits},
            {"paper_flops", paper}};
  }

  TextScheme scheme() const override { return Gpt2Options::kScheme; }
  WindowShape windows() const override { return {o_.window, o_.overlap}; }
  std::unique_ptr<TextReader> reader(const ReaderSettings& settings) override;
  bool is_addition(const std::string& name) const override {
    return name.starts_with("recurrence.") || name == "memory.tokens";
  }
  void set_vocabulary(const Vocabulary& vocabulary) override {
    if (!o_.pretrained.empty()) check_pretrained_vocabulary(o_.pretrained, vocabulary);
  }
  /// Without the prefix Hugging Face reads a file as the model below the output layer, which has no such layer.
  std::string stored_name(const std::string& name) const override {
    return o_.tied || name == "lm_head.weight" ? name : "transformer." + name;
  }

  std::string repeated_parameter(const std::string& name) const override {
    return o_.tied && name == "lm_head.weight" ? "wte.weight" : "";
  }
  bool has_rows_of_symbols(const std::string& name) const override {
    return name == "wte.weight" || name == "lm_head.weight";
  }
  /// Hugging Face's configuration, so that its programs load the folder.
  std::map<std::string, std::string> companion_files() const override {
    Json config{{"architectures", {"GPT2LMHeadModel"}},
                {"model_type", "gpt2"},
                {"vocab_size", wte_.size(0)},
                {"n_positions", o_.positions},
                {"n_ctx", o_.positions},
                {"n_embd", o_.width},
                {"n_layer", o_.layers},
                {"n_head", o_.heads},
                {"n_inner", o_.feed_forward == 4 * o_.width ? Json() : Json(o_.feed_forward)},
                {"activation_function", Gpt2Options::kActivationNames.at(static_cast<std::size_t>(o_.activation))},
                {"layer_norm_epsilon", o_.norm_epsilon},
                {"initializer_range", kInitialDeviation},
                {"embd_pdrop", o_.dropout},
                {"resid_pdrop", o_.dropout},
                {"attn_pdrop", o_.attention_dropout},
                {"tie_word_embeddings", o_.tied},
                {"torch_dtype", "float32"}};
    using Scale = Gpt2Options::AttentionScale;
    if (o_.attention_scale != Scale::kWidth) {
      config["scale_attn_weights"] = o_.attention_scale == Scale::kWidthAndLayer;
      config["scale_attn_by_inverse_layer_idx"] = o_.attention_scale != Scale::kNone;
    }
    return {{"config.json", config.dump(2) + "\n"}};
  }

  /// It depends only on the length of the text.
  std::optional<std::string> graph_signature() const override { return ""; }

 private:
  friend class Gpt2Reader;

  /// What a layer hands on: the next norm adds the two.
  struct Residual {
    Tensor stream;
    AddedPart added = {};
  };

  Tensor embed(const Tensor& tokens, std::int64_t first) const {
    const std::int64_t length = tokens.size(1);
    if (first + length > o_.positions) {
      throw UsageError(
          fmt::format("a window of {} tokens is longer than the model's {} positions", first + length, o_.positions));
    }
    StepWeights* shared = StepWeights::current();
    const Tensor rows = shared != nullptr ? shared->rows(wte_, tokens) : torch::embedding(wte_, tokens);
    const Tensor hidden = rows + wpe_.narrow(0, first, length);  // [B, T, k]
    return is_training() && o_.dropout > 0 ? place_dropout(hidden, o_.dropout, draw_dropout_seed()) : hidden;
  }

  /// One layer on hidden states [B, T, k], whose norm may be known; `inserted` [B, E, k] (or undefined) are more keys
  /// and values, which every query sees and which have no queries. Only the last `kept` positions are computed to the
  /// end.
  Residual run_layer(std::int64_t index, const ResidualNorm& entered, const Tensor& inserted, std::int64_t kept,
                     KeysAndValues* cache, const Tensor& seeds) const {
    const Gpt2Layer& layer = layers_[static_cast<std::size_t>(index)];
    ResidualNorm first = entered;
    if (inserted.defined() && inserted.size(1) > 0) {
      first = norm_of_sum({.stream = torch::cat({inserted, entered.sum}, 1)}, layer.norm_1);
    }
    if (!first.normed.defined()) first.normed = layer_norm(first.sum, layer.norm_1);
    const Tensor attention = attended(index, first.normed, kept, cache);
    const Residual middle{.stream = last_positions(entered.sum, kept), .added = added(attention, seeds, 2 * index)};
    ResidualNorm second = norm_of_sum(middle, layer.norm_2);
    if (!second.normed.defined()) second.normed = layer_norm(second.sum, layer.norm_2);
    const Tensor inner = activated(affine_layer(second.normed, layer.inner.weight, layer.inner.bias));  // [B, P, F]
    const Tensor outer = affine_layer(inner, layer.outer.weight, layer.outer.bias);                     // [B, P, k]
    return {.stream = second.sum, .added = added(outer, seeds, 2 * index + 1)};
  }

  /// What attention adds, of all normed positions [B, E + T, k]: [B, P, k] of the last `kept`. With a cache, its keys
  /// and values come first, and those of this call are added to it.
  Tensor attended(std::int64_t index, const Tensor& normed, std::int64_t kept, KeysAndValues* cache) const {
    const Gpt2Layer& layer = layers_[static_cast<std::size_t>(index)];
    const std::vector<Tensor> parts = affine_layer(normed, layer.attention.weight, layer.attention.bias)
                                          .view({normed.size(0), normed.size(1), 3, o_.heads, o_.width / o_.heads})
                                          .unbind(2);               // 3 × [B, E + T, H, d]
    Tensor query = last_positions(parts[0], kept).transpose(1, 2);  // [B, H, P, d]
    if (const double factor = query_factor(index); factor != 1) query = query * factor;
    Tensor key = parts[1].transpose(1, 2);  // [B, H, E + T, d]
    Tensor value = parts[2].transpose(1, 2);
    Tensor mixed;
    if (cache != nullptr && cache->place.defined()) {
      cache->keys.index_copy_(2, cache->place, key);
      cache->values.index_copy_(2, cache->place, value);
      const Tensor seen = torch::arange(cache->keys.size(2), cache->place.options()) <= cache->place;
      mixed = at::scaled_dot_product_attention(query, cache->keys, cache->values, seen.view({1, 1, 1, -1}));
    } else if (cache != nullptr) {
      if (cache->keys.defined()) {
        key = torch::cat({cache->keys, key}, 2);
        value = torch::cat({cache->values, value}, 2);
      }
      *cache = {key, value};
    }
    if (!mixed.defined()) {
      const double dropout = is_training() ? o_.attention_dropout : 0;
      mixed = causal_attention({.query = query,
                                .key = key,
                                .value = value,
                                .dropout = dropout,
                                .seed = dropout > 0 ? draw_dropout_seed() : 0});  // [B, H, P, d]
    }
    const Tensor joined = mixed.transpose(1, 2).reshape({normed.size(0), kept, o_.width});  // [B, P, k]
    return affine_layer(joined, layer.projection.weight, layer.projection.bias);
  }

  /// `x` of a layer, before its dropout, which has the seed at a place of `seeds`, if there are any.
  AddedPart added(const Tensor& x, const Tensor& seeds, std::int64_t place) const {
    AddedPart part{.value = x};
    if (!is_training() || o_.dropout == 0) return part;
    part.dropout = o_.dropout;
    part.seed = draw_dropout_seed();
    if (seeds.defined()) part.seed_place = seeds.narrow(0, place, 1);
    return part;
  }

  static Tensor sum_of(const Residual& residual) {
    const AddedPart& part = residual.added;
    if (!part.value.defined()) return residual.stream;
    return residual.stream + place_dropout(part.value, part.dropout, part.seed);
  }

  /// [2L] int64, of dropout in a step that may be recorded on a GPU: drawn at once, because each draw is a kernel.
  /// Undefined otherwise.
  Tensor seeds_of_window(const Tensor& hidden) const {
    const bool are_wanted = is_training() && o_.dropout > 0 && hidden.is_cuda() && step_context().seeds_on_device;
    if (!are_wanted) return {};
    return torch::randint(std::numeric_limits<std::int64_t>::max(), {2 * o_.layers},
                          hidden.options().dtype(torch::kLong).requires_grad(false));
  }

  /// The sum, and its norm if a kernel computes both in one pass.
  ResidualNorm norm_of_sum(const Residual& residual, const AffineWeights& norm) const {
    if (residual.stream.is_cuda()) {
      std::optional<ResidualNorm> made =
          residual_norm_on_gpu(residual.stream, residual.added, {.scale = norm.weight, .bias = norm.bias},
                               {.centred = true, .epsilon = o_.norm_epsilon});
      if (made) return *std::move(made);
    }
    return {.sum = sum_of(residual), .normed = {}};
  }

  Tensor layer_norm(const Tensor& x, const AffineWeights& norm) const {
    if (StepWeights* shared = StepWeights::current()) {
      return shared->layer_norm(x, norm.weight, norm.bias, o_.norm_epsilon);
    }
    return torch::layer_norm(x, {o_.width}, norm.weight, norm.bias, o_.norm_epsilon);
  }

  Tensor final_norm(const Tensor& hidden) const { return layer_norm(hidden, final_norm_); }
  Tensor activated(const Tensor& x) const {
    switch (o_.activation) {
      case Gpt2Options::Activation::kGelu:
        return torch::gelu(x);
      case Gpt2Options::Activation::kRelu:
        return torch::relu(x);
      case Gpt2Options::Activation::kSilu:
        return torch::silu(x);
      case Gpt2Options::Activation::kGeluNew:
        break;
    }
    return tanh_gelu(x);
  }

  /// The factor of queries, because attention itself divides by √d.
  double query_factor(std::int64_t layer) const {
    using Scale = Gpt2Options::AttentionScale;
    const bool by_layer = o_.attention_scale == Scale::kWidthAndLayer || o_.attention_scale == Scale::kLayer;
    const bool by_width = o_.attention_scale == Scale::kWidth || o_.attention_scale == Scale::kWidthAndLayer;
    const double width = by_width ? 1 : std::sqrt(static_cast<double>(o_.width / o_.heads));
    return width / (by_layer ? static_cast<double>(layer + 1) : 1);
  }

  AffineWeights declare_map(const std::string& name, std::int64_t in, std::int64_t out, double deviation) {
    return {parameter(name + ".weight", normal_weights({in, out}, deviation)),
            parameter(name + ".bias", torch::zeros({out}))};
  }

  AffineWeights declare_layer_norm(const std::string& name) {
    return {parameter(name + ".weight", torch::ones({o_.width})), parameter(name + ".bias", torch::zeros({o_.width}))};
  }

  Gpt2Options o_;
  Tensor wte_, wpe_, head_;  // [V, k], [positions, k], [V, k]
  std::vector<Gpt2Layer> layers_;
  AffineWeights final_norm_;  // [k]
  PooledState pooled_;
  WindowCache cache_;
  MemoryTokens memory_;
};

/// Reads token by token within a window and keeps its keys and values; past its end the next window begins with the
/// last O tokens.
class Gpt2Reader final : public TextReader {
 public:
  Gpt2Reader(std::shared_ptr<const Gpt2> model, const MakeRecorder& recorder)
      : model_(std::move(model)), state_(model_->initial_state(1)) {
    if (std::unique_ptr<StepRecorder> made = recorder ? recorder() : nullptr) {
      captured_.emplace(std::move(made), model_->wte_.device(), NamedTensors());
    }
  }

  Tensor read(const Tensor& tokens) override {
    const torch::NoGradGuard no_grad;
    const WindowShape shape = model_->windows();
    Tensor logits;
    for (std::int64_t begin = 0; begin < tokens.size(0);) {
      if (window_size() == shape.window) next_window();
      const std::int64_t count = std::min(tokens.size(0) - begin, shape.window - window_size());
      logits = extend(tokens.narrow(0, begin, count));
      begin += count;
    }
    return logits;
  }

 private:
  std::int64_t window_size() const { return window_.defined() ? window_.size(0) : 0; }

  /// The window's hidden states become the state; the tokens that the next window repeats are read with the next ones.
  void next_window() {
    leave_room();
    const WindowShape shape = model_->windows();
    if (model_->o_.pools()) {
      const std::int64_t pooled = model_->o_.recurrence.pool_repeated ? shape.window : shape.window - shape.overlap;
      state_ = {model_->pooled_.hand_over(torch::cat(mixed_, 1).narrow(1, 0, pooled))};
      mixed_.clear();
    }
    if (model_->o_.memory.caches()) state_ = model_->cache_.write(cache_, shape.window);
    if (model_->o_.memory.has_tokens()) {
      const Tensor written = read_on(model_->memory_.read(state_), false);  // [1, m, k]
      state_ = model_->memory_.write(model_->final_norm(written));
    }
    cache_.clear();
    window_ = window_.narrow(0, shape.window - shape.overlap, shape.overlap);
    unread_ = shape.overlap;
  }

  Tensor extend(const Tensor& tokens) {
    window_ = window_.defined() ? torch::cat({window_, tokens}) : tokens;
    const std::int64_t count = tokens.size(0) + unread_;
    const std::int64_t first = window_.size(0) - count;
    unread_ = 0;
    if (captured_ && count == 1 && first > 0) {
      if (const std::optional<Tensor> logits = extend_recorded(tokens, first)) return *logits;
    }
    leave_room();
    Tensor hidden = model_->embed(window_.narrow(0, first, count).unsqueeze(0), first);  // [1, n, k]
    if (first == 0) {
      if (model_->o_.memory.caches()) cache_ = WindowCache::read(state_);
      if (model_->o_.memory.has_tokens()) hidden = torch::cat({model_->memory_.read(state_), hidden}, 1);
      cache_.resize(model_->layers_.size());
    }
    return logits_of(read_on(hidden, first == 0));
  }

  /// The layers on the next positions of the window: [1, n, k]. The first ones see what the window before has pooled,
  /// too.
  Tensor read_on(const Tensor& hidden, bool begins) {
    const auto [last, mixed] = run_layers(hidden, cache_, begins);
    if (mixed.defined()) mixed_.push_back(mixed);
    return last;
  }

  /// The last hidden states, and what is pooled of all layers'. Keys and values are kept in `caches`.
  std::pair<Tensor, Tensor> run_layers(Tensor hidden, std::vector<KeysAndValues>& caches, bool begins) const {
    Tensor mixed;
    for (std::size_t i = 0; i < caches.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      const bool inserts = model_->o_.pools() && begins && model_->pooled_.enters(index);
      hidden = Gpt2::sum_of(model_->run_layer(index, {.sum = hidden, .normed = {}}, inserts ? state_.at(0) : Tensor(),
                                              hidden.size(1), &caches[i], {}));
      if (model_->o_.pools()) {
        const Tensor part = model_->pooled_.share(hidden, index);
        mixed = mixed.defined() ? mixed + part : part;
      }
    }
    return {hidden, mixed};
  }

  /// The token at place `first` of the window by a recording: the logits, or nullopt if it cannot be recorded. Its
  /// layers' keys and values have room for the rest of the window.
  std::optional<Tensor> extend_recorded(const Tensor& token, std::int64_t first) {
    std::vector<std::int64_t> places{first};
    if (room_.empty()) {
      const std::int64_t more = model_->windows().window - first;
      for (const KeysAndValues& layer : cache_) {
        filled_.push_back(layer.keys.size(2));
        room_.push_back(torch::constant_pad_nd(layer.keys, {0, 0, 0, more}));
        room_.push_back(torch::constant_pad_nd(layer.values, {0, 0, 0, more}));
      }
    }
    places.insert(places.end(), filled_.begin(), filled_.end());
    const ModelInput input{.tokens = token.unsqueeze(0), .positions = torch::tensor(places).unsqueeze(0)};
    const auto work = [this](const ModelInput& in, const Tensor& /*targets*/, const State& room) {
      const Tensor at = in.positions[0];  // [1 + L]
      Tensor hidden = torch::embedding(model_->wte_, in.tokens) + model_->wpe_.index_select(0, at.narrow(0, 0, 1));
      std::vector<KeysAndValues> layers;
      for (std::size_t i = 0; i < cache_.size(); ++i) {
        layers.push_back({room[2 * i], room[2 * i + 1], at.narrow(0, static_cast<std::int64_t>(i) + 1, 1)});
      }
      const auto [last, mixed] = run_layers(hidden, layers, false);
      CapturedSteps::Outcome outcome{.loss = logits_of(last), .state = room};
      if (mixed.defined()) outcome.more.push_back(mixed);
      return outcome;
    };
    try {
      const CapturedSteps::Outcome outcome = captured_->run("token", input, input.tokens, room_, work);
      room_ = outcome.state;
      for (const Tensor& mixed : outcome.more) mixed_.push_back(mixed.clone());
      for (std::int64_t& filled : filled_) ++filled;
      return outcome.loss;
    } catch (const RefusedRecording&) {
      captured_.reset();
      return std::nullopt;
    }
  }

  /// The keys and values that were read, without room for more.
  void leave_room() {
    for (std::size_t i = 0; !room_.empty() && i < cache_.size(); ++i) {
      cache_[i] = {room_[2 * i].narrow(2, 0, filled_[i]).clone(), room_[2 * i + 1].narrow(2, 0, filled_[i]).clone()};
    }
    room_.clear();
    filled_.clear();
  }

  Tensor logits_of(const Tensor& hidden) const {
    return linear_layer(model_->final_norm(last_positions(hidden, 1)), model_->head_).view({-1});
  }

  std::shared_ptr<const Gpt2> model_;
  std::optional<CapturedSteps> captured_;
  State room_;                        // of a recording: keys and values, layer by layer; empty: cache_ has them
  std::vector<std::int64_t> filled_;  // of it, by layer
  State state_;
  Tensor window_;              // [tokens of the window]
  std::int64_t unread_ = 0;    // of them, those that were not computed yet
  std::vector<Tensor> mixed_;  // Σ softmax(α)_ℓ h^(ℓ) of the window's positions: [1, n, k] each
  std::vector<KeysAndValues> cache_;
};

std::unique_ptr<TextReader> Gpt2::reader(const ReaderSettings& settings) {
  return std::make_unique<Gpt2Reader>(std::dynamic_pointer_cast<Gpt2>(shared_from_this()), settings.recorder);
}

}  // namespace

std::shared_ptr<LanguageModel> make_gpt2(const ModelOptions& options, std::int64_t symbols) {
  auto whole = options.get<Gpt2Options>();
  whole.complete();
  auto model = std::make_shared<Gpt2>(whole, symbols);
  if (!whole.pretrained.empty()) load_pretrained(*model, whole.pretrained, symbols);
  return model;
}

}  // namespace xlm
