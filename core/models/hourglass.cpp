// The hourglass transformer with dynamic token pooling (Nawrot et al. 2022; Nawrot et al. 2023, §3): layers over
// tokens, layers over groups of tokens, layers over tokens again.
// experiments/recipes/dynamic-pooling/README.md#dynamic-token-pooling states what the papers leave open.
//
// B batch, T tokens of a block, P of them scored, G groups, D width, H heads, d = D / H, F feed-forward units,
// V symbols.
#include <algorithm>
#include <numbers>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "core/api/hourglass_options.h"
#include "core/kernels/dropout.h"
#include "core/kernels/linear.h"
#include "core/kernels/segment_pooling.h"
#include "core/models/capabilities.h"
#include "core/nn/boundary_predictor.h"
#include "core/nn/initial_weights.h"
#include "core/nn/transformer_xl.h"

namespace xlm {
namespace {

using torch::Tensor;
using Pooling = HourglassOptions::Pooling;
using BoundaryType = BoundaryOptions::Type;

constexpr double kGuessedShortening = 4;  // for boundaries that are not known yet, for a first estimate of the cost

/// Counts of boundaries at scored positions, on the model's device so that no code waits for it.
class BoundaryCounts {
 public:
  enum Count { kPositions, kBoundaries, kCompared, kRight, kPositives, kTruePositives, kTargets, kCounts };

  void reset() {
    if (counts_.defined()) counts_.zero_();
  }

  /// From now on adds only if `valid`, a scalar bool, is true; undefined: always.
  void add_if(const Tensor& valid) { valid_ = valid; }
  // [B, P] bool
  void add(const Tensor& boundaries) {
    add_to(kPositions, torch::ones_like(boundaries));
    add_to(kBoundaries, boundaries);
  }

  // [B, P] bool
  void compare(const Tensor& boundaries, const Tensor& target) {
    add_to(kCompared, torch::ones_like(target));
    add_to(kRight, boundaries == target);
    add_to(kPositives, boundaries);
    add_to(kTruePositives, boundaries.logical_and(target));
    add_to(kTargets, target);
  }

  std::vector<double> read() const {
    std::vector<double> values(kCounts);
    if (!counts_.defined()) return values;
    const Tensor counted = counts_.to(torch::kDouble).cpu();
    std::copy_n(counted.data_ptr<double>(), values.size(), values.begin());
    return values;
  }

  void write(const std::vector<double>& values, torch::Device device) {
    const Tensor given = torch::tensor(values, torch::kDouble).to(torch::kLong);
    if (counts_.defined() && counts_.device() == device) {
      counts_.copy_(given);
    } else {
      counts_ = given.to(device);
    }
  }

 private:
  void add_to(Count which, const Tensor& flags) {
    if (!counts_.defined() || counts_.device() != flags.device()) {
      counts_ = torch::zeros({kCounts}, flags.options().dtype(torch::kLong));
    }
    counts_.select(0, which).add_(valid_.defined() ? flags.sum() * valid_ : flags.sum());
  }

