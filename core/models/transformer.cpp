// A plain transformer as of today (experiments/recipes/successors/transformer.md#transformer), made of the blocks of
// core/nn/transformer_block.h.
//
// B batch, T tokens of a window, P of them scored, k width, V symbols.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/api/transformer_options.h"
#include "core/kernels/linear.h"
#include "core/models/capabilities.h"
#include "core/nn/initial_weights.h"
#include "core/nn/transformer_block.h"

namespace xlm {
namespace {

using torch::Tensor;
using Weights = BlockOptions::Weights;

constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kBeginningVector = "model.embed_beginning.weight";

class Transformer final : public LanguageModel,
                          public ReadsIncrementally,
                          public HasRateMultipliers,
                          public ExtendsAnother,
                          public SharesWeightFiles,
                          public Capturable {
 public:
  Transformer(TransformerOptions options, std::int64_t symbols) : o_(std::move(options)) {
    const std::int64_t width = o_.width;
    const double deviation = o_.block.weights == Weights::kSimple ? 1 : 0.02;
    embedding_.symbols = parameter(kEmbedding, normal_weights({symbols, width}, deviation));
    embedding_.beginning = parameter(kBeginningVector, normal_weights({width}, deviation));
    if (o_.positions > 0) {
      embedding_.positions =
          parameter("model.embed_positions.weight", normal_weights({o_.positions, width}, deviation));
    }
    const DeclareParameter declare = [this](const std::string& name, Tensor initial) {
      return parameter(name, std::move(initial));
    };
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      blocks_.emplace_back(declare, fmt::format("model.layers.{}.", i), o_.block, width, o_.feed_forward,
                           o_.block.window_of(i), o_.layers);
    }
    norm_ = parameter("model.norm.weight", torch::ones({width}));
    head_ = o_.tied ? embedding_.symbols
                    : parameter("lm_head.weight",
                                normal_weights({symbols, width}, matrix_deviation(o_.block, width, false, 1)));
  }

  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    const std::int64_t length = input.tokens.size(1);
    const std::int64_t scored = input.scored > 0 ? input.scored : length;
    const Tensor embedded = embed(input.tokens, 0);
    const auto rotation = rotation_of(o_.block, 0, length, embedded);
    ModelOutput output;
    output.hidden = final_norm(forward_blocks(blocks_, embedded, rotation, scored, is_training()));  // [B, P, k]
    output.head = {.weight = head_};
    return output;
  }

  using LanguageModel::forward;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  /// Two for each multiply-add of matrices, of attention over the keys that are seen, and of the output layer.
  /// paper_flops counts as the program of Slagle 2024 does: attention over as many keys as a block or a window has.
  NamedValues costs(std::int64_t block) const override {
    const auto head = static_cast<double>(head_.numel());
    double seen = head;
    double published = head;
    for (const TransformerBlock& each : blocks_) {
      const std::int64_t window = each.window() > 0 ? std::min(each.window(), block) : block;
      seen += each.multiply_adds(each.average_keys(block));
      published += each.multiply_adds(static_cast<double>(window));
    }
    return {{"params", static_cast<double>(parameter_count())},
            {"flops_per_token", 2 * seen},
            {"paper_flops", 2 * published}};
  }

  TextScheme scheme() const override { return TransformerOptions::kScheme; }
  std::unique_ptr<TextReader> reader(const ReaderSettings& settings) override;
  double rate_multiplier(const std::string& name) const override {
    if (o_.block.weights != Weights::kSimple) return 1;
    for (const auto& [parameter, weight] : weights()) {
      const bool matrix = weight.dim() == 2 && !parameter.starts_with("model.embed_");
      if (parameter == name && matrix) return 1 / std::sqrt(static_cast<double>(weight.size(1)));
    }
    return 1;
  }

