// The model over patches of bytes against golden numbers (tests/golden/README.md says whose), and its parts by hand.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/byte_patches_options.h"
#include "core/api/learning_rate.h"
#include "core/models/capabilities.h"
#include "core/schemes/scheme.h"
#include "core/train/muon.h"
#include "core/train/optimizer.h"
#include "tests/core/models/golden_patches.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// As training computes it.
torch::Tensor patches_loss(LanguageModel& model) {
  return scheme_of(model)
      .loss(model, {.tokens = patches_tokens(), .boundaries = patches_segmentation()}, patches_targets(), {},
            ActivationPolicy::kKeep)
      .total;
}

/// Of the model that says where patches begin, and its threshold: they do not learn.
bool is_of_entropies(const std::string& name) {
  return name.starts_with("model.boundaries.model.") || name == "model.boundaries.threshold";
}

TEST(BytePatches, PlacesLogitsLossAndGradientsEqualGoldenNumbers) {
  for (const Json& variant : golden_patches().at("variants")) {
    SCOPED_TRACE(variant.at("boundaries").dump() + variant.at("places").dump());
    const auto model = golden_patches_model(patches_options(variant));
    const torch::Tensor begins = capability<PoolsTokens>(*model)->boundaries({.tokens = patches_tokens()});
    const ModelOutput output =
        model->forward(ModelInput{.tokens = patches_tokens(), .boundaries = patches_segmentation()}, {});
    const torch::Tensor logits = output.logits();
    for (std::int64_t row = 0; row < kPatchesBatch; ++row) {
      const auto index = static_cast<std::size_t>(row);
      const torch::Tensor none = torch::zeros({kPatchesLength}, torch::kBool);
      const torch::Tensor expected = none.clone();
      for (const Json& place : variant.at("begins").at(index))
        expected.select(0, place.get<std::int64_t>()).fill_(true);
      EXPECT_TRUE(torch::equal(begins[row], expected)) << row;
      const torch::Tensor left_out = output.left_out.defined() ? output.left_out[row] : none;
      const auto scored = variant.at("scored").at(index).get<std::int64_t>();
      EXPECT_TRUE(torch::equal(left_out, torch::arange(kPatchesLength) >= scored)) << row;
    }
    expect_golden_logits(logits[1][-1], variant.at("logits_row_1_last"));
    expect_golden_logits(logits[2][4], variant.at("logits_row_2_token_4"));
    const torch::Tensor loss = patches_loss(*model);
    EXPECT_NEAR(loss.item<double>(), variant.at("loss").get<double>(), 1e-11);
    loss.backward();
    expect_golden_gradients(*model, variant.at("gradient_norms"));
    for (const auto& [name, weight] : model->weights()) {
      EXPECT_EQ(weight.grad().defined(), !is_of_entropies(name)) << name;
    }
  }
}

TEST(BytePatches, TenUpdatesEqualGoldenNumbers) {
  for (const Json& variant : golden_patches().at("variants")) {
    expect_ten_golden_updates(*golden_patches_model(patches_options(variant)), variant.at("trained"), patches_loss);
  }
}

/// In float32, by the kernels that training uses. A later byte may begin a patch, end one, or leave no place for
/// others: sizes stay the same, so that earlier logits have the same bits.
TEST(BytePatches, ALaterByteChangesNoBitOfEarlierLogits) {
  for (const Json& variant : golden_patches().at("variants")) {
    SCOPED_TRACE(variant.at("boundaries").dump() + variant.at("places").dump());
    const auto model = golden_patches_model(patches_options(variant));
    model->to(torch::kFloat);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor tokens = patches_tokens();
    const ModelOutput before = model->forward(tokens, {});
    for (std::int64_t t = 1; t < kPatchesLength; ++t) {
      for (const std::int64_t shift : {1, 5, 12}) {
        torch::Tensor changed = tokens.clone();
        changed.select(1, t) = (changed.select(1, t) + shift) % some_bytes().size();
        const ModelOutput after = model->forward(changed, {});
        EXPECT_TRUE(torch::equal(before.logits().narrow(1, 0, t), after.logits().narrow(1, 0, t))) << "byte " << t;
        if (before.left_out.defined()) {
          EXPECT_TRUE(torch::equal(before.left_out.narrow(1, 0, t), after.left_out.narrow(1, 0, t))) << "byte " << t;
        }
      }
    }
  }
}

