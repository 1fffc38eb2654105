// The hourglass against golden numbers (tests/golden/README.md names their source), and its parts by hand.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/hourglass_options.h"
#include "core/models/capabilities.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_values.h"

namespace xlm {
namespace {

using BoundaryType = BoundaryOptions::Type;
using Pooling = HourglassOptions::Pooling;

constexpr std::int64_t kHourglassSymbols = 11;
constexpr std::int64_t kHourglassBatch = 3;
constexpr std::int64_t kHourglassLength = 40;
constexpr std::int64_t kLast = 13;   // scored tokens, if not all are
constexpr double kTolerance = 1e-8;  // the published pooling divides by the number of tokens plus 1e-9

Vocabulary letters_and_space() {
  Vocabulary vocabulary{.unit = Vocabulary::Unit::kCharacter, .symbols = {" "}};
  while (vocabulary.size() < kHourglassSymbols)
    vocabulary.symbols.emplace_back(1, static_cast<char>('a' + vocabulary.size()));
  return vocabulary;
}

HourglassOptions hourglass_options(BoundaryType type, Pooling pooling = Pooling::kMean) {
  HourglassOptions options{.width = 16,
                           .heads = 4,
                           .feed_forward = 24,
                           .layers = {1, 2, 1},
                           .dropout = 0,
                           .attention_dropout = 0,
                           .pooling = pooling,
                           .boundaries = {.type = type, .factor = 3}};
  if (type == BoundaryType::kNone) options.layers = {3};
  return options;
}

/// A model with the weights of the golden numbers: a formula, with the alphabetical place of a name as its index.
std::shared_ptr<LanguageModel> golden_model(const HourglassOptions& options) {
  const auto model = make_model(options, letters_and_space());
  fill_golden_weights(*model, [](const std::string& name) -> GoldenScale {
    const bool norm = name.find("layer_norm") != std::string::npos || name.find("down_ln") != std::string::npos;
    if (norm && name.ends_with("weight")) return {.mean = 1, .scale = 0.2};
    const bool wide = name == "word_emb.weight" || name == "null_group" ||
                      (name.starts_with("boundary_predictor") && name.ends_with("2.weight"));
    return {.scale = wide ? 1.0 : 0.3};
  });
  model->to(torch::kDouble);
  return model;
}

torch::Tensor hourglass_text() { return golden_text(kHourglassBatch, kHourglassLength + 1, kHourglassSymbols); }

ModelInput golden_input(std::int64_t scored = 0) {
  return {
      .tokens = hourglass_text().narrow(1, 0, kHourglassLength),
      .positions = {},
      .boundaries =
          (golden_sequence(kHourglassBatch * kHourglassLength, 777) % 3 == 0).view({kHourglassBatch, kHourglassLength}),
      .scored = scored};
}

torch::Tensor golden_loss(const ModelOutput& output) {
  const std::int64_t scored = output.logits().size(1);
  return torch::cross_entropy_loss(output.logits().flatten(0, 1),
                                   hourglass_text().narrow(1, kHourglassLength + 1 - scored, scored).flatten());
}

ModelOutput golden_forward(LanguageModel& model, std::int64_t scored = 0) {
  torch::manual_seed(7);  // for the noise of gumbel
  return model.forward(golden_input(scored), {});
}

struct GoldenCase {
  BoundaryType type;
  Pooling pooling;
  bool in_range = false;  // the loss of gumbel

  std::string name() const {
    return std::string(BoundaryOptions::kTypeNames.at(static_cast<std::size_t>(type))) +
           (pooling == Pooling::kSubsample ? "_subsample" : "") + (in_range ? "_range" : "");
  }

