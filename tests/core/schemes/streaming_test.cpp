// The stream of contiguous rows: the places where it can resume.
#include <gtest/gtest.h>

#include "base/error.h"
#include "core/schemes/scheme.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(StreamingBatches, ResumeFromEveryPlaceThatHasABlockAndItsTargets) {
  constexpr std::int64_t kTokensOfARow = 50;
  constexpr std::int64_t kTokensOfABlock = 16;
  const TemporaryFolder folder;
  std::string bytes;
  for (std::int64_t i = 0; i < 3 * kTokensOfARow; ++i) bytes.push_back(static_cast<char>(i));
  write_file(folder.path() / "tokens", bytes);
  const TokenFile file(folder.path() / "tokens", 1);
  const TokenSource source(file, {});
  const auto batches = scheme_of(TextScheme::kStreaming).batches(source, {.batch = 3, .block = kTokensOfABlock}, 1);
  const auto restore = [&](std::int64_t position) {
    batches->restore({{"position", position}, {"round", 0}, {"fresh", false}});
  };
  constexpr std::int64_t kLastPlace = kTokensOfARow - kTokensOfABlock - 1;
  restore(kLastPlace);
  EXPECT_EQ(batches->next().targets[2][kTokensOfABlock - 1].item<std::int64_t>(), 3 * kTokensOfARow - 1)
      << "the last token";
  EXPECT_THROW(restore(kLastPlace + 1), DataError) << "its last target would be of the next row";
  EXPECT_THROW(restore(-1), DataError);
  restore(0);
  for (int i = 0; i < 40; ++i) {
    batches->next();
    EXPECT_NO_THROW(batches->restore(batches->state())) << "at every place";
  }
}

}  // namespace
}  // namespace xlm
