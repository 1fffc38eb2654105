// What every model of the registry must do.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/api/model_list.h"
#include "core/models/capabilities.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/runtime/safetensors.h"
#include "core/train/optimizer.h"
#include "tests/temporary_folder.h"
#include "tests/test_seed.h"

namespace xlm {
namespace {

constexpr std::int64_t kSymbolCount = 13;
constexpr std::int64_t kRows = 2;
constexpr std::int64_t kLength = 24;

/// The choices of a model's options, by dotted key: the name of the present value, and all names.
class Choices : public OptionVisitor {
 public:
  void field(const OptionInfo& info, bool& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, std::string& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, double& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, std::int64_t& value) override { (void)info, (void)value; }
  void field(const OptionInfo& info, std::vector<std::int64_t>& value) override { (void)info, (void)value; }
  void choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) override {
    const std::string key = group_ + std::string(info.name);
    present[key] = names.at(index);
    all[key] = {names.begin(), names.end()};
  }
  std::map<std::string, std::string> present;
  std::map<std::string, std::set<std::string>> all;

 protected:
  void begin_group(std::string_view name, std::string_view help) override {
    (void)help;
    group_ = std::string(name) + ".";
  }
  void end_group() override { group_.clear(); }

 private:
  std::string group_;
};

Choices choices_of(ModelOptions options) {
  Choices choices;
  options.visit(choices);
  return choices;
}

struct Case {
  std::string name;
  ModelOptions options;
};

/// What a failing test prints; the name is GoogleTest's.
// NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

/// "gpt2_2_mean": the model, its number, and the choices that are not the default.
std::string case_name(const ModelOptions& defaults, const ModelOptions& options, std::size_t number) {
  std::string name = options.type() + "_" + std::to_string(number);
  const Choices usual = choices_of(defaults);
  for (const auto& [key, value] : choices_of(options).present) {
    if (value != usual.present.at(key)) name += "_" + value;
  }
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Vocabulary letters_with_a_space() {
  Vocabulary vocabulary;
  for (std::int64_t i = 0; i < kSymbolCount; ++i) vocabulary.symbols.emplace_back(1, static_cast<char>('a' + i));
  vocabulary.symbols[3] = " ";
  return vocabulary;
}

/// The smallest models of every type.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (std::size_t i = 0; i < model_types().size(); ++i) {
    const ModelOptions& defaults = default_model_options(i);
    const std::vector<ModelOptions> smallest = defaults.smallest();
    for (std::size_t n = 0; n < smallest.size(); ++n) {
      cases.push_back({case_name(defaults, smallest[n], n), smallest[n]});
    }
  }
  return cases;
}

TEST(Registry, TheSmallestModelsTakeEveryValueOfEveryChoice) {
  for (std::size_t i = 0; i < model_types().size(); ++i) {
    const ModelOptions& defaults = default_model_options(i);
    std::map<std::string, std::set<std::string>> taken;
    for (const ModelOptions& options : defaults.smallest()) {
      EXPECT_EQ(options.type(), model_types()[i]);
      EXPECT_FALSE(options.problem()) << options.problem()->second;
      for (const auto& [key, value] : choices_of(options).present) taken[key].insert(value);
    }
    EXPECT_EQ(taken, choices_of(defaults).all) << model_types()[i];
  }
}

/// Flags of the text, for a model that learns from them.
torch::Tensor segmentation(const LanguageModel& model, const torch::Tensor& tokens) {
  return tokenizer_of(model).empty() ? torch::Tensor() : tokens % 3 == 0;
}

/// The smallest models that do something: the names of tests say what.
std::vector<Case> cases_where(bool (*does)(LanguageModel&)) {
  std::vector<Case> cases;
  for (const Case& each : all_cases()) {
    if (does(*make_model(each.options, letters_with_a_space()))) cases.push_back(each);
  }
  return cases;
}

class EveryModel : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    torch::manual_seed(static_cast<std::uint64_t>(test_seed(11)));
    model_ = make_model(GetParam().options, letters_with_a_space());
    tokens_ = torch::randint(kSymbolCount, {kRows, kLength});
    model_->eval();
  }
  torch::Tensor logits(const torch::Tensor& tokens) { return logits_of(*model_, {.tokens = tokens}); }
  static torch::Tensor logits_of(LanguageModel& model, const ModelInput& input) {
    const torch::NoGradGuard no_grad;
    torch::manual_seed(5);  // so that models that sample draw the same
    return model.forward(input, model.initial_state(input.tokens.size(0))).logits();
  }
  std::shared_ptr<LanguageModel> model_;
  torch::Tensor tokens_;
};

class ModelWithState : public EveryModel {};
class ModelOfWindows : public EveryModel {};
class ModelThatReadsOn : public EveryModel {};
class ModelWithGroups : public EveryModel {};