  HourglassOptions model_options() const {
    HourglassOptions options = hourglass_options(type, pooling);
    if (in_range) {
      options.boundaries.loss = BoundaryOptions::Loss::kRange;
      options.boundaries.prior = 0.71;
      options.boundaries.prior_sd = 0.048;
      options.boundaries.range = 2.5;
    }
    return options;
  }
};

std::vector<GoldenCase> golden_cases() {
  std::vector<GoldenCase> cases{{BoundaryType::kNone, Pooling::kMean}};
  for (const auto type : {BoundaryType::kFixed, BoundaryType::kWhitespace, BoundaryType::kUnigram,
                          BoundaryType::kEntropy, BoundaryType::kGumbel}) {
    cases.push_back({type, Pooling::kMean});
    if (type != BoundaryType::kGumbel) cases.push_back({type, Pooling::kSubsample});
  }
  cases.push_back({BoundaryType::kGumbel, Pooling::kMean, /*in_range=*/true});
  return cases;
}

class HourglassGolden : public testing::TestWithParam<GoldenCase> {
 protected:
  void SetUp() override {
    model_ = golden_model(GetParam().model_options());
    model_->train();
    expected_ = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/hourglass.json").at(GetParam().name());
  }

  /// Loss, boundary loss and statistics of one call against the published ones.
  void expect_call(const Json& expected, std::int64_t scored) {
    model_->reset_statistics();
    const ModelOutput output = golden_forward(*model_, scored);
    EXPECT_NEAR(golden_loss(output).item<double>(), expected.at("loss").get<double>(), kTolerance);
    EXPECT_EQ(output.auxiliary_loss.defined(), expected.contains("boundary_loss"));
    if (expected.contains("boundary_loss")) {
      EXPECT_NEAR(output.auxiliary_loss.item<double>(), expected.at("boundary_loss").get<double>(), kTolerance);
    }
    const NamedValues statistics = model_->statistics();
    for (const auto* name : {"shortening_factor", "boundary_accuracy", "boundary_precision", "boundary_recall"}) {
      if (expected.contains(name)) {
        EXPECT_NEAR(statistics.at(name), expected.at(name).get<double>(), 1e-12) << name;
      }
    }
  }

