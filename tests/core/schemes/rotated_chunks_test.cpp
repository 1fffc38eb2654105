// Rotated chunks: what an epoch visits, resuming, and what the strided evaluation scores.
#include <cmath>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/eval/evaluation.h"
#include "core/schemes/scheme.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kRowLength = 50;  // L
constexpr std::int64_t kChunk = 16;      // T: 49 predictions are chunks of 16, 16, 16 and 1

/// Flags that are a function of a token's place.
class EveryThird final : public TokenFlags {
 public:
  void copy(std::int64_t begin, std::int64_t count, bool* out) const override {
    for (std::int64_t i = 0; i < count; ++i) out[i] = (begin + i) % 3 == 0;
  }
};

class RotatedChunksTest : public testing::Test {
 protected:
  RotatedChunksTest() : file_(write_places(folder_.path() / "tokens"), 1) {}

  /// A file whose ids are their own places: three rows, and two tokens at the end that no row has.
  static fs::path write_places(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < 3 * kRowLength + 2; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }

  std::unique_ptr<BatchStream> stream(std::int64_t seed) const { return stream({.batch = 3, .block = kChunk}, seed); }
  std::unique_ptr<BatchStream> stream(BatchShape shape, std::int64_t seed) const {
    return scheme_of(TextScheme::kRotatedChunks).batches(source_, shape, seed);
  }

  TemporaryFolder folder_;
  TokenFile file_;
  TokenSource source_{file_, {}, std::make_shared<EveryThird>()};
};

TEST_F(RotatedChunksTest, AnEpochPredictsEveryPlaceOfARotatedRowOnce) {
  const auto chunks = stream(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<std::int64_t> lengths;
    std::vector<std::set<std::int64_t>> predicted(3);
    for (int chunk = 0; chunk < 4; ++chunk) {
      const Batch batch = chunks->next();
      EXPECT_TRUE(batch.fresh);
      lengths.insert(batch.targets.size(1));
      for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t t = 0; t < batch.targets.size(1); ++t) {
          const auto token = batch.input.tokens[row][t].item<std::int64_t>();
          const auto target = batch.targets[row][t].item<std::int64_t>();
          EXPECT_EQ(token / kRowLength, row);
          EXPECT_EQ(target,
                    row * kRowLength + (token + 1 - row * kRowLength) % kRowLength);  // a row continues at its start
          EXPECT_EQ(batch.input.positions[row][t].item<std::int64_t>(), token - row * kRowLength);
          EXPECT_EQ(batch.input.boundaries[row][t].item<bool>(), token % 3 == 0);
          EXPECT_TRUE(predicted[static_cast<std::size_t>(row)].insert(target).second) << "twice";
        }
      }
    }
    EXPECT_EQ(lengths, (std::multiset<std::int64_t>{1, 16, 16, 16}));
    for (const auto& row : predicted) EXPECT_EQ(row.size(), static_cast<std::size_t>(kRowLength - 1));
  }
}

TEST_F(RotatedChunksTest, ShiftsAndOrderChangeWithTheEpochAndTheSeed) {
  std::set<std::string> beginnings;
  std::set<std::string> orders;
  for (const std::int64_t seed : {1, 2, 3}) {
    const auto chunks = stream(seed);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::string order;
      std::string beginning;
      for (int chunk = 0; chunk < 4; ++chunk) {
        const Batch batch = chunks->next();
        order += std::to_string(batch.targets.size(1)) + " ";
        for (std::int64_t row = 0; row < 3; ++row) {
          beginning += std::to_string(batch.input.positions[row][0].item<std::int64_t>()) + " ";
        }
      }
      beginnings.insert(beginning);
      orders.insert(order);
    }
  }
  EXPECT_EQ(beginnings.size(), 9U);
  EXPECT_GT(orders.size(), 1U);  // the short chunk is not always the last
}

TEST_F(RotatedChunksTest, ResumesFromAnyPlace) {
  const auto whole = stream(4);
  for (int step = 0; step < 11; ++step) {
    const auto resumed = stream(4);
    resumed->restore(whole->state());
    const Batch next = whole->next();
    const Batch again = resumed->next();
    EXPECT_TRUE(torch::equal(next.input.tokens, again.input.tokens)) << step;
    EXPECT_TRUE(torch::equal(next.input.positions, again.input.positions)) << step;
    EXPECT_TRUE(torch::equal(next.targets, again.targets)) << step;
    EXPECT_EQ(whole->state(), resumed->state());
  }
}

TEST_F(RotatedChunksTest, RefusesAPlaceOutsideAndATextTooShort) {
  const auto chunks = stream(1);
  EXPECT_THROW(chunks->restore({{"epoch", 0}, {"visited", 4}}), DataError);
  EXPECT_THROW(chunks->restore({{"epoch", -1}, {"visited", 0}}), DataError);
  EXPECT_THROW(stream({.batch = 100, .block = 4}, 1), DataError);
  EXPECT_NO_THROW(stream({.batch = 1, .block = 4000}, 1)->next());
}

constexpr std::int64_t kManySymbols = 128;

/// Predicts all symbols alike and keeps its inputs.
class Listener final : public LanguageModel {
 public:
  ModelOutput forward(const ModelInput& input, const State& /*state*/) override {
    inputs.push_back(input);
    return {.hidden = torch::zeros({input.tokens.size(0), input.scored, kManySymbols})};
  }
  State initial_state(std::int64_t /*batch*/) const override { return {}; }
  NamedValues costs(std::int64_t /*block*/) const override { return {}; }
  TextScheme scheme() const override { return TextScheme::kRotatedChunks; }

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

TEST_F(StridedTest, MaxWindowsLimitsTheWindowsOfARow) {
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

TEST_F(StridedTest, StopsIfAskedToAndRefusesTooManyRows) {
  const auto settings = [](std::int64_t rows) { return SplitSettings{.rows = rows, .context = 10, .stride = 4}; };
  EXPECT_TRUE(evaluate_split(model_, source_, settings(2), [](auto, auto) { return false; }).stopped);
  EXPECT_EQ(model_.inputs.size(), 1U);
  EXPECT_THROW(evaluate_split(model_, source_, settings(50), [](auto, auto) { return true; }), DataError);
}

}  // namespace
}  // namespace xlm