/// Matrices that begin as zeros get numbers: what passes through them must not come from later tokens either.
void open_paths(LanguageModel& model) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.weights()) {
    if (weight.dim() > 1 && weight.eq(0).all().item<bool>()) weight.normal_(0, 0.3);
  }
}

TEST_P(EveryModel, IsFedAsItsOptionsSay) { EXPECT_EQ(model_->scheme(), GetParam().options.scheme()); }

TEST_P(EveryModel, GivesALogitPerSymbolAndToken) {
  EXPECT_EQ(logits(tokens_).sizes(), (std::vector<std::int64_t>{kRows, kLength, kSymbolCount}));
}

TEST_P(EveryModel, DoesNotSeeLaterTokens) {
  open_paths(*model_);
  const torch::Tensor before = logits(tokens_);
  for (std::int64_t t = 0; t < kLength; ++t) {
    torch::Tensor changed = tokens_.clone();
    changed.narrow(1, t, 1) = (changed.narrow(1, t, 1) + 1) % kSymbolCount;
    const torch::Tensor after = logits(changed);
    EXPECT_TRUE(torch::allclose(before.narrow(1, 0, t), after.narrow(1, 0, t), 1e-5, 1e-6)) << "token " << t;
    EXPECT_FALSE(torch::equal(before.narrow(1, t, 1), after.narrow(1, t, 1))) << "token " << t;
  }
}

TEST_P(ModelWithState, CarriedOverBlocksEqualsOnePass) {
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
  // Alone, the model may pad a row to another length.
  EXPECT_TRUE(torch::allclose(both.narrow(0, 0, 1), logits(tokens_.narrow(0, 0, 1)), 1e-4, 1e-5));
}

TEST_P(ModelOfWindows, GivesOnlyLogitsOfScoredTokens) {
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
  torch::manual_seed(static_cast<std::uint64_t>(test_seed(11)));
  const auto again = make_model(GetParam().options, kSymbolCount);
  for (std::size_t i = 0; i < again->weights().size(); ++i) {
    EXPECT_TRUE(torch::equal(again->weights()[i].second, model_->weights()[i].second)) << again->weights()[i].first;
  }
}

TEST_P(EveryModel, OverfitsOneBatch) {
  model_->train();
  Optimizer optimizer({.type = OptimizerOptions::Type::kAdam}, model_->weights());
  double loss = 0;
  constexpr std::int64_t kSteps = 150;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    optimizer.zero_gradients();
    const torch::Tensor seen = tokens_.narrow(1, 0, kLength - 1);
    const ModelInput input{.tokens = seen, .boundaries = segmentation(*model_, seen)};
    const ModelOutput output = model_->forward(input, model_->initial_state(kRows));
    torch::Tensor total =
        torch::cross_entropy_loss(output.logits().flatten(0, 1), tokens_.narrow(1, 1, kLength - 1).flatten());
    loss = total.item<double>();
    if (output.auxiliary_loss.defined()) total = total + output.auxiliary_loss;
    total.backward();
    // The rate falls to 0. At a constant rate boundaries keep changing, and those of the last step depend on rounding.
    optimizer.step(0.02 * static_cast<double>(kSteps - step + 1) / kSteps, step);
    model_->after_step();
  }
  EXPECT_LT(loss, 0.2);
  RecordProperty("loss", std::to_string(loss));
}

TEST_P(EveryModel, ReportsItsCost) {
  EXPECT_EQ(model_->costs(kLength).at("params"), static_cast<double>(model_->parameter_count()));
  EXPECT_GT(model_->costs(kLength).at("flops_per_token"), 0);
  EXPECT_EQ(model_costs(GetParam().options, kSymbolCount, kLength), model_->costs(kLength))
      << "of one that is never made";
}

TEST_P(EveryModel, ReadsWindowsIfItsSchemeSaysSo) {
  const auto* reads = capability<ReadsWindows>(*model_);
  EXPECT_EQ(reads != nullptr, model_->scheme() == TextScheme::kWindows);
  if (reads == nullptr) return;
  EXPECT_GE(reads->windows().overlap, 0);
  EXPECT_GT(reads->windows().window, reads->windows().overlap);
}

TEST_P(ModelThatReadsOn, GivesTheSameLogitsTokenByToken) {
  const torch::NoGradGuard no_grad;
  const auto reader = capability<ReadsIncrementally>(*model_)->reader({.context = kLength + 1});
  // One window, behind a beginning if its scheme has one.
  const bool begins = model_->scheme() == TextScheme::kRandomWindows;
  const torch::Tensor text =
      begins ? torch::cat({torch::full({kRows, 1}, kBeginning, torch::kLong), tokens_}, 1) : tokens_;
  const torch::Tensor whole = logits(text)[0].narrow(0, begins ? 1 : 0, kLength);
  for (std::int64_t t = 0; t < kLength; ++t) {
    EXPECT_TRUE(torch::allclose(reader->read(tokens_[0].narrow(0, t, 1)), whole[t], 1e-4, 1e-5)) << "token " << t;
  }
}

