// What every model of the registry must do.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/runtime/safetensors.h"
#include "core/train/optimizer.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kSymbolCount = 13;
constexpr std::int64_t kRows = 2;
constexpr std::int64_t kLength = 24;

/// Makes the options of any model small: sizes by the names that models share.
class Shrink : public OptionVisitor {
 public:
  void field(const OptionInfo& info, bool& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, std::string& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, double& value) override {
    if (info.name.ends_with("dropout")) value = 0;
  }
  void field(const OptionInfo& info, std::int64_t& value) override {
    if (info.name == "width") value = 16;
    if (info.name == "heads") value = 2;
    if (info.name == "feed_forward") value = 32;
    if (info.name == "layers") value = 2;
    if (info.name == "span") value = 20;
    if (info.name == "span_ramp") value = 4;
  }
  void field(const OptionInfo& info, std::vector<std::int64_t>& value) override {
    if (info.name == "layers") value.assign(one_stage ? 1 : value.size(), 1);
  }
  void choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) override {
    if (info.name == choice_name) {
      index = choice_index % names.size();
    } else if (others > 0) {
      index = others % names.size();
    }
    if (choices.count(std::string(info.name)) == 0) choices[std::string(info.name)] = names.size();
  }
  bool one_stage = false;  // where lists of several stages do not go with the choice
  std::size_t others = 0;  // what the other choices are, where their defaults do not go with it
  std::string choice_name;
  std::size_t choice_index = 0;
  std::map<std::string, std::size_t> choices;

 protected:
  void begin_group(std::string_view name, std::string_view help) override { (void)name, (void)help; }
  void end_group() override {}
};

struct Case {
  std::string name;
  ModelOptions options;
};

/// What a failing test prints; the name is GoogleTest's.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

/// Every model, small, with every value of every choice that it offers.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for_each_model([&](auto options) {
    Shrink found;
    options.visit(found);
    const auto add = [&](const std::string& choice, std::size_t index) {
      auto small = decltype(options){};
      for (const auto& [one_stage, others] : {std::pair{false, 0U}, std::pair{true, 0U}, std::pair{false, 1U}}) {
        Shrink shrink;
        shrink.choice_name = choice;
        shrink.choice_index = index;
        shrink.one_stage = one_stage;
        shrink.others = others;
        small = decltype(options){};
        small.visit(shrink);
        if (!small.problem()) break;
      }
      std::string name = std::string(small.kType) + (choice.empty() ? "" : "_" + choice + std::to_string(index));
      std::replace(name.begin(), name.end(), '-', '_');
      cases.push_back({name, small});
    };
    if (found.choices.empty()) add("", 0);
    for (const auto& [choice, count] : found.choices) {
      for (std::size_t i = 0; i < count; ++i) add(choice, i);
    }
  });
  return cases;
}

Vocabulary letters_with_a_space() {
  Vocabulary vocabulary;
  for (std::int64_t i = 0; i < kSymbolCount; ++i) vocabulary.symbols.emplace_back(1, static_cast<char>('a' + i));
  vocabulary.symbols[3] = " ";
  return vocabulary;
}

class EveryModel : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    torch::manual_seed(11);
    model_ = make_model(GetParam().options, letters_with_a_space());
    tokens_ = torch::randint(kSymbolCount, {kRows, kLength});
    model_->eval();
  }
  torch::Tensor logits(const torch::Tensor& tokens) { return logits_of(*model_, {.tokens = tokens}); }
  static torch::Tensor logits_of(LanguageModel& model, const ModelInput& input) {
    const torch::NoGradGuard no_grad;
    torch::manual_seed(5);  // models that sample draw the same
    return model.forward(input, model.initial_state(input.tokens.size(0))).logits();
  }
  std::shared_ptr<LanguageModel> model_;
  torch::Tensor tokens_;
};

TEST_P(EveryModel, IsFedAsItsOptionsSay) { EXPECT_EQ(model_->scheme(), text_scheme(GetParam().options)); }

TEST_P(EveryModel, GivesALogitPerSymbolAndToken) {
  EXPECT_EQ(logits(tokens_).sizes(), (std::vector<std::int64_t>{kRows, kLength, kSymbolCount}));
}

TEST_P(EveryModel, DoesNotSeeLaterTokens) {
  const torch::Tensor before = logits(tokens_);
  for (std::int64_t t = 0; t < kLength; ++t) {
    torch::Tensor changed = tokens_.clone();
    changed.narrow(1, t, 1) = (changed.narrow(1, t, 1) + 1) % kSymbolCount;
    const torch::Tensor after = logits(changed);
    EXPECT_TRUE(torch::allclose(before.narrow(1, 0, t), after.narrow(1, 0, t), 1e-5, 1e-6)) << "token " << t;
    EXPECT_FALSE(torch::equal(before.narrow(1, t, 1), after.narrow(1, t, 1))) << "token " << t;
  }
}

