// What the seeds of claims will show, against SciPy 1.17 (stats.nct).
#include "results/claims/claim_power.h"

#include "results/judgement/plan.h"
#include "tests/results/claims/claims.h"

namespace xlm {
namespace {

constexpr double kRuns = 0.002;  // by which single runs vary
const std::string kBetter =
    "claims: [{claim: c, value: test.bpc, where: {model.span: 64}, a: {model.span_type: adaptive}, b: "
    "{model.span_type: fixed}, printed: -0.01}]";

class Power : public Claims {
 protected:
  PartPower power(const std::string& yaml) { return power_of(judged(yaml), {.of_runs = kRuns}).front(); }
};

TEST_F(Power, OfPairsIsSciPys) {
  const PartPower found = power(kBetter);
  EXPECT_EQ(found.seeds, 3);
  EXPECT_NEAR(*found.decided_from, 0.009232109, 1e-7);
  EXPECT_NEAR(*found.chance, 0.847321106, 1e-6) << "if the printed -0.01 is true";
  EXPECT_FALSE(found.needed) << "80 % are reached";
}

TEST_F(Power, OfOneSideIsSciPys) {
  const PartPower found =
      power("claims: [{claim: c, value: test.bpc, where: {model.span: 64, model.span_type: adaptive}, at_most: 2}]");
  EXPECT_NEAR(*found.decided_from, 0.006528087, 1e-7);
  EXPECT_FALSE(found.paper);
}

TEST_F(Power, OfTwoSamplesIsSciPys) {
  const Estimate five{.error = kRuns * std::sqrt(2.0 / 5), .freedom = 8, .seeds = 5};
  EXPECT_NEAR(distance_decided(five), 0.004048882, 1e-7);
  const Estimate two{.error = 1, .freedom = 1, .seeds = 2};
  EXPECT_NEAR(distance_decided(two), 16.334008870, 1e-4);
}

TEST_F(Power, MoreSeedsAreNamedWhereThePapersNumberNeedsThem) {
  std::string small = kBetter;
  small.replace(small.find("-0.01"), 5, "-0.005");
  const PartPower found = power(small);
  EXPECT_LT(*found.chance, 0.5);
  EXPECT_EQ(found.needed, 5) << "0.0048 with five, by SciPy";
}

TEST_F(Power, APlanCountsWithAllItsSeeds) {
  std::string planned = kBetter;
  planned.replace(planned.find("printed: -0.01"), 14, "seeds: 5");
  const PartPower found = power(planned);
  EXPECT_EQ(found.seeds, 5);
  EXPECT_NEAR(*found.decided_from, 0.004757407, 1e-7);
}

TEST_F(Power, WithoutAGuessTheStoreSaysHowMuchRunsVary) {
  RunTable runs(store_);
  const KnownNoise known = known_noise(runs, claim_of(kBetter), {});
  ASSERT_TRUE(known.of_runs && known.of_pairs);
  EXPECT_GT(*known.of_runs, 0);
  EXPECT_EQ(power_of(judged(kBetter), {}).front().why_not, "no spread known");
  EXPECT_EQ(
      power("claims: [{claim: c, value: '=test.bpc[a]/test.bpc[b]', a: {model.span: 64}, b: {model.span: 128}, where: "
            "{model.span_type: fixed}, at_most: 1}]")
          .why_not,
      "formula over sides");
}

TEST_F(Power, PairsHaveTheirOwnNoise) {
  const PartPower pairs = power_of(judged(kBetter), {.of_runs = kRuns, .of_pairs = kRuns / 2}).front();
  EXPECT_TRUE(pairs.is_of_pairs);
  EXPECT_NEAR(*pairs.decided_from, 0.009232109 / (2 * std::sqrt(2)), 1e-7) << "the error of three differences";
  EXPECT_FALSE(power(kBetter).is_of_pairs);
}

TEST_F(Power, HasTheFormsOfTables) {
  const std::string text = render_sheet(power_sheet(power_of(judged(kBetter), {.of_runs = kRuns})), TableFormat::kText);
  EXPECT_NE(text.find("0.0092"), std::string::npos) << text;
  EXPECT_NE(text.find("85 %"), std::string::npos) << text;
}

}  // namespace
}  // namespace xlm
