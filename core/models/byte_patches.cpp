// A transformer over bytes whose wide middle blocks stand only at the places where patches begin (SpaceByte; Slagle
// 2024): local blocks over bytes, global blocks over patches, local blocks again. What begins a patch and how
// vectors go up and down is core/nn/patches.h; experiments/recipes/successors/byte-patches.md#byte-patches has the
// equations.
//
// B batch, T bytes of a window, P of them scored, G places of a window, d width of bytes, D width of patches, V
// symbols.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "core/api/byte_patches_options.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/nn/boundary_predictor.h"
#include "core/nn/initial_weights.h"
#include "core/nn/patches.h"
#include "core/nn/transformer_block.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

using torch::Tensor;

constexpr const char* kEmbeddings = "model.embed_";  // no matrices of layers
constexpr const char* kGlobalBlocks = "model.patches.";
constexpr std::int64_t kTileOfPlaces = 64;  // places

class BytePatches final : public LanguageModel,
                          public NeedsVocabulary,
                          public LearnsFromSegmentation,
                          public PoolsTokens,
                          public TracesTokens,
                          public ReadsIncrementally,
                          public HasRateMultipliers,
                          public HoldsInnerModel,
                          public Capturable {
 public:
  BytePatches(BytePatchesOptions options, std::int64_t symbols) : o_(std::move(options)) {
    const std::int64_t local = o_.local_width;
    const double deviation = o_.block.weights == BlockOptions::Weights::kSimple ? 1 : 0.02;
    const auto embedding = [&](const std::string& name, torch::IntArrayRef sizes) {
      return parameter(kEmbeddings + name + ".weight", normal_weights(sizes, deviation));
    };
    embedding_.symbols = embedding("tokens", {symbols, local});
    embedding_.beginning = embedding("beginning", {local});
    if (o_.learnt_positions) {
      embedding_.positions = embedding("positions", {o_.positions, local});
      patch_positions_ = embedding("places", {o_.places, o_.width});
    }
    const DeclareParameter declare = [this](const std::string& name, Tensor initial) {
      return parameter(name, std::move(initial));
    };
    const std::int64_t layers = o_.local_layers + o_.layers;
    const auto add_local = [&](std::vector<TransformerBlock>& blocks, const std::string& stage, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) {
        blocks.emplace_back(declare, fmt::format("model.{}.{}.", stage, i), o_.block, local, o_.local_feed_forward,
                            o_.local_window, layers);
      }
    };
    add_local(before_, "before", o_.layers_before());
    boundaries_ = make_patch_boundaries({.options = &o_.boundaries,
                                         .declare = &declare,
                                         .local_width = local,
                                         .width = o_.width,
                                         .local_feed_forward = o_.local_feed_forward,
                                         .block = &o_.block,
                                         .symbols = symbols,
                                         .positions = o_.learnt_positions ? o_.positions : 0,
                                         .window = o_.local_window});
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      patches_.emplace_back(declare, fmt::format("{}{}.", kGlobalBlocks, i), o_.block, o_.width, o_.feed_forward,
                            o_.block.window_of(i), layers);
    }
    add_local(behind_, "behind", o_.local_layers - o_.layers_before());
    norm_ = parameter("model.norm.weight", torch::ones({local}));
    head_ = parameter("lm_head.weight", normal_weights({symbols, local}, matrix_deviation(o_.block, local, false, 1)));
  }

  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    const std::int64_t length = input.tokens.size(1);
    const std::int64_t scored = input.scored > 0 ? input.scored : length;
    const auto of_scored = [&](const Tensor& x) { return x.narrow(1, length - scored, scored); };
    Tensor hidden = before_patches(input);
    const PatchText text = patch_text(input, hidden);
    const PatchStarts starts = find_patches(text);
    const PatchPlaces places = find_places(starts.begins, places_of(length));
    hidden = through_patches(hidden, starts, places);
    const auto rotation = rotation_of(o_.block, 0, length, hidden);
    hidden = forward_blocks(behind_, hidden, rotation, scored, is_training());
    ModelOutput output;
    output.hidden = block_norm(o_.block, hidden, norm_);  // [B, P, d]
    output.head = {.weight = head_, .bias = {}};
    // If all patches have places, the loss is one call of the head.
    if (places.count < boundaries_->most_patches(length)) output.left_out = of_scored(places.left_out);
    output.auxiliary_loss = boundary_loss(text, starts);
    add_counts(of_scored(starts.begins), of_scored(places.left_out));
    if (input.traced) trace_tokens(starts, output);
    return output;
  }

  using LanguageModel::forward;
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  void set_vocabulary(const Vocabulary& vocabulary) override {
    if (vocabulary.unit == Vocabulary::Unit::kBpe) {
      throw UsageError(
          "model.type byte-patches reads bytes or characters, and the data consist of byte pairs\n"
          "prepare the text again with --unit byte");
    }
    if (const auto problem = boundaries_->set_symbols(vocabulary.symbols)) {
      throw UsageError(*problem + "\nuse other data, or another type such as fixed");
    }
  }

  std::string tokenizer() const override {
    return o_.boundaries.type == PatchBoundaryOptions::Type::kUnigram ? o_.boundaries.tokenizer : "";
  }
  Tensor boundaries(const ModelInput& input) override {
    return find_patches(patch_text(input, before_patches(input))).begins;
  }

  bool has_token_values() const override { return true; }
  std::unique_ptr<TextReader> reader(const ReaderSettings& settings) override;
  double rate_multiplier(const std::string& name) const override {
    const double of_stage = part_multiplier(name);
    if (o_.block.weights != BlockOptions::Weights::kSimple) return of_stage;
    for (const auto& [parameter, weight] : weights()) {
      const bool matrix = weight.dim() == 2 && !parameter.starts_with(kEmbeddings);
      if (parameter == name && matrix) return of_stage / std::sqrt(static_cast<double>(weight.size(1)));
    }
    return of_stage;
  }

  double part_multiplier(const std::string& name) const override {
    const bool of_patches = name.starts_with(kGlobalBlocks) || name == std::string(kEmbeddings) + "places.weight";
    return o_.local_rate > 0 && !of_patches ? o_.local_rate : 1;
  }

  NamedValues statistics() const override {
    const std::vector<double> sums = counts().sums;
    NamedValues values;
    if (sums[kBytes] == 0) return values;
    if (sums[kPatches] > 0) values["shortening_factor"] = sums[kBytes] / sums[kPatches];
    values["left_out_share"] = sums[kLeftOut] / sums[kBytes];
    return values;
  }

  void reset_statistics() override {
    if (counts_.defined()) counts_.zero_();
  }
  Counts counts() const override {
    std::vector<double> sums(kCountsOfPatches);
    if (counts_.defined()) {
      const Tensor counted = counts_.to(torch::kDouble).cpu();
      std::copy_n(counted.const_data_ptr<double>(), sums.size(), sums.begin());
    }
    return {.sums = std::move(sums), .maxima = {}};
  }

  void set_counts(const Counts& counts) override {
    const Tensor sums = torch::tensor(counts.sums, torch::kDouble).to(torch::kLong);
    if (counts_.defined()) {
      counts_.copy_(sums);
    } else {
      counts_ = sums.to(embedding_.symbols.device());
    }
  }

  /// Two for each multiply-add of matrices, of attention over the keys that are seen, and of the output layer. All
  /// places of a window are computed, taken or not. paper_flops counts as the program of Slagle 2024 does: attention
  /// over as many keys as a window, or all places, have.
  NamedValues costs(std::int64_t block) const override {
    const std::int64_t places = places_of(block);
    double seen = static_cast<double>(head_.numel()) + boundaries_->multiply_adds();
    double published = static_cast<double>(head_.numel());
    const auto add = [&](const std::vector<TransformerBlock>& blocks, std::int64_t length) {
      const double share = static_cast<double>(length) / static_cast<double>(block);  // positions for a byte
      for (const TransformerBlock& each : blocks) {
        const std::int64_t window = each.window() > 0 ? std::min(each.window(), length) : length;
        seen += share * each.multiply_adds(each.average_keys(length));
        published += share * each.multiply_adds(static_cast<double>(window));
      }
    };
    add(before_, block);
    add(patches_, places);
    add(behind_, block);
    return {{"params", static_cast<double>(parameter_count())},
            {"flops_per_token", 2 * seen},
            {"paper_flops", 2 * published},
            {"layers", static_cast<double>(before_.size() + patches_.size() + behind_.size())}};
  }

  TextScheme scheme() const override { return BytePatchesOptions::kScheme; }
  std::string inner_model() const override {
    return o_.boundaries.type == PatchBoundaryOptions::Type::kEntropy ? o_.boundaries.model : "";
  }
  void check_inner_options(const ModelOptions& options, const std::string& source) const override {
    const auto* inner = options.get_if<TransformerOptions>();
    const std::optional<std::string> difference =
        inner == nullptr ? fmt::format("model.type is {}, and must be {}", options.type(), TransformerOptions::kType)
                         : o_.difference_of_inner(*inner);
    if (!difference) return;
    throw DataError(
        fmt::format("model.boundaries.model: {}: {}\n"
                    "train the small model with this, or give this model the options of the small one",
                    source, *difference));
  }

  void take_inner_model(const std::vector<std::pair<std::string, Tensor>>& tensors,
                        const std::string& source) override {
    const torch::NoGradGuard no_grad;
    const std::map<std::string, Tensor> given(tensors.begin(), tensors.end());
    std::size_t taken = 0;
    for (const auto& [name, weight] : weights()) {
      if (!name.starts_with(kInnerModel)) continue;
      const auto found = given.find(name.substr(std::string_view(kInnerModel).size()));
      if (found == given.end() || found->second.sizes() != weight.sizes()) {
        throw DataError(
            fmt::format("model.boundaries.model: {} {} '{}' of the shape [{}]\n"
                        "it must be a model.type=transformer with the options of this model's blocks and positions, "
                        "model.width={}, model.layers={} and model.windows={}",
                        source, found == given.end() ? "has no tensor" : "has another tensor",
                        name.substr(std::string_view(kInnerModel).size()), fmt::join(weight.sizes(), ", "),
                        o_.boundaries.width, o_.boundaries.layers, o_.local_window));
      }
      weight.copy_(found->second);
      ++taken;
    }
    if (taken == given.size()) return;
    throw DataError(fmt::format(
        "model.boundaries.model: {} has {} tensors, and the small model has {}: it has other options or layers", source,
        given.size(), taken));
  }

  std::string fit_inner_model(const Tensor& tokens) override {
    return boundaries_->fit(patch_text({.tokens = tokens}, {}));
  }

  /// Sizes follow from the window and the options alone, and nothing is read back from the device.
  std::optional<std::string> graph_signature() const override { return ""; }

  /// The longest window, its beginning included; 0: any.
  std::int64_t longest_window() const { return embedding_.positions.defined() ? o_.positions : 0; }

 private:
  enum Count { kBytes, kPatches, kLeftOut, kCountsOfPatches };

  /// The first local blocks: [B, T, d].
  Tensor before_patches(const ModelInput& input) const {
    const Tensor embedded = embedding_.of(input.tokens, 0, is_training() ? o_.block.dropout : 0);
    const auto rotation = rotation_of(o_.block, 0, embedded.size(1), embedded);
    return forward_blocks(before_, embedded, rotation, embedded.size(1), is_training());
  }

  /// What boundaries may depend on.
  static PatchText patch_text(const ModelInput& input, const Tensor& hidden) {
    return {.tokens = input.tokens.clamp_min(0),
            .beginnings = input.tokens == kBeginning,
            .positions = input.positions,
            .hidden = hidden,
            .segmentation = input.boundaries};
  }

  /// The loss of the boundaries in training.
  Tensor boundary_loss(const PatchText& text, const PatchStarts& starts) const {
    if (!is_training()) return {};
    if (o_.boundaries.type == PatchBoundaryOptions::Type::kUnigram && !text.segmentation.defined()) {
      throw DataError(
          "model.boundaries.type is unigram, and the training data come without a segmentation to learn from\n"
          "give model.boundaries.tokenizer, or use another type such as router");
    }
    const FullPrecisionScope precision(text.hidden.device());
    return boundaries_->loss(text, starts);
  }

  /// By comparisons of vectors that eight bits would round.
  PatchStarts find_patches(const PatchText& text) const {
    const FullPrecisionScope precision(text.hidden.device());
    return boundaries_->find(text);
  }

  Tensor hand_up(const Tensor& hidden, const PatchPlaces& places) const {
    const FullPrecisionScope precision(hidden.device());
    return boundaries_->up(hidden, places, o_.width);
  }

  Tensor bring_down(const Tensor& hidden, const Tensor& patches, const PatchPlaces& places,
                    const PatchStarts& starts) const {
    const FullPrecisionScope precision(hidden.device());
    return boundaries_->down(hidden, patches, places, starts);
  }

  /// The global blocks: hidden [B, T, d] → [B, T, d].
  Tensor through_patches(const Tensor& hidden, const PatchStarts& starts, const PatchPlaces& places) const {
    Tensor patches = hand_up(hidden, places);  // [B, G, D]
    if (patch_positions_.defined()) patches = patches + patch_positions_.narrow(0, 0, places.count);
    // A GPU multiplies whole tiles fastest. No place sees those behind it.
    const std::int64_t padding = patches.is_cuda() ? (kTileOfPlaces - places.count % kTileOfPlaces) % kTileOfPlaces : 0;
    if (padding > 0) patches = torch::constant_pad_nd(patches, {0, 0, 0, padding}, 0);
    const std::int64_t count = places.count + padding;
    const auto rotation = rotation_of(o_.block, 0, count, patches);
    patches = forward_blocks(patches_, patches, rotation, count, is_training());
    return bring_down(hidden, patches.narrow(1, 0, places.count), places, starts);
  }

  void add_counts(const Tensor& begins, const Tensor& left_out) {
    if (!counts_.defined()) counts_ = torch::zeros({kCountsOfPatches}, begins.options().dtype(torch::kLong));
    if (counts_.device() != begins.device()) counts_ = counts_.to(begins.device());
    counts_.select(0, kBytes).add_(begins.numel());
    counts_.select(0, kPatches).add_(begins.sum());
    counts_.select(0, kLeftOut).add_(left_out.sum());
  }

  /// Values of the scored tokens: the uncertainty about the next one, in bits; where patches begin, and the probability
  /// of it if there is one. [B, P] each.
  void trace_tokens(const PatchStarts& starts, ModelOutput& output) const {
    const Tensor logits = output.logits();
    const auto of_scored = [&](const Tensor& x) {
      return x.detach().narrow(1, x.size(1) - logits.size(1), logits.size(1));
    };
    output.token_values["entropy"] = predictive_entropy(logits) / std::numbers::ln2;
    output.token_values["boundary"] = of_scored(starts.begins);
    if (starts.probabilities.defined()) output.token_values["boundary_probability"] = of_scored(starts.probabilities);
  }

  /// G of windows of so many bytes.
  std::int64_t places_of(std::int64_t length) const { return std::min(o_.places, boundaries_->most_patches(length)); }

  BytePatchesOptions o_;
  TextEmbedding embedding_;
  Tensor patch_positions_;  // [places, D], or undefined
  std::vector<TransformerBlock> before_, patches_, behind_;
  std::unique_ptr<PatchBoundaries> boundaries_;
  Tensor norm_, head_;  // [d], [V, d]
  // [kCountsOfPatches] int64, of scored places, on the model's device so that no code waits for it. Once defined it
  // keeps its memory, to which recorded steps add.
  Tensor counts_;
};