TEST(BytePatches, OnlyTheLastPredictionsOnRequest) {
  const auto model = golden_patches_model(patches_options(golden_patches().at("variants").at(1)));
  const ModelOutput all = model->forward(patches_tokens(), {});
  const ModelOutput last = model->forward(ModelInput{.tokens = patches_tokens(), .scored = 14}, {});
  EXPECT_TRUE(torch::allclose(last.logits(), all.logits().narrow(1, kPatchesLength - 14, 14), 1e-10, 1e-12));
  EXPECT_TRUE(torch::equal(last.left_out, all.left_out.narrow(1, kPatchesLength - 14, 14)));
}

/// Of the second golden variant: 7, 8 and 7 patches; 13, 19 and 15 of 29 predictions are scored.
TEST(BytePatches, CountsPatchesAndWhatIsLeftOut) {
  const auto model = golden_patches_model(patches_options(golden_patches().at("variants").at(1)));
  EXPECT_TRUE(model->statistics().empty());
  model->forward(patches_tokens(), {});
  EXPECT_DOUBLE_EQ(model->statistics().at("shortening_factor"), 3.0 * 29 / (7 + 8 + 7));
  EXPECT_DOUBLE_EQ(model->statistics().at("left_out_share"), 1 - (13 + 19 + 15) / (3.0 * 29));
  const Counts counts = model->counts();
  model->reset_statistics();
  EXPECT_TRUE(model->statistics().empty());
  model->set_counts(counts);
  EXPECT_DOUBLE_EQ(model->statistics().at("shortening_factor"), 3.0 * 29 / (7 + 8 + 7));
}

/// Two places: the beginning and the first space. The second space leaves no place.
TEST(BytePatches, ReadingBeyondItsPlacesBeginsAgainWithTheLaterHalf) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(0));
  options.places = 2;
  const auto model = golden_patches_model(options);
  model->eval();
  const torch::NoGradGuard no_grad;
  const auto logits_behind = [&](const torch::Tensor& text) {
    const torch::Tensor beginning = torch::full({1}, kBeginning, torch::kLong);
    return model->forward(torch::cat({beginning, text}).unsqueeze(0), {}).logits()[0][-1];
  };
  const torch::Tensor text = torch::tensor({1, 2, 0, 14, 15, 16, 0}, torch::kLong);  // "ab cde "
  const auto reader = capability<ReadsIncrementally>(*model)->reader({.context = 100});
  for (std::int64_t t = 0; t < 6; ++t) {
    const torch::Tensor logits = reader->read(text.narrow(0, t, 1));
    EXPECT_TRUE(torch::allclose(logits, logits_behind(text.narrow(0, 0, t + 1)), 1e-9, 1e-10)) << t;
  }
  const torch::Tensor again = text.narrow(0, 4, 3);  // of 7 bytes
  EXPECT_TRUE(torch::allclose(reader->read(text.narrow(0, 6, 1)), logits_behind(again), 1e-9, 1e-10));
}

TEST(BytePatches, ReadingBeyondItsContextBeginsAgain) {
  const auto model = golden_patches_model(patches_options(golden_patches().at("variants").at(0)));
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor text = patches_targets()[0];
  const auto logits_of = [&](std::int64_t first, std::int64_t count) {
    const torch::Tensor beginning = torch::full({1}, kBeginning, torch::kLong);
    return model->forward(torch::cat({beginning, text.narrow(0, first, count)}).unsqueeze(0), {}).logits()[0][-1];
  };
  const auto reader = capability<ReadsIncrementally>(*model)->reader({.context = 8});
  EXPECT_TRUE(torch::allclose(reader->read(text.narrow(0, 0, 12)), logits_of(5, 7), 1e-9, 1e-10)) << "a long prompt";
  EXPECT_TRUE(torch::allclose(reader->read(text.narrow(0, 12, 1)), logits_of(9, 4), 1e-9, 1e-10)) << "one byte more";
}

