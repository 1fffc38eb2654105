// What windows of GPT-2 keep for later windows, against golden numbers (tests/golden/window_memory.py) and against
// models without a memory.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.h"
#include "core/models/model_folder.h"
#include "core/nn/window_memory.h"
#include "core/runtime/safetensors.h"
#include "tests/core/models/golden_gpt2.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using MemoryType = WindowMemoryOptions::Type;

std::shared_ptr<LanguageModel> memory_model(const Gpt2Options& options) {
  auto model = gpt2_golden_model(options);
  model->eval();
  return model;
}

/// The plain model with the weights of `model`.
std::shared_ptr<LanguageModel> without_memory(const LanguageModel& model, Gpt2Options options) {
  options.memory = {};
  const auto plain = make_model(options, kGptSymbols);
  plain->to(torch::kDouble);
  plain->eval();
  NamedTensors weights;
  for (const auto& [name, weight] : model.weights()) {
    if (name != "memory.tokens") weights.emplace_back(name, weight);
  }
  load_weights(*plain, weights, "the model with a memory");
  return plain;
}

struct MemoryCase {
  Gpt2Options options;
  const Json* expected;
};

std::vector<MemoryCase> memory_cases() {
  static const Json golden = read_json(fs::path(XLM_SOURCE_DIR) / "tests/golden/window_memory.json");
  std::vector<MemoryCase> cases;
  for (const Json& entry : golden.at("memories")) {
    WindowMemoryOptions memory;
    const auto count = entry.at("count").get<std::int64_t>();
    if (entry.at("memory") == "cache") {
      memory.type = MemoryType::kCache;
      memory.windows = count;
    } else {
      memory.type = MemoryType::kTokens;
      memory.tokens = count;
    }
    memory.detach = entry.at("detach").get<bool>();
    const auto window = entry.at("window").get<std::int64_t>();
    const auto overlap = entry.at("overlap").get<std::int64_t>();
    cases.push_back({gpt2_options(window, overlap, memory), &entry});
  }
  return cases;
}

TEST(WindowMemory, LossLogitsAndGradientsEqualANaiveLoopOverWindows) {
  ASSERT_EQ(memory_cases().size(), 10U);
  for (const auto& [options, expected] : memory_cases()) {
    for (const ActivationPolicy policy : {ActivationPolicy::kKeep, ActivationPolicy::kRecompute}) {
      const auto model = memory_model(options);
      const torch::Tensor logits = scored_logits(*model, gpt2_tokens());
      expect_golden_logits(logits[1][-1], expected->at("logits_row_1_last"));
      expect_golden_logits(logits[2][13], expected->at("logits_row_2_token_13"));
      const torch::Tensor loss = windows_loss(*model, gpt2_tokens(), gpt2_targets(), policy);
      // Both are in double: only the order of sums differs.
      EXPECT_NEAR(loss.item<double>(), expected->at("loss").get<double>(), 1e-11);
      loss.backward();
      expect_golden_gradients(*model, expected->at("gradient_norms"));
    }
  }
}

TEST(WindowMemory, LogitsBeforeAChangedTokenKeepTheirBits) {
  for (const auto& [options, expected] : memory_cases()) {
    const auto model = memory_model(options);
    const torch::Tensor before = scored_logits(*model, gpt2_tokens());
    for (std::int64_t t = 1; t < kGptLength; ++t) {
      const torch::Tensor changed = gpt2_tokens().clone();
      changed.narrow(1, t, 1) = (changed.narrow(1, t, 1) + 1) % kGptSymbols;
      const torch::Tensor after = scored_logits(*model, changed);
      // Position t − 1 predicts token t.
      EXPECT_TRUE(torch::equal(after.narrow(1, 0, t), before.narrow(1, 0, t))) << *expected << t;
      EXPECT_FALSE(torch::allclose(after.narrow(1, t, 1), before.narrow(1, t, 1))) << *expected << t;
    }
  }
}