/// Reads a beginning and the last bytes again for every byte. A text that would be longer than `context`, or that has
/// more patches than places, continues behind a new beginning with its later half; a long prompt with all that fits.
class BytePatchesReader final : public TextReader {
 public:
  BytePatchesReader(std::shared_ptr<BytePatches> model, std::int64_t context)
      : model_(std::move(model)), context_(context) {
    if (model_->longest_window() > 0) context_ = std::min(context_, model_->longest_window());
    context_ = std::max<std::int64_t>(2, context_);
  }

  Tensor read(const Tensor& tokens) override {
    const torch::NoGradGuard no_grad;
    text_ = text_.defined() ? torch::cat({text_, tokens}) : tokens;
    if (text_.size(0) >= context_) keep(tokens.size(0) > 1 ? context_ - 1 : context_ / 2);
    for (;;) {
      const Tensor window = torch::cat({torch::full({1}, kBeginning, text_.options()), text_});
      const ModelOutput output = model_->forward(ModelInput{.tokens = window.unsqueeze(0), .scored = 1}, {});
      const bool left_out = output.left_out.defined() && output.left_out[0][0].item<bool>();
      if (!left_out || text_.size(0) == 1) return output.logits()[0][0];
      keep(text_.size(0) / 2);
    }
  }

 private:
  void keep(std::int64_t count) { text_ = text_.narrow(0, text_.size(0) - count, count); }

  std::shared_ptr<BytePatches> model_;
  std::int64_t context_;
  Tensor text_;  // [bytes behind the beginning]
};

std::unique_ptr<TextReader> BytePatches::reader(const ReaderSettings& settings) {
  return std::make_unique<BytePatchesReader>(std::dynamic_pointer_cast<BytePatches>(shared_from_this()),
                                             settings.context);
}

}  // namespace

std::shared_ptr<LanguageModel> make_byte_patches(const ModelOptions& options, std::int64_t symbols) {
  auto whole = options.get<BytePatchesOptions>();
  TrainOptions unused;
  whole.complete(unused);
  return std::make_shared<BytePatches>(whole, symbols);
}

}  // namespace xlm