  Tensor counts_;  // [kCounts] int64; one for good, because a recorded step adds to it
  Tensor valid_;
};

class Hourglass final : public LanguageModel,
                        public NeedsVocabulary,
                        public LearnsFromSegmentation,
                        public PoolsTokens,
                        public TracesTokens,
                        public Capturable {
 public:
  Hourglass(HourglassOptions options, std::int64_t symbols) : o_(std::move(options)) {
    const DeclareParameter declare = [this](const std::string& name, Tensor initial) {
      return parameter(name, std::move(initial));
    };
    const TransformerXlShape shape{.width = o_.width,
                                   .heads = o_.heads,
                                   .feed_forward = o_.feed_forward,
                                   .dropout = o_.dropout,
                                   .attention_dropout = o_.attention_dropout};
    const auto normal = [](torch::IntArrayRef sizes) { return normal_weights(sizes, 0.02); };
    word_emb_ = parameter("word_emb.weight", normal({symbols, o_.width}));
    content_bias_ = parameter("r_w_bias", normal({o_.heads, o_.width / o_.heads}));
    position_bias_ = parameter("r_r_bias", normal({o_.heads, o_.width / o_.heads}));
    if (o_.pools()) {
      null_group_ = parameter("null_group", normal_weights({1, 1, o_.width}));
      declare_norm(declare, "down_ln", o_.width, down_weight_, down_bias_);
      if (o_.boundaries.predicted()) {
        predictor_ = BoundaryPredictor(declare, "boundary_predictor.boundary_predictor", o_.width, o_.feed_forward);
      }
    }
    for (std::size_t stage = 0; stage < (o_.pools() ? 3U : 1U); ++stage) {
      stages_.emplace_back(declare, "layers." + std::to_string(stage), o_.layers[stage], shape);
    }
    declare_affine(declare, "final_cast", symbols, o_.width, final_weight_, final_bias_);
  }

  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    const std::int64_t length = input.tokens.size(1);
    const std::int64_t scored = input.scored > 0 ? input.scored : length;
    // There may be as many groups as tokens, or as their room, and the null.
    const RelativePositions positions = relative_positions(std::max(length, input.room) + 1);
    Tensor hidden = before_pooling(input, positions);
    Boundaries found;
    ModelOutput output;
    if (o_.pools()) {
      hidden = hidden.to(null_group_.scalar_type());
      found = find_boundaries(hidden, input);
      const Groups groups = find_groups(found.hard.detach() > 0.5, input.room);
      if (o_.boundaries.predicted()) output.needed = groups.most.view({1});
      counts_.add_if(o_.boundaries.predicted() && input.room > 0 ? groups.most <= input.room : Tensor());
      const Tensor null_group = null_group_.expand({hidden.size(0), 1, o_.width});
      const Tensor pooled = torch::cat({null_group, pool(hidden, found.hard, groups)}, 1);  // [B, 1 + G, D]
      const Tensor normed = torch::layer_norm(pooled, {o_.width}, down_weight_, down_bias_, 1e-5);
      const Tensor middle = stages_[1].forward(normed, positions, is_training());  // [B, 1 + G, D]
      hidden = spread_groups(middle, groups) + hidden;                             // [B, T, D]
      hidden = stages_[2].forward(hidden, positions, is_training());
    }
    output.hidden = hidden.narrow(1, length - scored, scored);  // [B, P, D]
    output.head = {.weight = final_weight_, .bias = final_bias_};
    if (o_.pools()) {
      counts_.add(found.hard.detach().narrow(1, length - scored, scored) > 0.5);
      if (o_.boundaries.predicted()) output.auxiliary_loss = boundary_loss(found, input, output);
    }
    if (input.traced) trace_tokens(found, output);
    return output;
  }

  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  void set_vocabulary(const Vocabulary& vocabulary) override {
    const auto found = std::ranges::find(vocabulary.symbols, " ");
    space_.reset();
    if (found != vocabulary.symbols.end()) space_ = found - vocabulary.symbols.begin();
    if (o_.boundaries.type == BoundaryType::kWhitespace && !space_) {
      throw UsageError(
          "model.boundaries.type is whitespace, and the vocabulary has no space\n"
          "use other data, or another type such as gumbel");
    }
  }

  std::string tokenizer() const override {
    return o_.boundaries.type == BoundaryType::kUnigram ? o_.boundaries.tokenizer : "";
  }
  Tensor boundaries(const ModelInput& input) override {
    if (!o_.pools()) return {};
    const Tensor hidden = before_pooling(input, relative_positions(input.tokens.size(1)));
    return find_boundaries(hidden.to(null_group_.scalar_type()), input).hard > 0.5;
  }