TEST(WindowMemory, AFirstWindowWithAnEmptyCacheIsPlainGpt2BitForBit) {
  const Gpt2Options options = gpt2_options(kGptLength, 0, {.type = MemoryType::kCache, .windows = 2});
  const auto model = memory_model(options);
  const auto plain = without_memory(*model, options);
  const ModelOutput first = model->forward(gpt2_tokens(), model->initial_state(kGptBatch));
  EXPECT_TRUE(torch::equal(first.logits(), plain->forward(gpt2_tokens(), {}).logits()));
  EXPECT_EQ(first.state.size(), 2U * 3U) << "keys and values of each layer";
  for (const torch::Tensor& kept : first.state) {
    EXPECT_EQ(kept.sizes(), (std::vector<std::int64_t>{kGptBatch, 4, kGptLength, 4}));
  }
  EXPECT_FALSE(torch::allclose(model->forward(gpt2_tokens(), first.state).logits(), first.logits()));
}

// With values of zeros attention adds nothing. Memory tokens then take part in the layers, and change no logit.
TEST(WindowMemory, TokensOfWhichNothingIsReadLeavePlainGpt2) {
  const Gpt2Options options = gpt2_options(7, 2, {.type = MemoryType::kTokens, .tokens = 3});
  const auto model = memory_model(options);
  for (const auto& [name, weight] : model->weights()) {
    if (name.find("c_attn") == std::string::npos) continue;
    const torch::NoGradGuard no_grad;
    weight.narrow(-1, 2 * options.width, options.width).zero_();  // of the values
  }
  const auto plain = without_memory(*model, options);
  // The products have more rows, which may sum in another order.
  EXPECT_TRUE(
      torch::allclose(scored_logits(*model, gpt2_tokens()), scored_logits(*plain, gpt2_tokens()), 1e-12, 1e-12));
}

// Without positions, and with all earlier windows kept, every token sees what it sees in one window of the whole text.
TEST(WindowMemory, AllWindowsKeptWithoutPositionsAreOneLongWindow) {
  for (const std::int64_t overlap : {0, 2, 4}) {
    const Gpt2Options options = gpt2_options(5, overlap, {.type = MemoryType::kCache, .windows = 100});
    const auto model = memory_model(options);
    for (const auto& [name, weight] : model->weights()) {
      const torch::NoGradGuard no_grad;
      if (name == "wpe.weight") weight.zero_();
    }
    const auto plain = without_memory(*model, options);
    EXPECT_TRUE(
        torch::allclose(scored_logits(*model, gpt2_tokens()), plain->forward(gpt2_tokens(), {}).logits(), 1e-10, 1e-10))
        << overlap;
  }
}

TEST(WindowMemory, ReadingTokenByTokenEqualsComputingEveryWindow) {
  for (const auto& [options, expected] : memory_cases()) {
    SCOPED_TRACE(*expected);
    expect_reading_equals_windows(*memory_model(options));
  }
}

TEST(WindowMemory, AStateInAFileGoesOnWithTheSameBits) {
  Vocabulary letters;
  for (std::int64_t i = 0; i < kGptSymbols; ++i) letters.symbols.emplace_back(1, static_cast<char>('a' + i));
  for (const WindowMemoryOptions& memory : {WindowMemoryOptions{.type = MemoryType::kCache, .windows = 2},
                                            WindowMemoryOptions{.type = MemoryType::kTokens, .tokens = 2}}) {
    const TemporaryFolder folder;
    const Gpt2Options options = gpt2_options(6, 1, memory);
    torch::manual_seed(5);
    const auto model = make_model(options, kGptSymbols);
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor window = gpt2_tokens().narrow(1, 0, 6);
    const State state = model->forward(window, model->initial_state(kGptBatch)).state;
    NamedTensors stored;
    for (const torch::Tensor& tensor : state) stored.emplace_back(std::to_string(stored.size()), tensor);
    write_safetensors(folder.path() / "state.safetensors", stored);
    write_model_folder(folder.path() / "model", *model, letters, "model: {}\n");

    const LoadedModel loaded = load_model_folder(folder.path() / "model", options);
    loaded.model->eval();
    State read;
    for (const auto& [name, tensor] : read_safetensors(folder.path() / "state.safetensors").tensors)
      read.push_back(tensor);
    const torch::Tensor next = gpt2_tokens().narrow(1, 5, 6);
    const torch::Tensor expected = model->forward(next, state).logits();
    EXPECT_TRUE(torch::equal(loaded.model->forward(next, read).logits(), expected));
    EXPECT_FALSE(torch::allclose(model->forward(next, model->initial_state(kGptBatch)).logits(), expected));
  }
}

