// The words of verdicts.
#include "results/judgement/verdict.h"

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(VerdictWords, OfAClaimAndOfAPrintedValue) {
  EXPECT_EQ(name_of(verdict_on_claim(Decision::kInside)), "confirmed");
  EXPECT_EQ(name_of(verdict_on_claim(Decision::kOutside)), "refuted");
  EXPECT_EQ(name_of(verdict_on_claim(Decision::kUndecided)), "undecided");
  EXPECT_EQ(name_of(Verdict::kNotTried), "not tried");
  EXPECT_EQ(name_of(verdict_on_printed(Decision::kInside, true)), "agrees");
  EXPECT_EQ(name_of(verdict_on_printed(Decision::kUndecided, true)), "undecided");
  for (const Decision decision : {Decision::kInside, Decision::kUndecided}) {
    EXPECT_EQ(name_of(verdict_on_printed(decision, false)), "consistent") << "no margin: the word is weaker";
  }
  for (const bool has_margin : {false, true}) {
    EXPECT_EQ(name_of(verdict_on_printed(Decision::kOutside, has_margin)), "differs");
  }
  EXPECT_EQ(name_of(Verdict::kNotComparable), "not comparable");
}

TEST(VerdictWords, PIsABoundWhereItIsVerySmall) {
  EXPECT_EQ(p_in_words(0.004532), "p = 0.0045");
  EXPECT_EQ(p_in_words(1), "p = 1");
  EXPECT_EQ(p_in_words(0.0001), "p = 0.0001");
  EXPECT_EQ(p_in_words(0.0000999), "p < 0.0001");
  EXPECT_EQ(p_text(0), "< 0.0001");
}

TEST(VerdictWords, SaysHowManySeedsWouldDecide) {
  EXPECT_EQ(seeds_in_words(1200), "1,200 seeds would decide");
  EXPECT_EQ(seeds_in_words(std::nullopt), "more than 10,000 seeds would be needed");
}

}  // namespace
}  // namespace xlm
