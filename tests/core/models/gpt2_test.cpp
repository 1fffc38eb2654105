// GPT-2 and its recurrence against golden numbers (tests/golden/README.md names their source); Hugging Face's folders.
#include <algorithm>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "core/api/gpt2_options.h"
#include "core/eval/evaluation.h"
#include "core/models/capabilities.h"
#include "core/models/model_costs.h"
#include "core/models/model_folder.h"
#include "core/schemes/windows_loss.h"
#include "tests/core/models/golden_values.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using Pool = RecurrenceOptions::Pool;

constexpr std::int64_t kGptSymbols = 11;
constexpr std::int64_t kGptBatch = 3;
constexpr std::int64_t kGptLength = 23;
constexpr double kGptTolerance = 1e-11;  // both in double: only the order of sums differs

Gpt2Options gpt2_options() {
  return {.width = 16,
          .heads = 4,
          .layers = 3,
          .feed_forward = 24,
          .positions = 32,
          .dropout = 0,
          .attention_dropout = 0,
          .window = kGptLength};
}

/// Weights by a formula, with the alphabetical place of a name as its index; in double.
std::shared_ptr<LanguageModel> gpt2_golden_model(const Gpt2Options& options) {
  const auto model = make_model(options, kGptSymbols);
  model->to(torch::kDouble);
  fill_golden_weights(*model, [](const std::string& name) -> GoldenScale {
    if (name.find("ln_") != std::string::npos && name.ends_with("weight")) return {.mean = 1, .scale = 0.2};
    return {.scale = name == "wte.weight" || name == "recurrence.alpha" ? 1.0 : 0.3};
  });
  return model;
}

torch::Tensor gpt2_text() { return golden_text(kGptBatch, kGptLength + 1, kGptSymbols); }
torch::Tensor gpt2_tokens() { return gpt2_text().narrow(1, 0, kGptLength); }
torch::Tensor gpt2_targets() { return gpt2_text().narrow(1, 1, kGptLength); }

const Json& gpt2_golden() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/gpt2.json");
  return golden;
}

void expect_gradients(const LanguageModel& model, const Json& norms) {
  for (const auto& [name, weight] : model.weights()) {
    const double norm = norms.at(name).get<double>();
    const double own = weight.grad().defined() ? weight.grad().norm().item<double>() : 0;
    EXPECT_NEAR(own, norm, 1e-9 * norm + 1e-12) << name;
  }
  EXPECT_EQ(norms.size(), model.weights().size());
}

TEST(Gpt2, LogitsLossAndGradientsEqualTransformers) {
  for (const bool tied : {true, false}) {
    const Json& expected = gpt2_golden().at("gpt2").at(tied ? "tied" : "untied");
    Gpt2Options options = gpt2_options();
    options.tied = tied;
    const auto model = gpt2_golden_model(options);
    const torch::Tensor logits = model->forward(gpt2_tokens(), {}).logits();
    for (std::size_t v = 0; v < kGptSymbols; ++v) {
      const auto symbol = static_cast<std::int64_t>(v);
      EXPECT_NEAR(logits[1][-1][symbol].item<double>(), expected.at("logits_row_1_last").at(v).get<double>(), 1e-10);
      EXPECT_NEAR(logits[2][4][symbol].item<double>(), expected.at("logits_row_2_token_4").at(v).get<double>(), 1e-10);
    }
    const torch::Tensor loss = torch::cross_entropy_loss(logits.flatten(0, 1), gpt2_targets().flatten());
    EXPECT_NEAR(loss.item<double>(), expected.at("loss").get<double>(), kGptTolerance);
    loss.backward();
    expect_gradients(*model, expected.at("gradient_norms"));
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
    expect_gradients(*model, expected.at("gradient_norms"));
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
      expect_gradients(*model, expected->at("gradient_norms"));
    }
  }
}

TEST(Gpt2, TheFirstWindowRunsUnmodifiedAndOutputsKeepTheirNumber) {
  Gpt2Options options = gpt2_options();
  const auto plain = gpt2_golden_model(options);
  options.recurrence = {.pool = Pool::kMean, .hidden = {8}, .embeddings = 3};
  const auto recurrent = make_model(options, kGptSymbols);
  recurrent->to(torch::kDouble);
  load_weights(*recurrent, {plain->weights().begin(), plain->weights().end()}, "plain", Missing::kAdditions);
  const ModelOutput first = recurrent->forward(gpt2_tokens(), recurrent->initial_state(kGptBatch));
  EXPECT_TRUE(torch::equal(first.logits(), plain->forward(gpt2_tokens(), {}).logits()));
  const ModelOutput second = recurrent->forward(gpt2_tokens(), first.state);
  EXPECT_EQ(second.logits().sizes(), first.logits().sizes());
  EXPECT_EQ(first.state.front().sizes(), (std::vector<std::int64_t>{kGptBatch, 3, 16}));
  EXPECT_FALSE(torch::allclose(second.logits(), first.logits()));
}