  bool has_token_values() const override { return true; }
  NamedValues statistics() const override {
    const std::vector<double> counts = counts_.read();
    NamedValues values;
    // Without any boundary there is no such factor, however much was read.
    const bool none = counts[BoundaryCounts::kPositions] > 0 && counts[BoundaryCounts::kBoundaries] == 0;
    if (!o_.pools() || !none) values["shortening_factor"] = shortening();
    if (counts[BoundaryCounts::kCompared] == 0) return values;
    const auto share = [&](BoundaryCounts::Count part, double whole) {
      return whole > 0 ? counts[static_cast<std::size_t>(part)] / whole : 0.0;
    };
    values["boundary_accuracy"] = share(BoundaryCounts::kRight, counts[BoundaryCounts::kCompared]);
    values["boundary_precision"] = share(BoundaryCounts::kTruePositives, counts[BoundaryCounts::kPositives]);
    values["boundary_recall"] = share(BoundaryCounts::kTruePositives, counts[BoundaryCounts::kTargets]);
    return values;
  }

  void reset_statistics() override { counts_.reset(); }
  Counts counts() const override { return {.sums = counts_.read(), .maxima = {}}; }
  void set_counts(const Counts& counts) override { counts_.write(counts.sums, final_weight_.device()); }
  /// A table of sinusoids that has grown has a new address.
  std::optional<std::string> graph_signature() const override {
    return fmt::format("sinusoids {} ", sinusoids_.defined() ? sinusoids_.size(0) : 0);
  }
  /// Fixed groups: as many as a block has at most. Words: as many as the text has. Predicted ones: as many as the steps
  /// before had.
  std::int64_t room(const ModelInput& input) override {
    if (!o_.pools()) return 0;
    const std::int64_t length = input.tokens.size(1);
    if (o_.boundaries.type == BoundaryType::kFixed) return (length + o_.boundaries.factor - 1) / o_.boundaries.factor;
    if (!o_.boundaries.predicted()) {
      const Tensor boundaries = find_boundaries(word_emb_.new_empty({0, length}), input).hard;
      make_room(static_cast<std::int64_t>(boundaries.sum(1).max().item<double>()));
    }
    return group_room_;
  }

  bool had_room(const std::vector<std::int64_t>& needed, std::int64_t room) override {
    make_room(needed.front());
    return room == 0 || needed.front() <= room;
  }

  Tensor noise(const ModelInput& input) override {
    if (!o_.pools() || o_.boundaries.type != BoundaryType::kGumbel) return {};
    return uniform_noise(input.tokens.size(0), input.tokens.size(1), null_group_.scalar_type());
  }

  std::vector<std::int64_t> held_sizes() const override { return {group_room_}; }
  void set_held_sizes(const std::vector<std::int64_t>& sizes) override {
    if (sizes.size() == 1) group_room_ = sizes.front();
  }
  /// flops_per_token: two per multiply-add, the forward pass of a block of T tokens divided among its tokens; stage 1
  /// works on T / SF groups and the null group.
  NamedValues costs(std::int64_t block) const override {
    const auto length = static_cast<double>(block);
    const auto width = static_cast<double>(o_.width);
    const double groups = 1 + length / shortening();
    double multiply_adds = width * static_cast<double>(final_weight_.size(0));
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) {
      const double positions = stage == 1 ? groups : length;
      multiply_adds += static_cast<double>(stages_[stage].size()) * layer_multiply_adds(positions) * positions / length;
    }
    if (o_.boundaries.predicted()) multiply_adds += predictor_.multiply_adds();
    std::size_t layers = 0;
    for (const TransformerXlStage& stage : stages_) layers += static_cast<std::size_t>(stage.size());
    return {{"params", static_cast<double>(parameter_count())},
            {"flops_per_token", 2 * multiply_adds},
            {"layers", static_cast<double>(layers)}};
  }

  bool costs_are_measured() const override { return o_.pools() && o_.boundaries.type != BoundaryType::kFixed; }
  TextScheme scheme() const override { return HourglassOptions::kScheme; }

