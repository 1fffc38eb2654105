// The windows of the overlap evaluation against a plain definition: each token once, in order, with the right context.
#include "core/schemes/overlap_windows.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// The definition: windows of T tokens begin every T − O tokens. A prediction counts in the first window that makes it.
std::vector<OverlapWindow> by_hand(std::int64_t tokens, std::int64_t window, std::int64_t overlap) {
  std::vector<OverlapWindow> windows;
  std::vector<bool> counted(static_cast<std::size_t>(std::max<std::int64_t>(tokens, 1)));
  for (std::int64_t begin = 0; begin < tokens; begin += window - overlap) {
    OverlapWindow now{.begin = begin};
    for (std::int64_t at = begin; at < begin + window && at + 1 < tokens; ++at) {
      ++now.length;
      const auto target = static_cast<std::size_t>(at + 1);
      if (!counted[target]) ++now.scored;
      counted[target] = true;
    }
    if (now.scored > 0) windows.push_back(now);
  }
  return windows;
}

TEST(OverlapWindows, EqualThoseCountedByHand) {
  for (std::int64_t window = 1; window <= 12; ++window) {
    for (std::int64_t overlap = 0; overlap < window; ++overlap) {
      for (std::int64_t tokens = 0; tokens <= 40; ++tokens) {
        const OverlapWindows windows(tokens, window, overlap);
        std::vector<OverlapWindow> all;
        for (std::int64_t i = 0; i < windows.size(); ++i) all.push_back(windows[i]);
        ASSERT_EQ(all, by_hand(tokens, window, overlap)) << "N " << tokens << ", T " << window << ", O " << overlap;
      }
    }
  }
}

TEST(OverlapWindows, ScoreEveryTokenButTheFirstOnceAndInOrder) {
  for (std::int64_t window = 1; window <= 12; ++window) {
    for (std::int64_t overlap = 0; overlap < window; ++overlap) {
      for (std::int64_t tokens = 0; tokens <= 40; ++tokens) {
        const OverlapWindows windows(tokens, window, overlap);
        std::int64_t next = 1;
        for (std::int64_t i = 0; i < windows.size(); ++i) {
          const OverlapWindow now = windows[i];
          ASSERT_EQ(now.first_target(), next);
          ASSERT_EQ(now.begin + now.length + 1, next + now.scored) << "the last prediction of a window counts";
          ASSERT_EQ(now.first_scored(), i == 0 ? 0 : overlap) << "context before the first scored prediction";
          next += now.scored;
        }
        ASSERT_EQ(next, std::max<std::int64_t>(tokens, 1));
        ASSERT_EQ(windows.scored(), std::max<std::int64_t>(tokens - 1, 0));
      }
    }
  }
}

// "consider a window size T=10, and an overlap of 3 … t_{1:10}, t_{8:17}, t_{15:24} … used to predict the spans of
// tokens t_{2:11}, t_{12:18}, t_{19:25}" (section 4.2); there tokens are counted from 1.
TEST(OverlapWindows, AreThoseOfThePapersExample) {
  const OverlapWindows windows(25, 10, 3);
  ASSERT_EQ(windows.size(), 3);
  const std::vector<std::vector<std::int64_t>> printed{{1, 10, 2, 11}, {8, 17, 12, 18}, {15, 24, 19, 25}};
  for (std::size_t i = 0; i < printed.size(); ++i) {
    const OverlapWindow now = windows[static_cast<std::int64_t>(i)];
    const std::vector<std::int64_t> here{now.begin + 1, now.begin + now.length, now.first_target() + 1,
                                         now.first_target() + now.scored};
    EXPECT_EQ(here, printed[i]);
  }
}

TEST(OverlapWindows, TakeTheLongestDocuments) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(OverlapWindows(kMax, 2, 1).size(), kMax - 2);
  EXPECT_EQ(OverlapWindows(2, kMax, 0)[0], (OverlapWindow{.begin = 0, .length = 1, .scored = 1}));
}

TEST(OverlapWindows, RefuseImpossibleSizes) {
  EXPECT_THAT([] { OverlapWindows(9, 0, 0); }, ThrowsMessage<UsageError>(HasSubstr("a window has 0 tokens")));
  EXPECT_THAT([] { OverlapWindows(9, 4, 4); }, ThrowsMessage<UsageError>(HasSubstr("an overlap from 0 to 3")));
  EXPECT_THAT([] { OverlapWindows(9, 4, -1); }, ThrowsMessage<UsageError>(HasSubstr("cannot overlap by -1")));
}

}  // namespace
}  // namespace xlm
