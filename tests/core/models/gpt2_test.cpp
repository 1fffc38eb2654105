// GPT-2 and its recurrence against golden numbers (tests/golden/README.md names their source).
#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "bench/rerun_recorder.h"
#include "core/eval/evaluation.h"
#include "core/models/model_folder.h"
#include "tests/core/models/golden_gpt2.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using Pool = RecurrenceOptions::Pool;

constexpr double kGptTolerance = 1e-11;  // both in double: only the order of sums differs

const Json& gpt2_golden() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/gpt2.json");
  return golden;
}

TEST(Gpt2, LogitsLossAndGradientsEqualTransformers) {
  for (const bool tied : {true, false}) {
    const Json& expected = gpt2_golden().at("gpt2").at(tied ? "tied" : "untied");
    Gpt2Options options = gpt2_options();
    options.tied = tied;
    const auto model = gpt2_golden_model(options);
    const torch::Tensor logits = model->forward(gpt2_tokens(), {}).logits();
    expect_golden_logits(logits[1][-1], expected.at("logits_row_1_last"));
    expect_golden_logits(logits[2][4], expected.at("logits_row_2_token_4"));
    const torch::Tensor loss = torch::cross_entropy_loss(logits.flatten(0, 1), gpt2_targets().flatten());
    EXPECT_NEAR(loss.item<double>(), expected.at("loss").get<double>(), kGptTolerance);
    loss.backward();
    expect_golden_gradients(*model, expected.at("gradient_norms"));
  }
}

/// Documents are independent. Their first tokens are left out, or scored after the end-of-text symbol.
TEST(Gpt2, LossesOfDocumentsEqualTransformers) {
  const Json& golden = gpt2_golden().at("documents");
  TemporaryFolder folder;
  std::string ids;
  const torch::Tensor text = gpt2_text().flatten();
  for (std::int64_t i = 0; i < text.numel(); ++i) ids += static_cast<char>(text[i].item<std::int64_t>());
  write_file(folder.path() / "tokens", ids);
  Split split{TokenFile(folder.path() / "tokens", 1)};
  split.documents = golden.at("begin").get<std::vector<std::int64_t>>();
  Vocabulary vocabulary{Vocabulary::Unit::kCharacter, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}};
  vocabulary.symbols.emplace_back("<|endoftext|>");
  TokenSource source(split, {});
  source.set_vocabulary(vocabulary);
  ASSERT_GE(golden.at("losses").size(), 8U);
  for (const Json& expected : golden.at("losses")) {
    Gpt2Options options = gpt2_options();
    options.window = expected.at("window");
    options.overlap = expected.at("overlap");
    const auto model = gpt2_golden_model(options);
    const SplitSettings settings{.rows = 3, .first_token = expected.at("first_token").get<bool>()};
    const SplitLoss loss = evaluate_split(*model, source, settings, [](auto, auto) { return true; });
    EXPECT_EQ(loss.tokens, expected.at("tokens")) << expected;
    EXPECT_NEAR(loss.loss * static_cast<double>(loss.tokens), expected.at("nats").get<double>(), 1e-9) << expected;
  }
}

TEST(Gpt2, OtherActivationsAndScalesEqualTransformers) {
  const Json& computations = gpt2_golden().at("computations");
  EXPECT_EQ(computations.size(), Gpt2Options::kActivationNames.size());
  for (const Json& expected : computations) {
    const auto choice = [&](const char* key, const auto& names) {
      return std::find(names.begin(), names.end(), expected.at(key).get<std::string>()) - names.begin();
    };
    Gpt2Options options = gpt2_options();
    options.activation = static_cast<Gpt2Options::Activation>(choice("activation", Gpt2Options::kActivationNames));
    options.attention_scale =
        static_cast<Gpt2Options::AttentionScale>(choice("attention_scale", Gpt2Options::kAttentionScaleNames));
    const auto model = gpt2_golden_model(options);
    const torch::Tensor logits = model->forward(gpt2_tokens(), {}).logits();
    const torch::Tensor loss = torch::cross_entropy_loss(logits.flatten(0, 1), gpt2_targets().flatten());
    EXPECT_NEAR(loss.item<double>(), expected.at("loss").get<double>(), kGptTolerance) << expected.at("activation");
    loss.backward();
    expect_golden_gradients(*model, expected.at("gradient_norms"));
  }
}