 private:
  /// Boundaries of one block.
  struct Boundaries {
    Tensor hard;    // [B, T], 0 or 1 of the weights' type; gumbel: with the soft sample's gradient
    Tensor logits;  // [B, T], of predicted ones
  };

  /// The first layers: [B, T, D].
  Tensor before_pooling(const ModelInput& input, const RelativePositions& positions) {
    Tensor hidden = torch::embedding(word_emb_, input.tokens);  // [B, T, D]
    if (is_training() && o_.dropout > 0) hidden = place_dropout(hidden, o_.dropout, draw_dropout_seed());
    return stages_[0].forward(hidden, positions, is_training());
  }

  Boundaries find_boundaries(const Tensor& hidden, const ModelInput& input) const {
    const auto real = [&](const Tensor& flags) { return flags.to(hidden.scalar_type()); };
    Boundaries found;
    switch (o_.boundaries.type) {
      case BoundaryType::kFixed: {
        const Tensor places = input.positions.defined()
                                  ? input.positions
                                  : torch::arange(hidden.size(1), input.tokens.options()).expand_as(input.tokens);
        found.hard = real(places.remainder(o_.boundaries.factor) == 0);
        break;
      }
      case BoundaryType::kWhitespace:
        if (!space_) throw UsageError("whitespace boundaries need to know which symbol is the space");
        found.hard = real(spaces(input.tokens));
        break;
      case BoundaryType::kGumbel:
        found.logits = predictor_.logits(hidden);
        found.hard = gumbel_boundaries(found.logits, o_.boundaries.temperature, input.noise);
        break;
      default:
        found.logits = predictor_.logits(hidden);
        found.hard = hard_boundaries(found.logits);
    }
    return found;
  }

  Tensor pool(const Tensor& hidden, const Tensor& boundaries, const Groups& groups) const {
    return o_.pooling == Pooling::kMean ? group_means(hidden, boundaries, groups) : group_lasts(hidden, groups);
  }

  /// The predictor's loss over the scored tokens, and its counts
  /// (experiments/recipes/dynamic-pooling/README.md#what-teaches-the-predictor).
  Tensor boundary_loss(const Boundaries& found, const ModelInput& input, const ModelOutput& output) {
    const std::int64_t scored = output.hidden.size(1);
    const auto of_scored = [&](const Tensor& x) { return x.narrow(1, x.size(1) - scored, scored); };
    const Tensor target = boundary_target(input, output);
    if (target.defined()) counts_.compare(of_scored(found.hard).detach() > 0.5, target);
    if (o_.boundaries.type == BoundaryType::kGumbel) {
      const Tensor hard = of_scored(found.hard);
      return o_.boundaries.loss == BoundaryOptions::Loss::kRange
                 ? range_prior_loss(hard, o_.boundaries.least_share(), o_.boundaries.prior)
                 : binomial_prior_loss(hard, o_.boundaries.prior);
    }
    if (!target.defined()) {
      if (!is_training()) return {};
      throw DataError(
          "model.boundaries.type is unigram, and the training data come without a segmentation to learn from\n"
          "give model.boundaries.tokenizer, or use another type such as gumbel");
    }
    return boundary_cross_entropy(of_scored(found.logits), target,
                                  o_.boundaries.loss == BoundaryOptions::Loss::kPublished);
  }

  /// The predictor's targets for the scored tokens: [B, P] bool; undefined if they are unknown. For gumbel, which has
  /// no teacher, the spaces.
  Tensor boundary_target(const ModelInput& input, const ModelOutput& output) const {
    const std::int64_t scored = output.hidden.size(1);
    const std::int64_t first = input.tokens.size(1) - scored;
    if (o_.boundaries.type == BoundaryType::kEntropy) return entropy_spikes(output.logits(), o_.boundaries.window);
    if (o_.boundaries.type == BoundaryType::kGumbel) {
      return space_ ? spaces(input.tokens.narrow(1, first, scored)) : Tensor();
    }
    return input.boundaries.defined() ? input.boundaries.narrow(1, first, scored).to(torch::kBool) : Tensor();
  }