/// Logits of every scored prediction, in the order of the text: [B, N, V].
torch::Tensor scored_logits(LanguageModel& model, const torch::Tensor& tokens) {
  const torch::NoGradGuard no_grad;
  const WindowShape shape = windows_of(model);
  State state = model.initial_state(tokens.size(0));
  std::vector<torch::Tensor> parts;
  std::int64_t scored_to = 0;
  for (std::int64_t begin = 0; scored_to < tokens.size(1); begin += shape.window - shape.overlap) {
    const std::int64_t count = std::min(shape.window, tokens.size(1) - begin);
    ModelOutput output =
        model.forward(ModelInput{.tokens = tokens.narrow(1, begin, count), .scored = begin + count - scored_to}, state);
    parts.push_back(output.logits());
    state = std::move(output.state);
    scored_to = begin + count;
  }
  return torch::cat(parts, 1);
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
    const torch::Tensor row = gpt2_tokens().narrow(0, 1, 1);
    const torch::Tensor expected = scored_logits(*model, row)[0];  // [N, V]
    for (const std::int64_t prompt : {1, 4, 7, 12}) {
      const auto reader = capability<ReadsIncrementally>(*model)->reader(kGptLength);
      torch::Tensor logits = reader->read(row[0].narrow(0, 0, prompt));
      for (std::int64_t t = prompt; t <= kGptLength; ++t) {
        EXPECT_TRUE(torch::allclose(logits, expected[t - 1], 1e-9, 1e-10)) << prompt << " " << t;
        if (t < kGptLength) logits = reader->read(row[0].narrow(0, t, 1));
      }
    }
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

class Gpt2Folder : public testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(3);
    model_ = make_model(gpt2_options(), kGptSymbols);
    model_->eval();
    for (const auto& [name, weight] : model_->weights()) {
      if (name.ends_with("bias")) weight.data().normal_();
      weights_.emplace_back("transformer." + name, weight.detach());
    }
  }

  fs::path folder(const std::string& name) {
    const fs::path path = folder_.path() / name;
    create_folders(path);
    return path;
  }
  void expect_loads(const fs::path& path, double tolerance = 0) {
    const Vocabulary letters = vocabulary();
    const LoadedModel loaded = load_model_folder(path, gpt2_options(), &letters);
    loaded.model->eval();
    EXPECT_TRUE(torch::allclose(loaded.model->forward(gpt2_tokens(), {}).logits(),
                                model_->forward(gpt2_tokens(), {}).logits(), 0, tolerance));
  }
  static Vocabulary vocabulary() {
    Vocabulary letters;
    for (std::int64_t i = 0; i < kGptSymbols; ++i) letters.symbols.emplace_back(1, static_cast<char>('a' + i));
    return letters;
  }
  static std::string error_of(const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  std::shared_ptr<LanguageModel> model_;
  NamedTensors weights_;
};

TEST_F(Gpt2Folder, IsReadWithPrefixBuffersAndAStoredOutput) {
  NamedTensors stored = weights_;
  stored.emplace_back("transformer.h.0.attn.bias", torch::ones({1, 1, 32, 32}, torch::kByte));
  stored.emplace_back("h.1.attn.masked_bias", torch::tensor(-1e4F));
  stored.emplace_back("lm_head.weight", weights_.front().second);
  write_safetensors(folder("prefixed") / "model.safetensors", stored);
  expect_loads(folder("prefixed"));
  stored.back().second = stored.back().second + 1;
  write_safetensors(folder("other") / "model.safetensors", stored);
  EXPECT_NE(error_of([&] { expect_loads(folder("other")); }).find("tied to 'wte.weight'"), std::string::npos);
}

TEST_F(Gpt2Folder, CostsOfAModelThatBeginsThereReadNoWeights) {
  const fs::path path = folder("costs");
  write_file(path / "model.safetensors", "no weights");
  Gpt2Options plain = gpt2_options();
  const NamedValues expected = model_costs(plain, kGptSymbols, 8);
  plain.pretrained = path.string();
  EXPECT_EQ(model_costs(plain, kGptSymbols, 8), expected);
}

TEST_F(Gpt2Folder, IsReadInHalfPrecision) {
  for (const auto type : {torch::kHalf, torch::kBFloat16}) {
    NamedTensors stored;
    for (const auto& [name, weight] : weights_) {
      stored.emplace_back(name, weight.to(type));
    }
    write_safetensors(folder("half") / "model.safetensors", stored);
    expect_loads(folder("half"), 0.05);
  }
}