struct RecurrenceCase {
  Gpt2Options options;
  const Json* expected;
};

std::vector<RecurrenceCase> recurrence_cases() {
  std::vector<RecurrenceCase> cases;
  for (const Json& entry : gpt2_golden().at("recurrence")) {
    Gpt2Options options = gpt2_options();
    options.window = entry.at("window");
    options.overlap = entry.at("overlap");
    const auto pool = entry.at("pool").get<std::string>();
    options.recurrence.pool = pool == "mean" ? Pool::kMean : pool == "max" ? Pool::kMax : Pool::kAttention;
    options.recurrence.insert_layer = entry.at("insert_layer");
    options.recurrence.hidden = entry.at("hidden").get<std::vector<std::int64_t>>();
    options.recurrence.embeddings = entry.at("embeddings");
    options.recurrence.pool_repeated = entry.at("pool_repeated");
    cases.push_back({options, &entry});
  }
  return cases;
}

TEST(Gpt2, RecurrenceEqualsANaiveLoopGradientThroughTimeIncluded) {
  for (const auto& [options, expected] : recurrence_cases()) {
    for (const ActivationPolicy policy : {ActivationPolicy::kKeep, ActivationPolicy::kRecompute}) {
      const auto model = gpt2_golden_model(options);
      const torch::Tensor loss = windows_loss(*model, gpt2_tokens(), gpt2_targets(), policy);
      EXPECT_NEAR(loss.item<double>(), expected->at("loss").get<double>(), kGptTolerance);
      loss.backward();
      expect_golden_gradients(*model, expected->at("gradient_norms"));
    }
  }
}

TEST(Gpt2, TheFirstWindowRunsUnmodifiedAndOutputsKeepTheirNumber) {
  Gpt2Options options = gpt2_options();
  const auto plain = gpt2_golden_model(options);
  options.recurrence = {.pool = Pool::kMean, .hidden = {8}, .embeddings = 3};
  const auto recurrent = make_model(options, kGptSymbols);
  recurrent->to(torch::kDouble);
  load_weights(*recurrent, plain->weights(), "plain", Missing::kAdditions);
  const ModelOutput first = recurrent->forward(gpt2_tokens(), recurrent->initial_state(kGptBatch));
  EXPECT_TRUE(torch::equal(first.logits(), plain->forward(gpt2_tokens(), {}).logits()));
  const ModelOutput second = recurrent->forward(gpt2_tokens(), first.state);
  EXPECT_EQ(second.logits().sizes(), first.logits().sizes());
  EXPECT_EQ(first.state.front().sizes(), (std::vector<std::int64_t>{kGptBatch, 3, 16}));
  EXPECT_FALSE(torch::allclose(second.logits(), first.logits()));
}

TEST(Gpt2, ScoredTokensAreNotSeenBefore) {
  for (const auto& [options, expected] : recurrence_cases()) {
    const auto model = gpt2_golden_model(options);
    model->eval();
    const torch::Tensor before = scored_logits(*model, gpt2_tokens());
    for (std::int64_t t = 1; t < kGptLength; ++t) {
      const torch::Tensor changed = gpt2_tokens().clone();
      changed.narrow(1, t, 1) = (changed.narrow(1, t, 1) + 1) % kGptSymbols;
      const torch::Tensor after = scored_logits(*model, changed);
      // Position t − 1 predicts token t.
      EXPECT_TRUE(torch::allclose(after.narrow(1, 0, t), before.narrow(1, 0, t), 1e-12, 1e-12)) << t;
      EXPECT_FALSE(torch::allclose(after.narrow(1, t, 1), before.narrow(1, t, 1))) << t;
    }
  }
}

TEST(Gpt2, ReadingWithKeysAndValuesKeptEqualsComputingEveryWindow) {
  std::vector<Gpt2Options> all{gpt2_options(), gpt2_options(), gpt2_options()};
  all[0].window = 7;
  all[1].window = 7;
  all[1].overlap = 3;
  all[2].window = 5;
  all[2].overlap = 4;
  for (const auto& [options, expected] : recurrence_cases()) all.push_back(options);
  for (const Gpt2Options& options : all) {
    const auto model = gpt2_golden_model(options);
    model->eval();
    expect_reading_equals_windows(*model);
    expect_reading_equals_windows(*model, [] { return std::make_unique<RerunRecorder>(); });
  }
}