  std::shared_ptr<LanguageModel> model_;
  Json expected_;
};

TEST_P(HourglassGolden, LossAndStatisticsEqualThePublishedOnes) {
  expect_call(expected_.at("whole"), 0);
  expect_call(expected_.at("last_13"), kLast);
}

TEST_P(HourglassGolden, GradientsEqualThePublishedOnes) {
  const ModelOutput output = golden_forward(*model_);
  torch::Tensor loss = golden_loss(output);
  if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
  loss.backward();
  expect_golden_gradients(*model_, expected_.at("gradient_norms"), kTolerance);
}

TEST_P(HourglassGolden, SixUpdatesEqualThePublishedOnes) {
  const OptimizerOptions options{.type = OptimizerOptions::Type::kAdam, .lr = 0.01, .clip_norm = 0.25};
  Optimizer optimizer(options, model_->weights());
  for (std::int64_t step = 1; step <= 6; ++step) {
    optimizer.zero_gradients();
    const ModelOutput output = golden_forward(*model_);
    torch::Tensor loss = golden_loss(output);
    EXPECT_NEAR(loss.item<double>(),
                expected_.at("training_losses").at(static_cast<std::size_t>(step - 1)).get<double>(), 1e-7)
        << step;
    if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
    loss.backward();
    optimizer.step(options.lr, step);
  }
}

INSTANTIATE_TEST_SUITE_P(Boundaries, HourglassGolden, testing::ValuesIn(golden_cases()),
                         [](const auto& instance) { return instance.param.name(); });

TEST(Hourglass, RowsWithFewerGroupsAreNotChangedByTheirNeighbours) {
  const auto model = golden_model(hourglass_options(BoundaryType::kWhitespace));
  model->eval();
  const torch::NoGradGuard no_grad;
  torch::Tensor tokens = hourglass_text().narrow(1, 0, kHourglassLength).clone();
  tokens[0] = tokens[0].clamp_min(1);   // no group at all
  tokens[1].narrow(0, 3, 20).fill_(0);  // many
  const torch::Tensor together = model->forward(tokens, {}).logits();
  for (std::int64_t row = 0; row < kHourglassBatch; ++row) {
    const torch::Tensor alone = model->forward(tokens.narrow(0, row, 1), {}).logits();
    EXPECT_LT((together.narrow(0, row, 1) - alone).abs().max().item<double>(), 1e-12) << row;
  }
}

TEST(Hourglass, FixedBoundariesFollowThePlaceInTheRow) {
  const auto model = golden_model(hourglass_options(BoundaryType::kFixed));
  model->eval();
  const torch::NoGradGuard no_grad;
  ModelInput input = golden_input();
  const torch::Tensor plain = model->forward(input, {}).logits();
  input.positions = torch::arange(300, 300 + kHourglassLength).expand({kHourglassBatch, kHourglassLength});
  EXPECT_TRUE(torch::equal(model->forward(input, {}).logits(), plain));  // 300 is a multiple of 3
  input.positions = input.positions + 1;
  EXPECT_FALSE(torch::allclose(model->forward(input, {}).logits(), plain));
}

/// −Σ (t log p + (1 − t) log(1 − p)) / n, where p are the predictor's probabilities, from a trace. The published loss
/// treats these as logits.
TEST(Hourglass, PredictorsLossIsTheCrossEntropyOfItsProbabilities) {
  HourglassOptions options = hourglass_options(BoundaryType::kUnigram);
  for (const auto loss : {BoundaryOptions::Loss::kLogits, BoundaryOptions::Loss::kPublished}) {
    for (const std::int64_t scored : {kHourglassLength, std::int64_t{5}}) {
      options.boundaries.loss = loss;
      const auto model = golden_model(options);
      ModelInput input = golden_input(scored);
      input.traced = true;
      const ModelOutput output = model->forward(input, {});
      const torch::Tensor probabilities = output.token_values.at("boundary_probability");
      const torch::Tensor targets = input.boundaries.narrow(1, kHourglassLength - scored, scored);
      ASSERT_EQ(probabilities.sizes(), targets.sizes());
      double sum = 0;
      for (std::int64_t row = 0; row < kHourglassBatch; ++row) {
        for (std::int64_t place = 0; place < scored; ++place) {
          double p = probabilities[row][place].item<double>();
          if (loss == BoundaryOptions::Loss::kPublished) p = 1 / (1 + std::exp(-p));
          sum -= std::log(targets[row][place].item<bool>() ? p : 1 - p);
        }
      }
      EXPECT_GT((probabilities.max() - probabilities.min()).item<double>(), 0.1) << "they must not all be alike";
      EXPECT_NEAR(output.auxiliary_loss.item<double>(), sum / static_cast<double>(targets.numel()), 1e-10);
    }
  }
}

TEST(Hourglass, AUnigramModelTrainsOnlyWithASegmentation) {
  const auto model = golden_model(hourglass_options(BoundaryType::kUnigram));
  EXPECT_THROW(model->forward(hourglass_text(), {}), DataError);
  model->eval();
  EXPECT_NO_THROW(model->forward(hourglass_text(), {}));
}

TEST(Hourglass, CountsParametersAndCostAsThePaperDoes) {
  HourglassOptions options;
  options.boundaries.type = BoundaryType::kFixed;
  const double fixed = make_model(options, 27)->costs(2048).at("params");
  EXPECT_NEAR(fixed, 41e6, 1e6);  // Nawrot et al. 2023, §4.2: about 41M
  options.boundaries.type = BoundaryType::kGumbel;
  EXPECT_NEAR(make_model(options, 27)->costs(2048).at("params") - fixed, 1e6, 1e5);  // the predictor about 1M more
  // Twice the factor halves the work of the eight middle layers, and quarters their attention.
  options.boundaries.type = BoundaryType::kFixed;
  const double two = make_model(options, 27)->costs(2048).at("flops_per_token");
  options.boundaries.factor = 4;
  const double four = make_model(options, 27)->costs(2048).at("flops_per_token");
  const auto middle = [](double positions) {
    return 8 * (4 * 512 * 512 + 2 * 512 * 2048 + 3 * 512 * (positions + 1) / 2) * positions / 2048;
  };
  EXPECT_NEAR(two - four, 2 * (middle(1025) - middle(513)), 1);
}

TEST(Hourglass, RefusesOptionsThatDoNotGoTogether) {
  const auto key_of = [](const auto& problem) { return problem ? problem->first : std::string(); };
  HourglassOptions options;
  EXPECT_EQ(key_of(options.problem()), "");
  options.layers = {2, 8};
  EXPECT_EQ(key_of(options.problem()), "layers");
  options.layers = {0, 0, 0};
  EXPECT_EQ(key_of(options.problem()), "layers");
  options.layers = {12};
  EXPECT_EQ(key_of(options.problem()), "layers");  // gumbel without a stage to pool for
  options.boundaries.type = BoundaryType::kNone;
  EXPECT_EQ(key_of(options.problem()), "");
  options.layers = {12, 0, 0};
  EXPECT_EQ(key_of(options.problem()), "");
  options.layers = {2, 8, 2};
  EXPECT_EQ(key_of(options.problem()), "layers");  // none with three stages
  options.boundaries = {.type = BoundaryType::kFixed, .factor = 65};
  EXPECT_EQ(key_of(options.problem_with({.block = 64})), "boundaries.factor");
  EXPECT_EQ(key_of(options.problem_with({.block = 65})), "");
  options.boundaries = {.type = BoundaryType::kEntropy};
  EXPECT_EQ(key_of(options.problem_with({.block = 1})), "boundaries.window");
  options.boundaries = {.type = BoundaryType::kGumbel, .loss = BoundaryOptions::Loss::kRange};
  EXPECT_EQ(key_of(options.problem()), "boundaries.prior_sd");
  options.boundaries.prior_sd = 0.02;
  EXPECT_EQ(key_of(options.problem()), "");
  options.boundaries.type = BoundaryType::kUnigram;
  EXPECT_EQ(key_of(options.problem()), "boundaries.loss");
  options.boundaries = {};
  options.width = 15;
  options.heads = 3;
  EXPECT_EQ(key_of(options.problem()), "width");
}

TEST(Hourglass, TheRangeEndsThreeDeviationsBelowThePriorUnlessAskedOtherwise) {
  BoundaryOptions options{.prior = 0.3, .loss = BoundaryOptions::Loss::kRange, .prior_sd = 0.02};
  EXPECT_DOUBLE_EQ(options.least_share(), 0.3 - 3 * 0.02);
  options.range = 1.5;
  EXPECT_DOUBLE_EQ(options.least_share(), 0.3 - 1.5 * 0.02);
}

TEST(Hourglass, WhitespaceBoundariesNeedASpace) {
  const HourglassOptions options = hourglass_options(BoundaryType::kWhitespace);
  const Vocabulary without{.unit = Vocabulary::Unit::kCharacter, .symbols = {"a", "b"}};
  EXPECT_THROW(make_model(options, without), UsageError);
  EXPECT_NO_THROW(make_model(hourglass_options(BoundaryType::kGumbel), without));
}

/// H(p) in bits, from the logits alone.
double entropy_by_hand(const torch::Tensor& logits) {
  double total = 0;
  for (std::int64_t v = 0; v < logits.size(0); ++v) total += std::exp(logits[v].item<double>());
  double bits = 0;
  for (std::int64_t v = 0; v < logits.size(0); ++v) {
    const double p = std::exp(logits[v].item<double>()) / total;
    bits -= p * std::log2(p);
  }
  return bits;
}

/// Nawrot et al. 2023, §3.1.3 and figure 2: the entropy of the next token, its spikes, and the ends of groups.
TEST(Hourglass, TracesEntropyAndGroupEnds) {
  for (const BoundaryType type : {BoundaryType::kEntropy, BoundaryType::kGumbel, BoundaryType::kWhitespace}) {
    const auto model = golden_model(hourglass_options(type));
    model->eval();
    const torch::NoGradGuard no_grad;
    ModelInput input = golden_input();
    torch::manual_seed(7);
    EXPECT_TRUE(model->forward(input, {}).token_values.empty());
    input.traced = true;
    model->reset_statistics();
    torch::manual_seed(7);
    const ModelOutput output = model->forward(input, {});
    torch::manual_seed(7);
    const torch::Tensor ends = capability<PoolsTokens>(*model)->boundaries(input);
    const torch::Tensor logits = output.logits();
    const auto& values = output.token_values;
    ASSERT_EQ(values.at("entropy").sizes(), input.tokens.sizes());
    for (std::int64_t row = 0; row < kHourglassBatch; ++row) {
      std::vector<double> entropy;
      for (std::int64_t t = 0; t < kHourglassLength; ++t) {
        entropy.push_back(entropy_by_hand(logits[row][t]));
        EXPECT_NEAR(values.at("entropy")[row][t].item<double>(), entropy.back(), 1e-9);
        bool spike = true;
        for (std::int64_t back = 1; back <= std::min<std::int64_t>(2, t); ++back) {
          spike = spike && entropy.back() > entropy[static_cast<std::size_t>(t - back)];
        }
        EXPECT_EQ(values.at("spike")[row][t].item<double>(), spike ? 1 : 0);
      }
    }
    EXPECT_TRUE(torch::equal(values.at("boundary"), ends));
    const double boundaries = values.at("boundary").sum().item<double>();
    EXPECT_GT(boundaries, 0);
    EXPECT_DOUBLE_EQ(model->statistics().at("shortening_factor"), kHourglassBatch * kHourglassLength / boundaries);
    EXPECT_EQ(values.contains("boundary_probability"), type != BoundaryType::kWhitespace);
    if (type == BoundaryType::kEntropy) {
      EXPECT_TRUE(torch::equal(values.at("boundary_probability") > 0.5, ends));
      EXPECT_LE(values.at("boundary_probability").max().item<double>(), 1);
    }
  }
}

TEST(Hourglass, TracesScoredTokensAsAll) {
  const auto model = golden_model(hourglass_options(BoundaryType::kFixed));
  model->eval();
  const torch::NoGradGuard no_grad;
  ModelInput input = golden_input();
  input.traced = true;
  const ModelOutput all = model->forward(input, {});
  input.scored = kLast;
  const ModelOutput last = model->forward(input, {});
  for (const char* name : {"entropy", "boundary"}) {
    const torch::Tensor expected = all.token_values.at(name).narrow(1, kHourglassLength - kLast, kLast);
    EXPECT_TRUE(torch::allclose(last.token_values.at(name).to(torch::kDouble), expected.to(torch::kDouble))) << name;
  }
}

TEST(Hourglass, WithoutABoundaryThereIsNoShorteningFactor) {
  HourglassOptions options = hourglass_options(BoundaryType::kFixed);
  options.boundaries.factor = 10 * kHourglassLength;
  const auto model = golden_model(options);
  model->eval();
  EXPECT_TRUE(model->statistics().contains("shortening_factor")) << "the expected one, before a text is read";
  const torch::NoGradGuard no_grad;
  ModelInput input = golden_input();
  input.scored = kLast;  // without the first token, which begins a group
  model->forward(input, {});
  EXPECT_FALSE(model->statistics().contains("shortening_factor"));
}

TEST(Hourglass, WithoutPoolingItHasEntropyAndNoBoundaries) {
  const auto model = golden_model(hourglass_options(BoundaryType::kNone));
  model->eval();
  const torch::NoGradGuard no_grad;
  ModelInput input = golden_input();
  input.traced = true;
  const auto values = model->forward(input, {}).token_values;
  EXPECT_TRUE(values.contains("entropy"));
  EXPECT_TRUE(values.contains("spike"));
  EXPECT_FALSE(values.contains("boundary"));
}

}  // namespace
}  // namespace xlm
