// Claims about settings that were chosen on validation.
#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/results/claims/claims.h"
#include "tests/results/tuned_runs.h"

namespace xlm {
namespace {

using ::testing::Contains;
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

TEST_F(ChoiceClaims, WhatNeedsNoRunsHasNoChoice) {
  EXPECT_THROW(claim_of("claims:\n  - claim: Costs\n    value: params\n    needs: costs\n    at_least: 1\n"
                        "    choose: {over: optimizer.lr, by: valid.bpc}\n"),
               UsageError);
}

}  // namespace
}  // namespace xlm