/// 2·(multiply-adds) by hand. 12 bytes have at most 6 patches, and there are 4 places: each byte has a third of one.
TEST(BytePatches, CostsAreOfAllPlaces) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(0));
  options.places = 4;
  options.local_window = 5;
  const NamedValues costs = golden_patches_model(options)->costs(12);
  const double local = 4 * 8 * 8 + 2 * 8 * 12;
  const double global = 4 * 16 * 16 + 2 * 16 * 24;
  const double keys = (1 + 2 + 3 + 4 + 5 * 8) / 12.0;
  const auto symbols = static_cast<double>(some_bytes().size());
  const double seen = 3 * (local + 2 * 8 * keys) + 2 * (global + 2 * 16 * 2.5) / 3 + 8 * symbols;
  const double published = 3 * (local + 2 * 8 * 5) + 2 * (global + 2 * 16 * 4) / 3 + 8 * symbols;
  EXPECT_NEAR(costs.at("flops_per_token"), 2 * seen, 1e-9);
  EXPECT_NEAR(costs.at("paper_flops"), 2 * published, 1e-9);
  EXPECT_EQ(costs.at("layers"), 5);
}

/// The same windows with a router: three matrices [8, 8] more, at every byte; with the predictor's two; and with a
/// small model of two layers that see eight bytes.
TEST(BytePatches, CostsCountWhatFindsBoundaries) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(0));
  options.places = 4;
  const double spacelike = golden_patches_model(options)->costs(12).at("flops_per_token");
  options.boundaries.type = PatchBoundaryOptions::Type::kRouter;
  const auto router = golden_patches_model(options);
  EXPECT_NEAR(router->costs(12).at("flops_per_token"), spacelike + 2 * 3 * 8 * 8, 1e-9);
  EXPECT_FALSE(router->costs_are_measured()) << "all places are computed";
  options.boundaries.type = PatchBoundaryOptions::Type::kUnigram;
  EXPECT_NEAR(golden_patches_model(options)->costs(12).at("flops_per_token"), spacelike + 2 * (8 * 12 + 12), 1e-9);
  options.boundaries.type = PatchBoundaryOptions::Type::kEntropy;
  const double small = 2 * (4 * 12 * 12 + 2 * 12 * 48 + 2 * 12 * 8) + 12 * static_cast<double>(some_bytes().size());
  EXPECT_NEAR(golden_patches_model(options)->costs(12).at("flops_per_token"), spacelike + 2 * small, 1e-9);
}

/// A matrix of 16 numbers a row has a quarter of the rate, and what works on bytes three times as much.
TEST(BytePatches, WhatWorksOnBytesMayLearnFaster) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(5));
  const auto rates = [&] {
    const auto model = make_model(options, some_bytes());
    std::map<std::string, double> found;
    for (const auto& [name, weight] : model->weights()) found[name] = rate_multipliers(*model)(name);
    return found;
  };
  const std::map<std::string, double> usual = rates();
  EXPECT_DOUBLE_EQ(usual.at("model.patches.0.self_attn.q_proj.weight"), 0.25);
  EXPECT_DOUBLE_EQ(usual.at("model.boundaries.pad"), 1);
  options.local_rate = 3;
  for (const auto& [name, rate] : rates()) {
    const bool of_patches = name.starts_with("model.patches.") || name == "model.embed_places.weight";
    EXPECT_DOUBLE_EQ(rate, (of_patches ? 1 : 3) * usual.at(name)) << name;
  }
  options.block.weights = BlockOptions::Weights::kGpt;
  EXPECT_DOUBLE_EQ(rates().at("model.before.0.mlp.up_proj.weight"), 3);
  EXPECT_DOUBLE_EQ(rates().at("model.patches.0.mlp.up_proj.weight"), 1);
}

