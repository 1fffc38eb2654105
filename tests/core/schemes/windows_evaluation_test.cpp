// Overlap evaluation: what is scored, in which order, and with which state.
#include "core/eval/evaluation.h"

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/models/capabilities.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kPlaces = 128;

/// Gives a higher logit to the symbol after each input token. Its state is the sum of all tokens that it has seen.
class WindowListener final : public LanguageModel, public ReadsWindows {
 public:
  WindowListener(WindowShape shape, bool recurrent) : shape_(shape), recurrent_(recurrent) {}

  ModelOutput forward(const ModelInput& input, const State& state) override {
    inputs.push_back(input);
    states.push_back(state);
    const std::int64_t length = input.tokens.size(1);
    const torch::Tensor seen = input.tokens.narrow(1, length - input.scored, input.scored);
    torch::Tensor logits = torch::zeros({seen.size(0), seen.size(1), kPlaces});
    logits.scatter_(2, ((seen + 1) % kPlaces).unsqueeze(2), 3.0);
    ModelOutput output{.hidden = logits};
    if (recurrent_) output.state = {state.at(0) + input.tokens.sum(1, true)};
    return output;
  }
  using LanguageModel::forward;
  State initial_state(std::int64_t batch) const override {
    if (!recurrent_) return {};
    return {torch::zeros({batch, 1}, torch::kLong)};
  }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return TextScheme::kWindows; }
  WindowShape windows() const override { return shape_; }

  std::vector<ModelInput> inputs;
  std::vector<State> states;

 private:
  WindowShape shape_;
  bool recurrent_;
};

class OverlapTest : public testing::Test {
 protected:
  OverlapTest() : split_{TokenFile(write_places(folder_.path() / "tokens"), 1)} {
    split_.documents = {0, 24, 25, 70};  // the second has one token
  }
  static fs::path write_places(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }
  static bool never_stop(std::int64_t /*scored*/, std::int64_t /*total*/) { return true; }

  TemporaryFolder folder_;
  Split split_;
};

/// The loss of a right prediction among 128 symbols.
double right_guess() { return std::log(std::exp(3.0) + kPlaces - 1) - 3; }

TEST_F(OverlapTest, EveryTokenOfADocumentButItsFirstIsScoredOnce) {
  const TokenSource source(split_, {});
  for (const bool recurrent : {false, true}) {
    for (std::int64_t window = 1; window <= 12; ++window) {
      for (std::int64_t overlap = 0; overlap < window; ++overlap) {
        WindowListener model({window, overlap}, recurrent);
        const SplitLoss result = evaluate_split(model, source, {.rows = 3}, never_stop);
        EXPECT_EQ(result.tokens, 100 - 4) << window << " " << overlap;
        EXPECT_NEAR(result.loss, right_guess(), 1e-6);
      }
    }
  }
}

TEST_F(OverlapTest, WindowsWithoutStateAreComputedTogether) {
  const TokenSource source(split_, {});
  WindowListener model({10, 9}, false);
  evaluate_split(model, source, {.rows = 16}, never_stop);
  // 23, 44 and 29 predictions: a first window of each document, and 13 + 34 + 19 later ones with one prediction each.
  ASSERT_EQ(model.inputs.size(), 6U);
  std::int64_t rows = 0;
  for (const ModelInput& input : model.inputs) {
    rows += input.tokens.size(0);
    EXPECT_TRUE(input.scored == 1 || input.tokens.size(0) == 3);
  }
  EXPECT_EQ(rows, 3 + 66);
}

