// Numbers as a line of small bars.
#include "base/sparkline.h"

#include <limits>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(Sparkline, GoesFromTheLeastToTheGreatest) {
  EXPECT_EQ(sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 20), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({3, 2, 1}, 20), "█▅▁");
}

TEST(Sparkline, ShowsMeansOfNeighboursWhereThereIsLittleRoom) {
  EXPECT_EQ(sparkline({0, 2, 10, 12}, 2), "▁█");
  EXPECT_EQ(sparkline({0, 0, 0, 7, 7, 7, 3, 3, 4}, 3), "▁█▄") << "3.33 of 7";
}

TEST(Sparkline, LeavesABlankForWhatIsNoNumber) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sparkline({2, none, 1}, 3), "█ ▁");
  EXPECT_EQ(sparkline({2, std::numeric_limits<double>::infinity(), 1}, 3), "█ ▁");
  EXPECT_EQ(sparkline({none, none}, 3), "");
}

TEST(Sparkline, OfEqualNumbersIsFlat) { EXPECT_EQ(sparkline({5, 5, 5}, 3), "▅▅▅"); }

TEST(Sparkline, OfFewerThanTwoNumbersIsEmpty) {
  EXPECT_EQ(sparkline({}, 3), "");
  EXPECT_EQ(sparkline({1}, 3), "");
  EXPECT_EQ(sparkline({1, 2}, 0), "");
}

}  // namespace
}  // namespace xlm