constexpr std::int64_t kCostedSymbols = 7;

/// The cost of a token of a model with windows of 300 tokens: flops_per_token, or paper_flops.
double cost_of_token(const std::string& name, Gpt2Options options, std::int64_t overlap, Pool pool) {
  options.overlap = overlap;
  options.recurrence.pool = pool;
  return make_model(options, kCostedSymbols)->costs(0).at(name);
}

TEST(Gpt2, CostsEqualThePapers) {
  // Yoshida et al. 2020, tables 1 and 2, by overlap.
  const std::map<std::int64_t, double> printed{{0, 1.75e8},  {5, 1.78e8},   {10, 1.81e8},  {30, 1.94e8}, {50, 2.10e8},
                                               {75, 2.33e8}, {100, 2.62e8}, {150, 3.50e8}, {200, 5.25e8}};
  for (const auto pool : {Pool::kNone, Pool::kMean}) {
    const auto flops = [pool](const Gpt2Options& options, std::int64_t overlap) {
      return cost_of_token("paper_flops", options, overlap, pool);
    };
    const double disjoint = flops({}, 0);  // GPT-2 small; a smaller model shows the effect of overlap
    const Gpt2Options small{.width = 16, .layers = 2};
    for (const auto& [overlap, expected] : printed) {
      const double whole = disjoint * flops(small, overlap) / flops(small, 0);
      EXPECT_NEAR(whole, expected, 0.005 * expected) << overlap;
    }
  }
}

TEST(Gpt2, LogitsCostOnceForAScoredTokenAndTheRecurrenceLittle) {
  const Gpt2Options small{.width = 16, .layers = 2};
  const double logits = 2.0 * 16 * kCostedSymbols;
  for (const std::int64_t overlap : {0, 30, 200}) {
    const auto both = [&](Pool pool) {
      return std::pair{cost_of_token("flops_per_token", small, overlap, pool),
                       cost_of_token("paper_flops", small, overlap, pool)};
    };
    const auto [plain, paper] = both(Pool::kNone);
    EXPECT_NEAR(plain - paper, logits, 1e-6) << overlap;
    const auto [recurrent, same] = both(Pool::kMean);
    EXPECT_EQ(same, paper);
    EXPECT_GT(recurrent, plain);
    EXPECT_LT(recurrent - plain, 0.05 * paper) << overlap;
  }
}

TEST(Gpt2, InsertedLayersCost) {
  const double k = 16;
  Gpt2Options options{.width = 16, .layers = 3};
  const auto with = [&](std::int64_t layer, std::int64_t embeddings) {
    options.recurrence.insert_layer = layer;
    options.recurrence.embeddings = embeddings;
    return cost_of_token("flops_per_token", options, 0, Pool::kMean);
  };
  const double of_layer = 4 * k * k / 300 + 4 * k;  // keys and values of a window, and each token's use of them
  EXPECT_NEAR(with(0, 1) - with(2, 1), 2 * of_layer, 1e-9) << "in all layers, and in one";
  EXPECT_EQ(with(1, 1), with(2, 1));
  EXPECT_NEAR(with(0, 2) - with(2, 2), 4 * of_layer, 1e-9);
}

TEST(Gpt2, ImpossibleOptionsAreNamed) {
  const auto problem = [](Gpt2Options options) {
    const auto found = options.problem();
    return found ? found->first : "";
  };
  EXPECT_EQ(problem({}), "");
  EXPECT_EQ(problem({.window = 1025}), "window");
  EXPECT_EQ(problem({.window = 300, .overlap = 300}), "overlap");
  EXPECT_EQ(problem({.layers = 3, .recurrence = {.pool = Pool::kMean, .insert_layer = 4}}), "recurrence.insert_layer");
  EXPECT_EQ(problem({.width = 100, .heads = 3}), "heads");
  Gpt2Options whole;
  TrainOptions train{.block = 0};
  whole.overlap = 30;
  whole.complete(train);
  EXPECT_EQ(train.block, 300 + 19 * 270);
}

}  // namespace
}  // namespace xlm