TEST_P(ModelWithGroups, EndsThemByEarlierTokens) {
  auto* pools = capability<PoolsTokens>(*model_);
  const torch::NoGradGuard no_grad;
  const auto drawn = [&](const torch::Tensor& tokens) {
    torch::manual_seed(5);
    return pools->boundaries({.tokens = tokens, .boundaries = segmentation(*model_, tokens)});
  };
  const torch::Tensor ends = drawn(tokens_);
  EXPECT_EQ(ends.sizes(), tokens_.sizes());
  EXPECT_EQ(ends.scalar_type(), torch::kBool);
  torch::Tensor changed = tokens_.clone();
  changed.narrow(1, kLength - 1, 1) = (changed.narrow(1, kLength - 1, 1) + 1) % kSymbolCount;
  EXPECT_TRUE(torch::equal(drawn(changed).narrow(1, 0, kLength - 1), ends.narrow(1, 0, kLength - 1)));
}

TEST_P(EveryModel, GivesAValueForEveryToken) {
  const auto* traces = capability<TracesTokens>(*model_);
  const bool says = traces != nullptr && traces->has_token_values();
  const torch::NoGradGuard no_grad;
  const ModelOutput output =
      model_->forward(ModelInput{.tokens = tokens_, .traced = says}, model_->initial_state(kRows));
  EXPECT_EQ(!output.token_values.empty(), says);
  for (const auto& [name, values] : output.token_values) EXPECT_EQ(values.sizes(), tokens_.sizes()) << name;
}

TEST_P(EveryModel, GivesAValueForEveryHeadAndDistance) {
  const auto* traces = capability<TracesHeads>(*model_);
  const torch::NoGradGuard no_grad;
  EXPECT_TRUE(model_->forward(tokens_, model_->initial_state(kRows)).head_values.empty());
  const ModelOutput output =
      model_->forward(ModelInput{.tokens = tokens_, .heads_traced = true}, model_->initial_state(kRows));
  EXPECT_EQ(!output.head_values.empty(), traces != nullptr);
  for (const auto& [name, values] : output.head_values) {
    ASSERT_EQ(values.dim(), 2) << name;
    EXPECT_EQ(values.size(1), traces->head_reach()) << name;
    EXPECT_TRUE(values.isfinite().all().item<bool>()) << name;
  }
}

TEST_P(EveryModel, StartsFromWeightsThatLackItsAdditions) {
  const auto* extends = capability<ExtendsAnother>(*model_);
  NamedTensors others;
  for (const auto& [name, weight] : model_->weights()) {
    if (extends == nullptr || !extends->is_addition(name)) others.emplace_back(name, weight.clone());
  }
  load_weights(*model_, others, "test", Missing::kAdditions);
  others.pop_back();
  EXPECT_THROW(load_weights(*model_, others, "test", Missing::kAdditions), DataError);
}

TEST_P(EveryModel, RefusesWeightsThatDoNotFit) {
  NamedTensors weights = model_->weights();
  NamedTensors missing{weights.begin() + 1, weights.end()};
  EXPECT_THROW(load_weights(*model_, missing, "test"), DataError);
  NamedTensors unknown = weights;
  unknown.emplace_back("layers.0.nothing", torch::zeros({1}));
  EXPECT_THROW(load_weights(*model_, unknown, "test"), DataError);
  NamedTensors misshapen = weights;
  misshapen.front().second = torch::zeros({1, 1, 1, 1});
  EXPECT_THROW(load_weights(*model_, misshapen, "test"), DataError);
}

std::string name_of_case(const testing::TestParamInfo<Case>& instance) { return instance.param.name; }

bool keeps_state(LanguageModel& model) { return model.scheme() == TextScheme::kStreaming; }
bool scores_a_part(LanguageModel& model) { return !keeps_state(model); }
bool reads_on(LanguageModel& model) { return capability<ReadsIncrementally>(model) != nullptr; }
bool makes_groups(LanguageModel& model) {
  auto* pools = capability<PoolsTokens>(model);
  const torch::Tensor tokens = torch::zeros({1, kLength}, torch::kLong);
  return pools != nullptr && pools->boundaries({.tokens = tokens, .boundaries = segmentation(model, tokens)}).defined();
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryModel, testing::ValuesIn(all_cases()), name_of_case);
INSTANTIATE_TEST_SUITE_P(Registry, ModelWithState, testing::ValuesIn(cases_where(keeps_state)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Registry, ModelOfWindows, testing::ValuesIn(cases_where(scores_a_part)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Registry, ModelThatReadsOn, testing::ValuesIn(cases_where(reads_on)), name_of_case);
INSTANTIATE_TEST_SUITE_P(Registry, ModelWithGroups, testing::ValuesIn(cases_where(makes_groups)), name_of_case);

}  // namespace
}  // namespace xlm
