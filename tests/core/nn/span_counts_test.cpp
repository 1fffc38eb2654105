// How far back heads have looked whose span depends on the text.
#include "core/nn/span_counts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlm {
namespace {

using testing::ElementsAre;

/// One query of each of two heads: [1, 1, 2].
SpanCounts::OfLayer query(double first, double second) {
  return SpanCounts::of(torch::tensor({first, second}, torch::kDouble).view({1, 1, 2}));
}

TEST(SpanCounts, AreMeansAndMaximaByHead) {
  SpanCounts counts(2, 2);
  EXPECT_THAT(counts.means(), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 0))) << "before the first query";
  const torch::Tensor spans = torch::tensor({{1., 8.}, {2., 4.}, {6., 0.}}, torch::kDouble).unsqueeze(0);
  counts.add({SpanCounts::of(spans), SpanCounts::of(query(0, 1).largest.expand({1, 3, 2}))}, {});
  counts.add({query(3, 4), query(2, 1)}, {});
  EXPECT_THAT(counts.means(), ElementsAre(ElementsAre(3, 4), ElementsAre(0.5, 1)));
  EXPECT_THAT(counts.largest(), ElementsAre(ElementsAre(6, 8), ElementsAre(2, 1)));
  counts.add({query(99, 99), query(99, 99)}, torch::tensor(false));
  EXPECT_THAT(counts.largest(), ElementsAre(ElementsAre(6, 8), ElementsAre(2, 1))) << "it had no room";
  counts.add({query(3, 4), query(9, 1)}, torch::tensor(true));
  EXPECT_THAT(counts.means(), ElementsAre(ElementsAre(3, 4), ElementsAre(2.2, 1)));
  counts.reset();
  EXPECT_THAT(counts.means(), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 0)));
  EXPECT_THAT(counts.largest(), ElementsAre(ElementsAre(0, 0), ElementsAre(0, 0)));
}

TEST(SpanCounts, ContinueFromACheckpoint) {
  SpanCounts counts(2, 2);
  counts.add({query(1, 2), query(5, 6)}, {});
  counts.add({query(3, 4), query(7, 9)}, {});
  EXPECT_THAT(counts.sums(), ElementsAre(4, 6, 2, 12, 15, 2)) << "with the queries of each layer";
  SpanCounts resumed(2, 2);
  resumed.set(counts.sums(), counts.maxima(), torch::kCPU);
  counts.add({query(5, 6), query(0, 0)}, {});
  resumed.add({query(5, 6), query(0, 0)}, {});
  EXPECT_EQ(resumed.means(), counts.means());
  EXPECT_EQ(resumed.largest(), counts.largest());
}

}  // namespace
}  // namespace xlm
