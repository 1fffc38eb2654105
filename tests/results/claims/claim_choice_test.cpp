// Claims about settings that were chosen on validation.
#include <cmath>
#include <iostream>

#include <gmock/gmock.h>

#include "base/error.h"
#include "results/store/statistics.h"
#include "tests/results/claims/claims.h"
#include "tests/results/simulations.h"
#include "tests/results/tuned_runs.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChoiceClaims : public Claims {
 protected:
  ChoiceClaims() {
    make_tuned_runs(maker_);
    store_.sync(maker_.runs());
  }
};

constexpr const char* kWiderIsBetter =
    "claims:\n  - claim: Wider is better\n    value: test.bpc\n    where: {experiment: tuned}\n"
    "    a: {model.span: 256}\n    b: {model.span: 64}\n";

TEST_F(ChoiceClaims, CompareTheSettingsThatAreBestOnValidation) {
  const JudgedClaim claim = judged(std::string(kWiderIsBetter) + "    choose: {over: optimizer.lr, by: valid.bpc}\n");
  ASSERT_EQ(claim.parts.size(), 1U);
  EXPECT_NEAR(*claim.parts[0].value, 1.22 - 1.61, 1e-12);
  EXPECT_EQ(claim.parts[0].seeds, 2);
  EXPECT_THAT(claim.parts[0].mixes, IsEmpty());
  EXPECT_THAT(claim.notes, Contains("Chosen by the best mean valid bpc: optimizer.lr=0.01 for model.span=256; "
                                    "optimizer.lr=0.02 for model.span=64."));
}

TEST_F(ChoiceClaims, ASideWithoutASettingToChooseIsNotTried) {
  const JudgedClaim claim = judged(
      "claims:\n  - claim: Lost\n    value: test.bpc\n    where: {experiment: tuned}\n"
      "    a: {model.span: 64, optimizer.lr: 0.04}\n    b: {model.span: 256}\n"
      "    choose: {over: optimizer.lr, by: valid.bpc}\n");
  EXPECT_EQ(claim.verdict, Verdict::kNotTried);
  EXPECT_EQ(claim.parts.at(0).missing, "model.span=64, optimizer.lr=0.04: no setting can be chosen");
}

TEST_F(ChoiceClaims, OtherSeedsJudgeThanThoseThatChose) {
  const std::string choose = "    choose: {over: optimizer.lr, by: valid.bpc";
  const JudgedClaim same = judged(kWiderIsBetter + choose + "}\n");
  EXPECT_THAT(same.notes, Contains(HasSubstr("The best of 3 equal settings looks better than it is by up to 0.85 ")));
  const JudgedClaim other = judged(
      "claim: Wider is better\nvalue: test.bpc\nwhere: {experiment: tuned, optimizer.lr: [0.01, 0.02]}\n"
      "a: {model.span: 256}\nb: {model.span: 64}\nchoose: {over: optimizer.lr, by: valid.bpc, on: [1]}\n");
  EXPECT_EQ(other.parts.at(0).seeds, 1) << "of two";
  EXPECT_THAT(other.parts.at(0).runs, ::testing::SizeIs(2));
  EXPECT_THAT(other.notes, Contains(HasSubstr("of seeds that are not shown")));
  EXPECT_THAT(other.notes, ::testing::Not(Contains(HasSubstr("looks better"))));
  EXPECT_EQ(judged(kWiderIsBetter + choose + ", on: [1, 2]}\n").verdict, Verdict::kNotTried);
}

// scipy 1.17: quad of x·k·φ(x)·Φ(x)^(k − 1).
TEST(Choice, TheBestOfEqualSettingsLeads) {
  EXPECT_NEAR(expected_lead(2), 0.5641895835477562, 1e-9);
  EXPECT_NEAR(expected_lead(5), 1.16296447364052, 1e-9);
  EXPECT_NEAR(expected_lead(10), 1.5387527308351734, 1e-9);
}

// The best of five equal settings against one of them, by its own numbers or by those of other seeds.
TEST(ChoiceSimulation, TheSeedsThatChooseDoNotJudge) {
  const int samples = simulate_in_full() ? 40'000 : 3'000;
  constexpr std::size_t kSeeds = 5;
  NormalNumbers normal(67);
  int same = 0;
  int other = 0;
  double bias = 0;
  for (int i = 0; i < samples; ++i) {
    std::vector<double> best;
    std::vector<double> others;  // of the same setting
    for (int setting = 0; setting < 5; ++setting) {
      std::vector<double> numbers = normal.next(kSeeds, 0, 1);
      std::vector<double> judging = normal.next(kSeeds, 0, 1);
      if (!best.empty() && mean(numbers) >= mean(best)) continue;
      best = std::move(numbers);
      others = std::move(judging);
    }
    const std::vector<double> against = normal.next(kSeeds, 0, 1);
    const auto is_lower = [&](const std::vector<double>& chosen) {
      return test_limits(difference_of_means(chosen, against), {.high = 0, .open = true}).decision == Decision::kInside;
    };
    same += is_lower(best) ? 1 : 0;
    other += is_lower(others) ? 1 : 0;
    bias += mean(best) / samples;
  }
  const auto share = [&](int count) { return static_cast<double>(count) / samples; };
  if (simulate_in_full())
    std::cout << "confirmed by the same seeds " << share(same) << ", by others " << share(other) << ", bias " << bias
              << "\n";
  EXPECT_GE(share(same), 0.06) << "the fault that `on` mends";
  EXPECT_LE(share(other), 0.025 + 3 * std::sqrt(0.025 * 0.975 / samples));
  EXPECT_NEAR(bias, -expected_lead(5) / std::sqrt(static_cast<double>(kSeeds)), 0.03);
}

TEST_F(ChoiceClaims, WhatNeedsNoRunsHasNoChoice) {
  EXPECT_THROW(claim_of("claims:\n  - claim: Costs\n    value: params\n    needs: costs\n    at_least: 1\n"
                        "    choose: {over: optimizer.lr, by: valid.bpc}\n"),
               UsageError);
}

}  // namespace
}  // namespace xlm
