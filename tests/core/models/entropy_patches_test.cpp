// Patches that begin where a small model is unsure: its entropies, its threshold, and taking it in.
#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/gpt2_options.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/nn/boundary_predictor.h"
#include "tests/core/models/golden_patches.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A transformer of the same blocks, as it is trained before.
std::shared_ptr<LanguageModel> small_model_for(const BytePatchesOptions& options) {
  TransformerOptions small{.width = options.boundaries.width, .layers = options.boundaries.layers};
  small.positions = options.learnt_positions ? options.positions : 0;
  small.block = options.block;
  small.block.windows = {options.local_window};
  torch::manual_seed(12);
  auto model = make_model(small, some_bytes());
  model->eval();
  if (small.block.weights == BlockOptions::Weights::kSimple) return model;
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model->weights()) {  // freshly drawn weights are too small to be sure of anything
    if (weight.dim() > 1) weight.mul_(20);
  }
  return model;
}

/// Entropies are those of the transformer evaluated on the same windows. The threshold gives the wanted mean length.
TEST(EntropyPatches, EntropiesAreThoseOfTheModelThatWasTakenIn) {
  const torch::NoGradGuard no_grad;
  for (const std::size_t variant : {8U, 9U}) {
    BytePatchesOptions options = patches_options(golden_patches().at("variants").at(variant));
    options.boundaries.factor = 4;
    options.places = kPatchesLength;
    const auto small = small_model_for(options);
    const auto model = make_model(options, some_bytes());
    auto* holds = capability<HoldsInnerModel>(*model);
    holds->take_inner_model(small->weights(), "small");
    const std::string chosen = holds->fit_inner_model(patches_tokens());
    EXPECT_THAT(chosen, HasSubstr("bytes each on validation"));
    const torch::Tensor begins = capability<PoolsTokens>(*model)->boundaries({.tokens = patches_tokens()});
    EXPECT_EQ(begins.sum().item<std::int64_t>(), kPatchesBatch * kPatchesLength / 4);

    const torch::Tensor entropies =
        predictive_entropy(small->forward(patches_tokens(), {}).logits()) / std::numbers::ln2;
    const bool global = options.boundaries.rule == PatchBoundaryOptions::Rule::kGlobal;
    double lowest_begun = std::numeric_limits<double>::infinity();
    double highest_other = -lowest_begun;
    for (std::int64_t row = 0; row < kPatchesBatch; ++row) {
      for (std::int64_t t = global ? 1 : 2; t < kPatchesLength; ++t) {
        const double before = global ? 0 : entropies[row][t - 2].item<double>();
        const double surprise = entropies[row][t - 1].item<double>() - before;
        double& end = begins[row][t].item<bool>() ? lowest_begun : highest_other;
        end = begins[row][t].item<bool>() ? std::min(end, surprise) : std::max(end, surprise);
      }
    }
    EXPECT_LT(highest_other, lowest_begun + 1e-5) << chosen;
  }
}

/// The text of fit_inner_model is read a few rows at a time.
TEST(EntropyPatches, TheThresholdIsThatOfAllRowsTogether) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(8));
  options.boundaries.factor = 4;
  options.places = kPatchesLength;
  ASSERT_EQ(options.boundaries.rule, PatchBoundaryOptions::Rule::kGlobal);
  const auto small = small_model_for(options);
  const auto model = make_model(options, some_bytes());
  auto* holds = capability<HoldsInnerModel>(*model);
  holds->take_inner_model(small->weights(), "small");
  torch::Tensor rows = golden_text(9, kPatchesLength, some_bytes().size());
  rows.select(1, 0).fill_(kBeginning);
  holds->fit_inner_model(rows);

  const torch::NoGradGuard no_grad;
  const torch::Tensor entropies = predictive_entropy(small->forward(rows, {}).logits()) / std::numbers::ln2;
  const torch::Tensor sorted =
      std::get<0>(entropies.narrow(1, 0, kPatchesLength - 1).flatten().sort(0, /*descending=*/true));
  const std::int64_t patches = 9 * kPatchesLength / 4 - 9;  // and nine that begin the rows
  double threshold = 0;
  for (const auto& [name, weight] : model->weights()) {
    if (name == "model.boundaries.threshold") threshold = weight[0].item<double>();
  }
  EXPECT_NEAR(threshold, sorted[patches].item<double>(), 1e-5);
}

