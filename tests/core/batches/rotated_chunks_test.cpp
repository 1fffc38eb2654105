// The stream of rotated chunks: what an epoch visits, and where it stands.
#include "core/batches/rotated_chunks.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kRowLength = 50;  // L
constexpr std::int64_t kChunk = 16;      // T: 49 predictions are chunks of 16, 16, 16 and 1

/// Flags that follow from a token's place.
class EveryThird final : public TokenFlags {
 public:
  void copy(std::int64_t begin, std::int64_t count, bool* out) const override {
    for (std::int64_t i = 0; i < count; ++i) out[i] = (begin + i) % 3 == 0;
  }
};

class RotatedChunksTest : public testing::Test {
 protected:
  RotatedChunksTest() : file_(write_places(folder_.path() / "tokens"), 1) {}

  /// A file whose ids are their own places: three rows, and two tokens that are left over.
  static fs::path write_places(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < 3 * kRowLength + 2; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }

  RotatedChunks stream(std::int64_t seed) const { return {source_, {.batch = 3, .block = kChunk}, seed}; }

  TemporaryFolder folder_;
  TokenFile file_;
  TokenSource source_{file_, {}, std::make_shared<EveryThird>()};
};

TEST_F(RotatedChunksTest, AnEpochPredictsEveryPlaceOfARotatedRowOnce) {
  RotatedChunks chunks = stream(1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<std::int64_t> lengths;
    std::vector<std::set<std::int64_t>> predicted(3);
    for (int chunk = 0; chunk < 4; ++chunk) {
      const Batch batch = chunks.next();
      EXPECT_TRUE(batch.fresh);
      lengths.insert(batch.targets.size(1));
      for (std::int64_t row = 0; row < 3; ++row) {
        for (std::int64_t t = 0; t < batch.targets.size(1); ++t) {
          const auto token = batch.input.tokens[row][t].item<std::int64_t>();
          const auto target = batch.targets[row][t].item<std::int64_t>();
          EXPECT_EQ(token / kRowLength, row);
          EXPECT_EQ(target, row * kRowLength + (token + 1 - row * kRowLength) % kRowLength);  // rows go round
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
    RotatedChunks chunks = stream(seed);
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::string order;
      std::string beginning;
      for (int chunk = 0; chunk < 4; ++chunk) {
        const Batch batch = chunks.next();
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

TEST_F(RotatedChunksTest, GoesOnFromAnyPlace) {
  RotatedChunks whole = stream(4);
  for (int step = 0; step < 11; ++step) {
    RotatedChunks resumed = stream(4);
    resumed.restore(whole.state());
    const Batch next = whole.next();
    const Batch again = resumed.next();
    EXPECT_TRUE(torch::equal(next.input.tokens, again.input.tokens)) << step;
    EXPECT_TRUE(torch::equal(next.input.positions, again.input.positions)) << step;
    EXPECT_TRUE(torch::equal(next.targets, again.targets)) << step;
    EXPECT_EQ(whole.state(), resumed.state());
  }
}

TEST_F(RotatedChunksTest, RefusesAPlaceOutsideAndATextTooShort) {
  RotatedChunks chunks = stream(1);
  EXPECT_THROW(chunks.restore({{"epoch", 0}, {"visited", 4}}), DataError);
  EXPECT_THROW(chunks.restore({{"epoch", -1}, {"visited", 0}}), DataError);
  EXPECT_THROW(RotatedChunks(source_, {.batch = 100, .block = 4}, 1), DataError);
  EXPECT_NO_THROW(RotatedChunks(source_, {.batch = 1, .block = 4000}, 1).next());
}

}  // namespace
}  // namespace xlm