  /// Llamas of other programs have no such vector.
  bool is_addition(const std::string& name) const override { return name == kBeginningVector; }
  std::string stored_name(const std::string& name) const override { return name; }
  std::string repeated_parameter(const std::string& name) const override {
    return o_.tied && name == "lm_head.weight" ? kEmbedding : "";
  }
  bool has_rows_of_symbols(const std::string& name) const override {
    return name == kEmbedding || name == "lm_head.weight";
  }
  std::map<std::string, std::string> companion_files() const override {
    std::optional<Json> config = o_.llama_config();
    if (!config) return {};
    (*config)["vocab_size"] = embedding_.symbols.size(0);
    return {{"config.json", config->dump(2) + "\n"}};
  }

  /// It depends only on the length of the text.
  std::optional<std::string> graph_signature() const override { return ""; }

 private:
  friend class TransformerReader;

  /// [B, T] → [B, T, k].
  Tensor embed(const Tensor& tokens, std::int64_t first) const {
    return embedding_.of(tokens, first, is_training() ? o_.block.dropout : 0);
  }
  /// Before the logits. Tied embeddings of deviation 1 would give logits of deviation √k.
  Tensor final_norm(const Tensor& hidden) const {
    const Tensor normed = block_norm(o_.block, hidden, norm_);
    return o_.tied && o_.block.weights == Weights::kSimple ? normed / std::sqrt(static_cast<double>(o_.width)) : normed;
  }

  TransformerOptions o_;
  TextEmbedding embedding_;
  Tensor head_;  // [V, k]
  std::vector<TransformerBlock> blocks_;
  Tensor norm_;  // [k]
};

/// Reads token by token behind a beginning, and keeps keys and values. A text that has reached `context` tokens goes on
/// behind a new beginning with the later half of them.
class TransformerReader final : public TextReader {
 public:
  TransformerReader(std::shared_ptr<const Transformer> model, std::int64_t context)
      : model_(std::move(model)), context_(context) {
    if (model_->embedding_.positions.defined()) context_ = std::min(context_, model_->o_.positions);
    context_ = std::max<std::int64_t>(2, context_);
    restart(torch::empty({0}, torch::kLong));
  }

  Tensor read(const Tensor& tokens) override {
    const torch::NoGradGuard no_grad;
    Tensor logits;
    for (std::int64_t begin = 0; begin < tokens.size(0);) {
      if (size() == context_) restart(window_.narrow(0, context_ - context_ / 2, context_ / 2));
      const std::int64_t count = std::min(tokens.size(0) - begin, context_ - size());
      logits = extend(tokens.narrow(0, begin, count));
      begin += count;
    }
    return logits;
  }

 private:
  std::int64_t size() const { return window_.size(0); }

  /// `kept` stays in the window, to be read again.
  void restart(const Tensor& kept) {
    cache_.assign(model_->blocks_.size(), {});
    window_ = torch::cat({torch::full({1}, kBeginning, kept.options().dtype(torch::kLong)), kept});
    unread_ = size();
  }

  Tensor extend(const Tensor& tokens) {
    window_ = torch::cat({window_.to(tokens.device()), tokens});
    const std::int64_t count = tokens.size(0) + unread_;
    const std::int64_t first = size() - count;
    unread_ = 0;
    const Tensor embedded = model_->embed(window_.narrow(0, first, count).unsqueeze(0), first);  // [1, n, k]
    const auto rotation = rotation_of(model_->o_.block, first, count, embedded);
    const Tensor hidden = forward_blocks(model_->blocks_, embedded, rotation, 1, false, &cache_);
    return linear_layer(model_->final_norm(hidden), model_->head_, {}).view({-1});
  }

  std::shared_ptr<const Transformer> model_;
  std::int64_t context_;
  Tensor window_;            // [tokens of the window], kBeginning first
  std::int64_t unread_ = 0;  // of them, those that were not computed yet
  std::vector<KeyValueCache> cache_;
};

std::unique_ptr<TextReader> Transformer::reader(const ReaderSettings& settings) {
  return std::make_unique<TransformerReader>(std::dynamic_pointer_cast<Transformer>(shared_from_this()),
                                             settings.context);
}

}  // namespace

std::shared_ptr<LanguageModel> make_transformer(const ModelOptions& options, std::int64_t symbols) {
  auto whole = options.get<TransformerOptions>();
  TrainOptions unused;
  whole.complete(unused);
  return std::make_shared<Transformer>(whole, symbols);
}

}  // namespace xlm