TEST(WindowMemory, KeepsWholeWindowsAndNoMore) {
  const WindowSizes sizes{.layers = 1, .heads = 1, .width = 1, .window = 5, .overlap = 2};
  const WindowCache cache(sizes, 2, true);
  const auto numbers = [](std::int64_t begin, std::int64_t end) {
    return torch::arange(begin, end, torch::kDouble).view({1, 1, end - begin, 1});
  };
  // The places of the text that each window leaves behind. Windows lie at 0, 3, 6, 9, and repeat two tokens.
  const std::vector<std::pair<std::int64_t, std::int64_t>> expected{{0, 3}, {0, 6}, {3, 9}, {6, 12}};
  std::vector<torch::Tensor> state = cache.initial(1, torch::kDouble);
  EXPECT_FALSE(WindowCache::read(state).at(0).keys.defined());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto begin = 3 * static_cast<std::int64_t>(i);
    const torch::Tensor all = torch::cat({state[0], numbers(begin, begin + 5)}, 2);
    state = cache.write({KeysAndValues{all, 10 * all}}, 5);
    const auto& [first, last] = expected[i];
    EXPECT_TRUE(torch::equal(state[0], numbers(first, last))) << i;
    EXPECT_TRUE(torch::equal(state[1], 10 * numbers(first, last))) << i;
  }
}

TEST(WindowMemory, CostsArePairsOfTokensAndLongerWindows) {
  const auto cost = [](std::int64_t window, std::int64_t overlap, const WindowMemoryOptions& memory) {
    const NamedValues costs = make_model(gpt2_options(window, overlap, memory), kGptSymbols)->costs(0);
    const double logits = 2.0 * 16 * kGptSymbols;
    EXPECT_NEAR(costs.at("flops_per_token") - costs.at("paper_flops"), logits, 1e-6);
    return costs.at("flops_per_token");
  };
  const auto window_pairs = [](std::int64_t window, std::int64_t overlap, std::int64_t windows) {
    double pairs = 0;
    for (std::int64_t query = 0; query < window; ++query) {
      for (std::int64_t key = 0; key < windows * (window - overlap); ++key) pairs += 1;
    }
    return pairs / static_cast<double>(window - overlap);
  };
  for (const auto& [window, overlap] : std::vector<std::pair<std::int64_t, std::int64_t>>{{8, 0}, {9, 4}}) {
    for (const std::int64_t windows : {1, 3}) {
      const double added = cost(window, overlap, {.type = MemoryType::kCache, .windows = windows}) -
                           cost(window, overlap, {.type = MemoryType::kNone});
      // A pair costs a product with the key and one with the value, in each of three layers of width 16.
      EXPECT_NEAR(added, 2 * 2 * 16 * 3 * window_pairs(window, overlap, windows), 1e-6) << window << " " << windows;
    }
    // Memory tokens cost what a longer window would that scores as many tokens.
    EXPECT_NEAR(cost(window, overlap, {.type = MemoryType::kTokens, .tokens = 3}),
                cost(window + 6, overlap + 6, {.type = MemoryType::kNone}), 1e-6);
  }
}

TEST(WindowMemory, OptionsFillInWhatTheirTypeUses) {
  const auto completed = [](MemoryType type) {
    Gpt2Options options;
    options.memory.type = type;
    options.complete();
    return std::pair(options.memory.windows, options.memory.tokens);
  };
  EXPECT_EQ(completed(MemoryType::kNone), std::pair(std::int64_t{0}, std::int64_t{0})) << "ids are older than them";
  EXPECT_EQ(completed(MemoryType::kCache), std::pair(std::int64_t{1}, std::int64_t{0}));
  EXPECT_EQ(completed(MemoryType::kTokens), std::pair(std::int64_t{0}, std::int64_t{10}));
  Gpt2Options both;
  both.memory.type = MemoryType::kCache;
  EXPECT_FALSE(both.problem());
  EXPECT_TRUE(ModelOptions(both).has_window_state());
  both.recurrence.pool = RecurrenceOptions::Pool::kMean;
  ASSERT_TRUE(both.problem());
  EXPECT_EQ(both.problem()->first, "memory");
}

}  // namespace
}  // namespace xlm
