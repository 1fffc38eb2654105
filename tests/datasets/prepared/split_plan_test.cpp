#include "datasets/prepared/split_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(SplitPlan, Text8GetsNinetyAndTwiceFiveMillion) {
  EXPECT_EQ(SplitPlan("90%,5%,5%").sizes(100'000'000), (SplitSizes{90'000'000, 5'000'000, 5'000'000}));
}

TEST(SplitPlan, SharesAreRoundedDownAndTrainingTakesTheRest) {
  EXPECT_EQ(SplitPlan("90%,5%,5%").sizes(119), (SplitSizes{109, 5, 5}));
  EXPECT_EQ(SplitPlan("90%,5%,5%").sizes(19), (SplitSizes{19, 0, 0}));
  EXPECT_EQ(SplitPlan("99.8%,0.1%,0.1%").sizes(10'000), (SplitSizes{9980, 10, 10}));
  EXPECT_EQ(SplitPlan("0%,50%,50%").sizes(3), (SplitSizes{1, 1, 1}));
  const std::int64_t huge = std::int64_t{1} << 60;
  EXPECT_EQ(SplitPlan("50%,25%,25%").sizes(huge), (SplitSizes{huge / 2, huge / 4, huge / 4}));
}

TEST(SplitPlan, CountsAreTakenFromTheStart) {
  EXPECT_EQ(SplitPlan("4000000,200000,200000").sizes(4'500'000), (SplitSizes{4'000'000, 200'000, 200'000}));
  EXPECT_EQ(SplitPlan("10,0,0").sizes(10), (SplitSizes{10, 0, 0}));
}

TEST(SplitPlan, ASplitLongerThanTheTextIsWrongUsage) {
  EXPECT_THAT([] { SplitPlan("80,10,11").sizes(100); }, ThrowsMessage<UsageError>(HasSubstr("longer than the text")));
  EXPECT_THAT([] { SplitPlan("9223372036854775807,9223372036854775807,1").sizes(100); },
              ThrowsMessage<UsageError>(HasSubstr("which has 100 tokens")));
}

TEST(SplitPlan, RefusesMalformedSplits) {
  for (const char* text : {"", "90,5", "1,2,3,4", "a,b,c", "-1,1,1", "1.5,1,1", "90%,5,5%", "80%,5%,5%", "90%,5%,6%",
                           "0,0,0", "99999999999999999999,1,1", "110%,-5%,-5%", "nan%,1%,1%", "%,%,%"}) {
    EXPECT_THROW(SplitPlan{text}, UsageError) << text;
  }
}

TEST(SplitPlan, SharesAndCountsAreNotMixed) {
  for (const char* text : {"1%,2,3", "1,2%,3", "1,2,3%", "90%,5%,5", "90%,5,5%", "5,90%,10%"}) {
    EXPECT_THAT([&] { SplitPlan{text}; }, ThrowsMessage<UsageError>(HasSubstr("counts and shares are mixed"))) << text;
  }
}

TEST(SplitPlan, HasOneSpelling) {
  EXPECT_EQ(SplitPlan(" 90.0% , 5%,5% ").text(), "90%,5%,5%");
  EXPECT_EQ(SplitPlan("+10,2,3").text(), "10,2,3");
}

}  // namespace
}  // namespace xlm
