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
  EXPECT_EQ(
      seeds_in_words(SeedsToDecide{.seeds = 1200, .at_low = 5, .at_high = {}}, "seeds of each side"),
      "1,200 seeds of each side would decide if the present difference were the true one; if its interval's lower end "
      "were, 5; its upper, more than 10,000");
  EXPECT_EQ(seeds_in_words(std::nullopt), "these seeds do not show how many would decide");
}

TEST(VerdictWords, DigitsShowTheWidthOfAnInterval) {
  EXPECT_EQ(decimals_of_width(0.0013), 4);
  EXPECT_EQ(decimals_of_width(0.5), 2);
  EXPECT_EQ(decimals_of_width(130), 0);
  EXPECT_EQ(decimals_of_width(0), 0);
  EXPECT_EQ(digits_beside(1.1, 0.0013), 5) << "1.1000, as its interval is 1.0987 to 1.1013";
  EXPECT_EQ(digits_beside(-0.164, 1.17), 3);
  EXPECT_EQ(digits_beside(0.1, std::nullopt), 3);
}

TEST(VerdictWords, DivergedSeedsStandBesideTheVerdict) {
  EXPECT_EQ(diverged_in_words(0, std::nullopt), "");
  EXPECT_EQ(diverged_in_words(2, std::nullopt), "2 diverged");
  EXPECT_EQ(diverged_in_words(1, Verdict::kUndecided), "1 diverged: undecided if it counts as the worst");
  EXPECT_EQ(diverged_in_words(5, Verdict::kRefuted), "5 diverged: refuted if they count as the worst");
}

}  // namespace
}  // namespace xlm
