// Patches that begin where a small model is unsure: its entropies, its threshold, and taking it in.
#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
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
