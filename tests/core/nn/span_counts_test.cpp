// Means and maxima of spans that heads have used.
#include <gtest/gtest.h>

#include "core/nn/span_counts.h"

namespace xlm {
namespace {

using Numbers = std::vector<double>;

TEST(SpanCounts, MeanAndLargestOfEveryHeadSinceTheReset) {
  SpanCounts counts(2, 2);
  EXPECT_EQ(counts.means(1), (Numbers{0, 0}));
  counts.add(1, Numbers{6, 9}.data(), Numbers{4, 5}.data(), 3);
  counts.add(1, Numbers{2, 3}.data(), Numbers{2, 7}.data(), 1);
  EXPECT_EQ(counts.means(1), (Numbers{2, 3}));
  EXPECT_EQ(counts.largest(1), (Numbers{4, 7}));
  EXPECT_EQ(counts.means(0), (Numbers{0, 0}));
  counts.reset();
  EXPECT_EQ(counts.means(1), (Numbers{0, 0}));
  EXPECT_EQ(counts.largest(1), (Numbers{0, 0}));
}

TEST(SpanCounts, ContinueFromWhatACheckpointHolds) {
  SpanCounts counts(2, 2);
  counts.add(0, Numbers{1, 2}.data(), Numbers{1, 2}.data(), 1);
  counts.add(1, Numbers{6, 9}.data(), Numbers{4, 5}.data(), 3);
  EXPECT_EQ(counts.sums(), (Numbers{1, 2, 1, 6, 9, 3}));
  EXPECT_EQ(counts.maxima(), (Numbers{1, 2, 4, 5}));
  SpanCounts again(2, 2);
  again.set(counts.sums(), counts.maxima());
  again.add(1, Numbers{2, 3}.data(), Numbers{2, 7}.data(), 1);
  EXPECT_EQ(again.means(1), (Numbers{2, 3}));
  EXPECT_EQ(again.largest(1), (Numbers{4, 7}));
  EXPECT_EQ(again.means(0), (Numbers{1, 2}));
}

}  // namespace
}  // namespace xlm
