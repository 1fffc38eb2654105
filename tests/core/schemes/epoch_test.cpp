// The length of an epoch: its computation from a text's sizes equals what the streams do.
#include "core/api/text_scheme.h"

#include <gtest/gtest.h>

#include "core/api/model_list.h"
#include "core/schemes/scheme.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// A text whose documents have so many tokens.
class TextOf {
 public:
  explicit TextOf(std::vector<std::int64_t> documents)
      : documents_(std::move(documents)), file_(write()), split_{.tokens = TokenFile(file_, 1)} {
    std::int64_t begin = 0;
    for (const std::int64_t tokens : documents_) split_.documents.push_back(std::exchange(begin, begin + tokens));
  }

  std::unique_ptr<BatchStream> stream(TextScheme scheme, BatchShape shape) {
    return scheme_of(scheme).batches(source_, shape, 5);
  }
  const std::vector<std::int64_t>& documents() const { return documents_; }

 private:
  fs::path write() {
    write_file(folder_.path() / "tokens",
               std::string(static_cast<std::size_t>(std::accumulate(documents_.begin(), documents_.end(), 0)), 'a'));
    return folder_.path() / "tokens";
  }

  TemporaryFolder folder_;
  std::vector<std::int64_t> documents_;
  fs::path file_;
  Split split_;
  TokenSource source_{split_, {}};
};

std::int64_t scored(const Batch& batch) { return batch.targets.ne(kNoTarget).sum().item<std::int64_t>(); }

TEST(EpochLength, OfRowsThatAreStreamedIsTheFirstRound) {
  for (const std::int64_t tokens : {10, 96, 97, 98, 99, 100, 101, 102, 103, 120}) {
    TextOf text({tokens});
    const Epoch epoch = epoch_of(TextScheme::kStreaming, 3, 8, text.documents());
    if (tokens / 3 <= 8) {
      EXPECT_EQ(epoch.steps, 0) << tokens;
      continue;
    }
    const auto stream = text.stream(TextScheme::kStreaming, {.batch = 3, .block = 8});
    std::int64_t steps = 0;
    std::int64_t predictions = 0;
    for (; stream->state().at("round") == 0; ++steps) predictions += scored(stream->next());
    EXPECT_EQ(epoch.steps, static_cast<double>(steps)) << tokens;
    EXPECT_EQ(epoch.predictions, static_cast<double>(predictions)) << tokens;
  }
}

TEST(EpochLength, OfRotatedChunksIsAllOfThem) {
  for (const std::int64_t tokens : {6, 24, 27, 28, 97, 99, 100}) {
    TextOf text({tokens});
    const Epoch epoch = epoch_of(TextScheme::kRotatedChunks, 3, 8, text.documents());
    const auto stream = text.stream(TextScheme::kRotatedChunks, {.batch = 3, .block = 8});
    std::int64_t steps = 0;
    std::int64_t predictions = 0;
    for (; stream->state().at("epoch") == 0; ++steps) predictions += scored(stream->next());
    EXPECT_EQ(epoch.steps, static_cast<double>(steps)) << tokens;
    EXPECT_EQ(epoch.predictions, static_cast<double>(predictions)) << tokens;
  }
}

TEST(EpochLength, OfSequencesOfDocumentsMayEndInsideAStep) {
  TextOf text({30, 1, 8, 9, 17, 2});
  const Epoch epoch = epoch_of(TextScheme::kWindows, 4, 8, text.documents());
  const auto stream = text.stream(TextScheme::kWindows, {.batch = 4, .block = 8});
  // 4 + 0 + 1 + 1 + 2 + 1 sequences are two steps and a quarter: nine steps are four epochs.
  EXPECT_DOUBLE_EQ(epoch.steps, 9.0 / 4);
  std::int64_t predictions = 0;
  for (int step = 0; step < 9; ++step) predictions += scored(stream->next());
  EXPECT_EQ(stream->state().at("visited"), 4 * 9);
  EXPECT_EQ(epoch.predictions * 4, static_cast<double>(predictions));
}

}  // namespace
}  // namespace xlm