/// Muon's matrices of local blocks move three times as far in each of four steps; those of patches as far as before.
TEST(BytePatches, WhatWorksOnBytesMayLearnFasterByMuon) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(5));
  const auto moves = [&] {  // of each step and weight
    torch::manual_seed(4);
    const auto model = make_model(options, some_bytes());
    const NamedTensors& weights = model->weights();
    Optimizer optimizer({.type = OptimizerOptions::Type::kMuon, .lr = 0.02, .adamw_lr = 0.003}, weights,
                        rate_multipliers(*model), part_multipliers(*model));
    torch::manual_seed(5);
    std::vector<NamedTensors> found;
    for (std::int64_t step = 1; step <= 4; ++step) {
      NamedTensors before;
      for (const auto& [name, weight] : weights) {
        before.emplace_back(name, weight.detach().clone());
        if (weight.requires_grad()) weight.mutable_grad() = torch::randn_like(weight.detach());
      }
      optimizer.step(0.02, step);
      for (std::size_t i = 0; i < weights.size(); ++i) before[i].second = weights[i].second.detach() - before[i].second;
      found.push_back(std::move(before));
    }
    return found;
  };
  const std::vector<NamedTensors> usual = moves();
  options.local_rate = 3;
  const std::vector<NamedTensors> faster = moves();
  std::map<double, int> matrices;  // by the factor
  for (std::size_t step = 0; step < usual.size(); ++step) {
    for (std::size_t i = 0; i < usual[step].size(); ++i) {
      const auto& [name, move] = usual[step][i];
      const double factor = name.starts_with("model.patches.") || name == "model.embed_places.weight" ? 1 : 3;
      EXPECT_TRUE(torch::allclose(faster[step][i].second, factor * move, 1e-3, 1e-5)) << name << " at step " << step;
      if (is_matrix_of_layer(name, move) && move.abs().max().item<double>() > 1e-3) ++matrices[factor];
    }
  }
  EXPECT_GE(matrices[1], 4);
  EXPECT_GE(matrices[3], 4);
}

/// Boundaries learn in training alone, and unigram needs what it learns from.
TEST(BytePatches, TheLossOfBoundariesIsOfTraining) {
  for (const std::size_t variant : {5U, 7U}) {
    const auto model = golden_patches_model(patches_options(golden_patches().at("variants").at(variant)));
    const ModelInput input{.tokens = patches_tokens(), .boundaries = patches_segmentation()};
    EXPECT_TRUE(model->forward(input, {}).auxiliary_loss.defined());
    model->eval();
    EXPECT_FALSE(model->forward(patches_tokens(), {}).auxiliary_loss.defined());
  }
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(7));
  EXPECT_EQ(tokenizer_of(*golden_patches_model(options)), "unigram-8");
  EXPECT_THAT([&] { golden_patches_model(options)->forward(patches_tokens(), {}); },
              ThrowsMessage<DataError>(HasSubstr("without a segmentation")));
  options.boundaries.type = PatchBoundaryOptions::Type::kFixed;
  EXPECT_EQ(tokenizer_of(*golden_patches_model(options)), "");
}

TEST(BytePatches, TracesHaveTheProbabilitiesOfBoundaries) {
  const auto model = golden_patches_model(patches_options(golden_patches().at("variants").at(5)));
  model->eval();
  const ModelOutput output = model->forward(ModelInput{.tokens = patches_tokens(), .traced = true}, {});
  const torch::Tensor probabilities = output.token_values.at("boundary_probability");
  EXPECT_FALSE(probabilities.requires_grad());
  EXPECT_TRUE(torch::equal(output.token_values.at("boundary"), probabilities > 0.5));
  EXPECT_TRUE(probabilities.select(1, 0).eq(1).all().item<bool>()) << "a beginning";
}

TEST(BytePatches, AWindowLongerThanItsPositionsIsRefused) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(0));
  options.positions = 28;
  EXPECT_THROW(golden_patches_model(options)->forward(patches_tokens(), {}), UsageError);
  options.learnt_positions = false;
  EXPECT_NO_THROW(golden_patches_model(options)->forward(patches_tokens(), {}));
}

TEST(BytePatches, BytePairsAndTextsWithoutSpacesAreRefused) {
  BytePatchesOptions options = patches_options(golden_patches().at("variants").at(0));
  const Vocabulary pairs{.unit = Vocabulary::Unit::kBpe, .symbols = {"a", "b", "ab"}};
  EXPECT_THAT([&] { make_model(options, pairs); }, ThrowsMessage<UsageError>(HasSubstr("--unit byte")));
  options.boundaries.type = PatchBoundaryOptions::Type::kWhitespace;
  const Vocabulary letters{.unit = Vocabulary::Unit::kByte, .symbols = {"a", "b"}};
  EXPECT_THAT([&] { make_model(options, letters); }, ThrowsMessage<UsageError>(HasSubstr("has no space")));
}