TEST_F(Gpt2Folder, IsReadFromShards) {
  const fs::path path = folder("shards");
  const NamedTensors first(weights_.begin(), weights_.begin() + 5);
  const NamedTensors second(weights_.begin() + 5, weights_.end());
  write_safetensors(path / "model-1-of-2.safetensors", first);
  write_safetensors(path / "model-2-of-2.safetensors", second);
  Json map = Json::object();
  for (const auto& [name, tensor] : first) map[name] = "model-1-of-2.safetensors";
  for (const auto& [name, tensor] : second) map[name] = "model-2-of-2.safetensors";
  const fs::path index = path / "model.safetensors.index.json";
  write_file(index, Json{{"weight_map", map}}.dump());
  expect_loads(path);

  Json wrong = map;
  wrong["transformer.nothing"] = "model-2-of-2.safetensors";
  write_file(index, Json{{"weight_map", wrong}}.dump());
  EXPECT_NE(error_of([&] { expect_loads(path); }).find("'transformer.nothing'; it does not"), std::string::npos);
  wrong = map;
  wrong["transformer.wte.weight"] = "../model.safetensors";
  write_file(index, Json{{"weight_map", wrong}}.dump());
  EXPECT_NE(error_of([&] { expect_loads(path); }).find("no file name"), std::string::npos);
  write_file(index, Json{{"weight_map", map}}.dump());
  fs::remove(path / "model-2-of-2.safetensors");
  EXPECT_NE(error_of([&] { expect_loads(path); }).find("which is not there"), std::string::npos);
}

TEST_F(Gpt2Folder, IsWrittenWithHuggingFacesConfig) {
  const fs::path path = folder("written");
  write_model_folder(path, *model_, vocabulary(), "model: {}\n");
  Gpt2Options read;
  read.adopt(read_json(path / "config.json"), "config.json");
  EXPECT_EQ(read.width, 16);
  EXPECT_EQ(read.heads, 4);
  EXPECT_EQ(read.layers, 3);
  EXPECT_EQ(read.feed_forward, 24);
  EXPECT_EQ(read.positions, 32);
  EXPECT_TRUE(read.tied);
  EXPECT_THROW(read.adopt(Json{{"model_type", "llama"}}, "x"), DataError);
  EXPECT_THROW(read.adopt(Json{{"n_embd", 0}}, "x"), DataError);
  EXPECT_THROW(read.adopt(Json{{"n_embd", 17}}, "x"), UsageError);
  EXPECT_THROW(Gpt2Options().adopt(Json{{"activation_function", 768}}, "x"), DataError);
}

// The names of GPT2LMHeadModel: all but the output layer begin with "transformer.". Without that prefix a file counts
// as one of GPT2Model. A model with tied weights has no output layer and is such a file.
TEST_F(Gpt2Folder, IsWrittenWithHuggingFacesNames) {
  const auto names_in = [](const fs::path& path) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : read_safetensors(path / "model.safetensors").tensors) names.push_back(name);
    return names;
  };
  write_model_folder(folder("tied"), *model_, vocabulary(), "model: {}\n");
  EXPECT_THAT(names_in(folder("tied")), testing::Not(testing::Contains(testing::StartsWith("transformer."))));

  Gpt2Options options = gpt2_options();
  options.tied = false;
  const auto untied = make_model(options, kGptSymbols);
  const fs::path path = folder("untied");
  write_model_folder(path, *untied, vocabulary(), "model: {}\n");
  std::vector<std::string> names = names_in(path);
  EXPECT_EQ(names.size(), untied->weights().size());
  EXPECT_EQ(std::erase(names, "lm_head.weight"), 1U);
  EXPECT_THAT(names, testing::Each(testing::StartsWith("transformer.")));
  EXPECT_THAT(names, testing::Contains("transformer.wte.weight"));

  const auto expect_equal = [&](LanguageModel& model) {
    for (const auto& [name, weight] : untied->weights()) {
      EXPECT_TRUE(torch::equal(model.named_parameters()[name], weight)) << name;
    }
  };
  expect_equal(*load_model_folder(path, options).model);
  const auto beginning = make_model(options, kGptSymbols);
  initialize_from(*beginning, source_weights(path), options, vocabulary());
  expect_equal(*beginning);
  options.pretrained = path.string();
  expect_equal(*make_model(options, kGptSymbols));
  options.recurrence.pool = Pool::kMean;
  expect_equal(*make_model(options, kGptSymbols));
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