TEST(EntropyPatches, AModelOfOtherOptionsIsNotTakenIn) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(8));
  options.block.rotary = BlockOptions::Rotary::kNeighbours;
  const auto model = make_model(options, some_bytes());
  const auto* holds = capability<HoldsInnerModel>(*model);
  const std::int64_t window = options.local_window;
  TransformerOptions small{.width = options.boundaries.width, .layers = options.boundaries.layers};
  small.block = options.block;
  small.block.windows = {window};
  const auto complaint = [&](const std::function<void(TransformerOptions&)>& change) {
    TransformerOptions other = small;
    change(other);
    try {
      holds->check_inner_options(other, "small");
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint([](auto& /*same*/) {}), "none");
  EXPECT_EQ(complaint([](auto& other) { other.block.dropout = 0.1; }), "none") << "predictions have none";
  EXPECT_EQ(complaint([&](auto& other) { other.block.windows = {window, window, 1}; }), "none") << "of two layers";
  EXPECT_EQ(complaint([&](auto& other) { other.block.key_value_heads = other.width / other.block.head_width; }), "none")
      << "as many as 0 means";
  EXPECT_THAT(complaint([](auto& other) { other.block.windows = {0}; }),
              HasSubstr("small: model.windows is 0, and must be " + std::to_string(window)));
  EXPECT_THAT(complaint([](auto& other) { other.block.windows.clear(); }), HasSubstr("model.windows is []"));
  EXPECT_THAT(complaint([](auto& other) { other.block.rope_theta = 500; }), HasSubstr("model.rope_theta is 500"));
  EXPECT_THAT(complaint([](auto& other) { other.block.head_width = 6; }),
              HasSubstr("model.head_width is 6, and must be 4"));
  EXPECT_THAT(complaint([](auto& other) { other.block.activation = BlockOptions::Activation::kRelu2; }),
              HasSubstr("model.activation is relu2, and must be "));
  EXPECT_THAT([&] { holds->check_inner_options(Gpt2Options{}, "small"); },
              ThrowsMessage<DataError>(HasSubstr("model.type is gpt2, and must be transformer")));
}

TEST(EntropyPatches, AModelOfAnotherShapeIsNotTakenIn) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(8));
  const auto model = make_model(options, some_bytes());
  auto* holds = capability<HoldsInnerModel>(*model);
  EXPECT_EQ(holds->inner_model(), "") << "none is named";
  const auto complaint = [&](const BytePatchesOptions& of_small) {
    return [&, of_small] { holds->take_inner_model(small_model_for(of_small)->weights(), "small"); };
  };
  BytePatchesOptions other = options;
  other.boundaries.width = 8;
  EXPECT_THAT(complaint(other), ThrowsMessage<DataError>(HasSubstr("model.width=12, model.layers=2")));
  other = options;
  other.boundaries.layers = 1;
  EXPECT_THAT(complaint(other), ThrowsMessage<DataError>(HasSubstr("has no tensor 'model.layers.1.")));
  other.boundaries.layers = 3;
  EXPECT_THAT(complaint(other), ThrowsMessage<DataError>(HasSubstr("tensors, and the small model has")));
  EXPECT_NO_THROW(complaint(options)());
  options.boundaries.model = "runs/small/model";
  EXPECT_EQ(capability<HoldsInnerModel>(*make_model(options, some_bytes()))->inner_model(), "runs/small/model");
}

}  // namespace
}  // namespace xlm
