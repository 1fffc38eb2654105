// Strided evaluation: which tokens are scored, and with what before them.
#include "core/eval/strided.h"

#include <cmath>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kManySymbols = 128;

/// Knows nothing and remembers what it was asked.
class Listener final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    inputs.push_back(input);
    return {.hidden = torch::zeros({input.tokens.size(0), input.scored, kManySymbols})};
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  Scheme scheme() const override { return Scheme::kRotatedChunks; }

  std::vector<ModelInput> inputs;
};

class StridedTest : public testing::Test {
 protected:
  StridedTest() : file_(write_tokens(folder_.path() / "tokens"), 1) {}

  static fs::path write_tokens(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < 2 * 27 + 1; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }

  TemporaryFolder folder_;
  TokenFile file_;
  TokenSource source_{file_, {}};
  Listener model_;
};

TEST_F(StridedTest, EveryTokenOfARowButItsFirstIsScoredOnceWithItsContext) {
  std::int64_t last_scored = 0;
  const SplitLoss result = evaluate_split(model_, source_, {.rows = 2, .context = 10, .stride = 4},
                                          [&](std::int64_t scored, std::int64_t total) {
                                            EXPECT_EQ(total, 2 * 26);
                                            last_scored = scored;
                                            return true;
                                          });
  EXPECT_EQ(result.tokens, 2 * 26);  // two rows of 27 tokens; the one left over is dropped
  EXPECT_EQ(last_scored, 2 * 26);
  EXPECT_NEAR(result.loss, std::log(kManySymbols), 1e-5);
  ASSERT_EQ(model_.inputs.size(), 7U);  // 6 · 4 + 2
  std::int64_t next = 0;                // the first input whose prediction is scored
  for (const ModelInput& input : model_.inputs) {
    const std::int64_t count = input.tokens.size(1);
    EXPECT_EQ(input.scored, std::min<std::int64_t>(4, 26 - next));
    const std::int64_t begin = std::max<std::int64_t>(0, next - 6);  // up to 10 − 4 tokens of context
    EXPECT_EQ(count, next + input.scored - begin);
    EXPECT_EQ(input.positions[1][0].item<std::int64_t>(), begin);
    EXPECT_EQ(input.tokens[1][0].item<std::int64_t>(), 27 + begin);
    EXPECT_EQ(input.tokens[0][count - 1].item<std::int64_t>(), next + input.scored - 1);
    next += input.scored;
  }
  EXPECT_EQ(next, 26);
}

TEST_F(StridedTest, AtMostSoManyWindowsOfARowAreScored) {
  for (const auto& [most, windows, tokens] : std::vector<std::tuple<std::int64_t, std::size_t, std::int64_t>>{
           {1, 1, 8}, {3, 3, 24}, {5, 5, 40}, {6, 6, 48}, {7, 7, 52}, {100, 7, 52}, {0, 7, 52}}) {
    model_.inputs.clear();
    std::int64_t last_total = 0;
    const SplitLoss result =
        evaluate_split(model_, source_, {.rows = 2, .context = 10, .stride = 4, .max_windows = most},
                       [&](std::int64_t /*scored*/, std::int64_t total) {
                         last_total = total;
                         return true;
                       });
    EXPECT_EQ(model_.inputs.size(), windows) << most;
    EXPECT_EQ(result.tokens, tokens) << most;
    EXPECT_EQ(last_total, tokens) << most;
  }
}

TEST_F(StridedTest, StopsWhenToldToAndRefusesTooManyRows) {
  const auto settings = [](std::int64_t rows) { return SplitSettings{.rows = rows, .context = 10, .stride = 4}; };
  EXPECT_TRUE(evaluate_split(model_, source_, settings(2), [](auto, auto) { return false; }).stopped);
  EXPECT_EQ(model_.inputs.size(), 1U);
  EXPECT_THROW(evaluate_split(model_, source_, settings(50), [](auto, auto) { return true; }), DataError);
}

}  // namespace
}  // namespace xlm