TEST_F(OverlapTest, StateStaysWithinADocument) {
  const TokenSource source(split_, {});
  WindowListener model({10, 2}, true);
  evaluate_split(model, source, {.rows = 2}, never_stop);
  std::map<std::int64_t, std::int64_t> handed;  // the state that a window was given, by its first token
  for (std::size_t i = 0; i < model.inputs.size(); ++i) {
    for (std::int64_t row = 0; row < model.inputs[i].tokens.size(0); ++row) {
      handed[model.inputs[i].tokens[row][0].item<std::int64_t>()] = model.states[i].at(0)[row][0].item<std::int64_t>();
    }
  }
  for (const std::int64_t first : {0, 25, 70}) EXPECT_EQ(handed.at(first), 0);
  const auto sum = [](std::int64_t begin, std::int64_t count) { return count * begin + count * (count - 1) / 2; };
  EXPECT_EQ(handed.at(8), sum(0, 10));
  EXPECT_EQ(handed.at(16), sum(0, 10) + sum(8, 10));
  EXPECT_EQ(handed.at(33), sum(25, 10));
  EXPECT_EQ(handed.at(57), sum(25, 10) + sum(33, 10) + sum(41, 10) + sum(49, 10));
  EXPECT_EQ(handed.at(78), sum(70, 10));
}

/// Blocks of 16 predictions: 23 of the first document, and 9 of the third.
TEST_F(OverlapTest, MaxWindowsLimitsTheBlocksOfTheSplit) {
  const TokenSource source(split_, {});
  for (const bool recurrent : {false, true}) {
    for (const auto& [most, tokens] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 16}, {2, 32}, {6, 96}, {7, 96}, {0, 96}}) {
      WindowListener model({10, 2}, recurrent);
      const SplitLoss result = evaluate_split(model, source, {.rows = 3, .block = 16, .max_windows = most}, never_stop);
      EXPECT_EQ(result.tokens, tokens) << most;
      EXPECT_EQ(result.whole, tokens == 96) << most;
      EXPECT_NEAR(result.loss, right_guess(), 1e-6);
    }
  }
}

TEST_F(OverlapTest, FirstTokensAreScoredAfterTheEndOfATextIfAskedFor) {
  TokenSource source(split_, {});
  const SplitSettings settings{.rows = 3, .first_token = true};
  WindowListener nothing_known({4, 0}, false);
  EXPECT_THROW(evaluate_split(nothing_known, source, settings, never_stop), UsageError);
  Vocabulary vocabulary{Vocabulary::Unit::kCharacter, {}};
  for (int i = 0; i < 100; ++i) vocabulary.symbols.push_back(std::to_string(i));
  source.set_vocabulary(vocabulary);
  EXPECT_THROW(evaluate_split(nothing_known, source, settings, never_stop), UsageError) << "no such symbol";
  vocabulary.symbols.emplace_back("<|endoftext|>");
  source.set_vocabulary(vocabulary);
  for (const bool recurrent : {false, true}) {
    for (std::int64_t window = 1; window <= 12; ++window) {
      for (std::int64_t overlap = 0; overlap < window; ++overlap) {
        WindowListener model({window, overlap}, recurrent);
        const SplitLoss result = evaluate_split(model, source, settings, never_stop);
        EXPECT_EQ(result.tokens, 100) << window << " " << overlap;
        EXPECT_EQ(result.bytes, 10 + 2 * 90) << "of the decimal numbers 0 to 99";
        std::int64_t ends = 0;
        for (const ModelInput& input : model.inputs) ends += (input.tokens == 100).sum().item<std::int64_t>();
        EXPECT_EQ(ends, 4) << "one before each document";
      }
    }
  }
}

TEST_F(OverlapTest, StopsIfAskedToAndRefusesASplitWithNothingToScore) {
  const TokenSource source(split_, {});
  WindowListener model({10, 0}, true);
  EXPECT_TRUE(evaluate_split(model, source, {.rows = 2}, [](auto, auto) { return false; }).stopped);
  EXPECT_EQ(model.inputs.size(), 1U);
  split_.documents.clear();
  for (std::int64_t i = 0; i < 100; ++i) split_.documents.push_back(i);
  EXPECT_THROW(evaluate_split(model, source, {.rows = 2}, never_stop), DataError);
}

}  // namespace
}  // namespace xlm
