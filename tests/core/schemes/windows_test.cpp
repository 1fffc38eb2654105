// Windows: the stream of sequences.
#include <set>

#include <gtest/gtest.h>

#include "base/error.h"
#include "core/schemes/scheme.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

class DocumentSequencesTest : public testing::Test {
 protected:
  DocumentSequencesTest() : split_{TokenFile(write_places(folder_.path() / "tokens"), 1)} {
    split_.documents = {0, 25, 26, 60};  // the second has one token: nothing to predict
  }
  static fs::path write_places(const fs::path& path) {
    std::string bytes;
    for (int i = 0; i < 70; ++i) bytes.push_back(static_cast<char>(i));
    write_file(path, bytes);
    return path;
  }

  static std::unique_ptr<BatchStream> stream(const TokenSource& source, std::int64_t batch, std::int64_t seed) {
    return scheme_of(TextScheme::kWindows).batches(source, {.batch = batch, .block = 10}, seed);
  }

  TemporaryFolder folder_;
  Split split_;
};

TEST_F(DocumentSequencesTest, AnEpochPredictsEveryTokenButTheFirstOfADocumentOnce) {
  const TokenSource source(split_, {});
  const auto sequences = stream(source, 2, 3);  // 3 + 4 + 1 sequences: four batches an epoch
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::multiset<std::int64_t> predicted;
    for (int i = 0; i < 4; ++i) {
      const Batch batch = sequences->next();
      EXPECT_TRUE(batch.fresh);
      for (std::int64_t row = 0; row < 2; ++row) {
        for (std::int64_t t = 0; t < batch.targets.size(1); ++t) {
          const auto target = batch.targets[row][t].item<std::int64_t>();
          if (target == kNoTarget) continue;
          EXPECT_EQ(batch.input.tokens[row][t].item<std::int64_t>(), target - 1);
          predicted.insert(target);
        }
      }
    }
    std::multiset<std::int64_t> expected;
    for (std::int64_t i = 0; i < 70; ++i) {
      if (i != 0 && i != 25 && i != 26 && i != 60) expected.insert(i);
    }
    EXPECT_EQ(predicted, expected);
  }
}

TEST_F(DocumentSequencesTest, ResumesAndOrdersDifferBySeedAndEpoch) {
  const TokenSource source(split_, {});
  const auto whole = stream(source, 3, 3);
  const auto other = stream(source, 3, 4);
  bool differs = false;
  for (int i = 0; i < 9; ++i) {
    const auto resumed = stream(source, 3, 3);
    resumed->restore(whole->state());
    const Batch batch = whole->next();
    EXPECT_TRUE(torch::equal(resumed->next().targets, batch.targets)) << i;
    const Batch elsewhere = other->next();
    differs = differs || elsewhere.targets.sizes() != batch.targets.sizes() ||
              !torch::equal(elsewhere.targets, batch.targets);
  }
  EXPECT_TRUE(differs);
  EXPECT_THROW(whole->restore({{"visited", -1}}), DataError);
}

}  // namespace
}  // namespace xlm