  /// Values of the scored tokens (Nawrot et al. 2023, figure 2): the uncertainty about the next token, in bits; whether
  /// that is a spike; where groups end, and the predictor's probability of it. [B, P] each.
  void trace_tokens(const Boundaries& found, ModelOutput& output) const {
    const Tensor logits = output.logits();
    const auto of_scored = [&](const Tensor& x) {
      return x.detach().narrow(1, x.size(1) - logits.size(1), logits.size(1));
    };
    output.token_values["entropy"] = predictive_entropy(logits) / std::numbers::ln2;
    output.token_values["spike"] = entropy_spikes(logits, o_.boundaries.window);
    if (found.hard.defined()) output.token_values["boundary"] = of_scored(found.hard) > 0.5;
    if (found.logits.defined()) output.token_values["boundary_probability"] = torch::sigmoid(of_scored(found.logits));
  }

  /// Sinusoids are a table that grows with the longest block so far.
  RelativePositions relative_positions(std::int64_t length) {
    if (!sinusoids_.defined() || sinusoids_.size(0) < length || sinusoids_.options().device() != word_emb_.device() ||
        sinusoids_.scalar_type() != word_emb_.scalar_type()) {
      sinusoids_ = sinusoid_table(length, o_.width, word_emb_.options().requires_grad(false));
    }
    return {.sinusoids = sinusoids_, .content_bias = content_bias_, .position_bias = position_bias_};
  }

  Tensor spaces(const Tensor& tokens) const { return tokens == space_.value(); }
  /// Whole tiles of 64 with the null group. More are taken as soon as a row needs them, fewer if two tiles are left
  /// over.
  void make_room(std::int64_t groups) {
    constexpr std::int64_t kRoomStep = 64;
    const std::int64_t needed = (groups / kRoomStep + 1) * kRoomStep - 1;
    if (needed > group_room_ || needed + kRoomStep < group_room_) group_room_ = needed;
  }

  /// Tokens per boundary as counted since the last reset; before any count, the expected value.
  double shortening() const {
    if (!o_.pools()) return 1;
    const std::vector<double> counts = counts_.read();
    const double positions = counts[BoundaryCounts::kPositions];
    if (positions > 0) return positions / std::max(1.0, counts[BoundaryCounts::kBoundaries]);
    if (o_.boundaries.type == BoundaryType::kFixed) return static_cast<double>(o_.boundaries.factor);
    return o_.boundaries.type == BoundaryType::kGumbel ? 1 / o_.boundaries.prior : kGuessedShortening;
  }

  /// Multiply-adds of one layer for one of `length` positions: its four projections, its feed-forward, and for each
  /// position that it sees (half of all on average) two scores and the sum of values. Position keys do not count,
  /// because they are the same for all rows and blocks.
  double layer_multiply_adds(double length) const {
    const auto width = static_cast<double>(o_.width);
    return 4 * width * width + 2 * width * static_cast<double>(o_.feed_forward) + 3 * width * (length + 1) / 2;
  }

  HourglassOptions o_;
  std::optional<std::int64_t> space_;    // id of the space, if the vocabulary has one
  Tensor word_emb_;                      // [V, D]
  Tensor content_bias_, position_bias_;  // r_w_bias, r_r_bias [H, d]
  Tensor null_group_;                    // [1, 1, D]
  Tensor down_weight_, down_bias_;       // [D]
  Tensor final_weight_, final_bias_;     // [V, D], [V]
  std::vector<TransformerXlStage> stages_;
  BoundaryPredictor predictor_;
  Tensor sinusoids_;  // [longest so far, D]
  BoundaryCounts counts_;
  std::int64_t group_room_ = 0;  // of recorded steps
};

}  // namespace

std::shared_ptr<LanguageModel> make_hourglass(const ModelOptions& options, std::int64_t symbols) {
  return std::make_shared<Hourglass>(options.get<HourglassOptions>(), symbols);
}

}  // namespace xlm