TEST_P(EveryModel, StateCarriedOverBlocksEqualsOnePass) {
  if (model_->scheme() != LanguageModel::Scheme::kStreaming) GTEST_SKIP() << "it is fed window by window";
  const torch::NoGradGuard no_grad;
  State state = model_->initial_state(kRows);
  std::vector<torch::Tensor> parts;
  for (const auto& [begin, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 7}, {7, 1}, {8, 16}}) {
    ModelOutput output = model_->forward(tokens_.narrow(1, begin, count), state);
    parts.push_back(output.logits());
    state = output.state;
  }
  EXPECT_TRUE(torch::allclose(torch::cat(parts, 1), logits(tokens_), 1e-4, 1e-5));
}

TEST_P(EveryModel, RowsDoNotMix) {
  const torch::Tensor both = logits(tokens_);
  for (std::int64_t row = 0; row < kRows; ++row) {
    torch::Tensor changed = tokens_.clone();
    changed[1 - row] = (changed[1 - row] * 5 + 1) % kSymbolCount;
    EXPECT_TRUE(torch::allclose(both[row], logits(changed)[row], 1e-4, 1e-5)) << row;
  }
  // Alone, a row may be padded to another length inside.
  EXPECT_TRUE(torch::allclose(both.narrow(0, 0, 1), logits(tokens_.narrow(0, 0, 1)), 1e-4, 1e-5));
}

TEST_P(EveryModel, GivesTheLogitsOfTheScoredTokensAlone) {
  if (model_->scheme() == LanguageModel::Scheme::kStreaming) GTEST_SKIP() << "it is fed block by block";
  const torch::Tensor last = logits_of(*model_, {.tokens = tokens_, .scored = 5});
  EXPECT_TRUE(torch::allclose(last, logits(tokens_).narrow(1, kLength - 5, 5), 1e-5, 1e-6));
}

TEST_P(EveryModel, SavedAndLoadedGivesTheSameLogits) {
  const TemporaryFolder folder;
  const Vocabulary vocabulary = letters_with_a_space();
  write_model_folder(folder.path(), *model_, vocabulary, "model: {}\n");
  const LoadedModel loaded = load_model_folder(folder.path(), GetParam().options);
  loaded.model->eval();
  EXPECT_TRUE(torch::equal(logits_of(*loaded.model, {.tokens = tokens_}), logits(tokens_)));
  EXPECT_EQ(loaded.vocabulary, vocabulary);
}

TEST_P(EveryModel, SameSeedGivesTheSameWeights) {
  torch::manual_seed(11);
  const auto again = make_model(GetParam().options, kSymbolCount);
  for (std::size_t i = 0; i < again->weights().size(); ++i) {
    EXPECT_TRUE(torch::equal(again->weights()[i].second, model_->weights()[i].second)) << again->weights()[i].first;
  }
}

TEST_P(EveryModel, OverfitsOneBatch) {
  model_->train();
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, {model_->weights().begin(), model_->weights().end()});
  double loss = 0;
  for (std::int64_t step = 1; step <= 150; ++step) {
    optimizer.zero_gradients();
    const ModelInput input{.tokens = tokens_.narrow(1, 0, kLength - 1),
                           .boundaries = tokens_.narrow(1, 0, kLength - 1) % 3 == 0};
    const ModelOutput output = model_->forward(input, model_->initial_state(kRows));
    torch::Tensor total =
        torch::cross_entropy_loss(output.logits().flatten(0, 1), tokens_.narrow(1, 1, kLength - 1).flatten());
    loss = total.item<double>();
    if (output.auxiliary_loss.defined()) total = total + output.auxiliary_loss;
    total.backward();
    optimizer.step(0.02, step);
    model_->after_step();
  }
  EXPECT_LT(loss, 0.2);
}

TEST_P(EveryModel, ReportsItsCost) {
  EXPECT_EQ(model_->costs(kLength).at("params"), static_cast<double>(model_->parameter_count()));
  EXPECT_GT(model_->costs(kLength).at("flops_per_token"), 0);
}

TEST_P(EveryModel, RefusesWeightsThatDoNotFit) {
  NamedTensors weights{model_->weights().begin(), model_->weights().end()};
  NamedTensors missing{weights.begin() + 1, weights.end()};
  EXPECT_THROW(load_weights(*model_, missing, "test"), DataError);
  NamedTensors unknown = weights;
  unknown.emplace_back("layers.0.nothing", torch::zeros({1}));
  EXPECT_THROW(load_weights(*model_, unknown, "test"), DataError);
  NamedTensors misshapen = weights;
  misshapen.front().second = torch::zeros({1, 1, 1, 1});
  EXPECT_THROW(load_weights(*model_, misshapen, "test"), DataError);
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryModel, testing::ValuesIn(all_cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace xlm