TEST(BytePatches, OptionsFollowFromOthers) {
  BytePatchesOptions options{.width = 384, .layers = 5};
  options.block.head_width = 64;
  TrainOptions train;
  train.block = 1000;
  options.complete(train);
  EXPECT_EQ(options.local_width, 192);
  EXPECT_EQ(options.local_window, 192);
  EXPECT_EQ(options.local_layers, 5);
  EXPECT_EQ(options.layers_before(), 2);
  EXPECT_EQ(options.feed_forward, 4 * 384);
  EXPECT_EQ(options.local_feed_forward, 4 * 192);
  EXPECT_EQ(options.positions, 1000);
  EXPECT_EQ(options.places, 166);
  EXPECT_EQ(options.problem(), std::nullopt);
  EXPECT_EQ(options.problem_with(train), std::nullopt);
  train.block = 1001;
  EXPECT_EQ(options.problem_with(train)->first, "positions");
  EXPECT_EQ(options.problem_with(EvalOptions{.context = 1000}), std::nullopt);
  EXPECT_EQ(options.problem_with(EvalOptions{.context = 1001})->first, "positions");
  options.places = 0;
  options.boundaries = {.type = PatchBoundaryOptions::Type::kFixed, .factor = 3};
  options.complete(train);
  EXPECT_EQ(options.places, 334);
  options.places = 0;
  options.boundaries = {.type = PatchBoundaryOptions::Type::kRouter, .factor = 5};
  options.complete(train);
  EXPECT_EQ(options.places, 266) << "a third more than a fifth of 1000";
}

TEST(BytePatches, OptionsThatDoNotGoTogetherAreRefused) {
  BytePatchesOptions options{.width = 128};
  options.block.head_width = 64;
  EXPECT_EQ(options.problem(), std::nullopt);
  options.local_width = 192;
  EXPECT_EQ(options.problem()->first, "local_width") << "wider than patches";
  options.local_width = 32;
  EXPECT_EQ(options.problem()->first, "local_width") << "no multiple of a head's";
  options.local_width = 64;
  options.block.key_value_heads = 2;
  EXPECT_EQ(options.problem()->first, "key_value_heads") << "one head alone";
  options.block.head_width = 48;
  EXPECT_EQ(options.problem()->first, "head_width");
}

TEST(BytePatches, BoundariesWithoutWhatTheyNeedAreRefused) {
  BytePatchesOptions options{.width = 128};
  options.boundaries = {.type = PatchBoundaryOptions::Type::kRouter, .factor = 1};
  EXPECT_EQ(options.problem()->first, "boundaries.factor");
  options.boundaries.factor = 2;
  EXPECT_EQ(options.problem(), std::nullopt);
  options.boundaries.type = PatchBoundaryOptions::Type::kUnigram;
  TrainOptions train;
  EXPECT_EQ(options.problem_with(train), std::nullopt) << "of a model that is not trained";
  train.steps = 10;
  EXPECT_EQ(options.problem_with(train)->first, "boundaries.tokenizer");
  options.boundaries.tokenizer = "unigram-8";
  EXPECT_EQ(options.problem_with(train), std::nullopt);
  options.boundaries.type = PatchBoundaryOptions::Type::kEntropy;
  EXPECT_EQ(options.problem_with(train)->first, "boundaries.model");
  options.boundaries.model = "small";
  EXPECT_EQ(options.problem_with(train), std::nullopt);
  options.boundaries.width = 100;
  EXPECT_EQ(options.problem()->first, "boundaries.width") << "no multiple of a head's";
  options.boundaries.width = 0;
  options.complete(train);
  EXPECT_EQ(options.boundaries.width, options.local_width);
  EXPECT_EQ(options.boundaries.layers, options.local_layers);
}

}  // namespace
}  // namespace xlm
