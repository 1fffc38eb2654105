// Descriptions of claims: what four lines mean, and what is refused, with its place.
#include "results/claims/claim_description.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "results/claims/side_formula.h"
#include "tests/results/claims/claims.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint_about_claim(const std::string& yaml) {
  return thrown_message([&] { (void)claim_of(yaml); });
}

TEST(ClaimDescription, FourLinesAreAClaim) {
  const ClaimDescription claim = claim_of(
      "claims:\n  - claim: A longer span helps\n    value: test.bpc\n    a: {model.span: 256}\n    b: {model.span: "
      "64}\n");
  EXPECT_EQ(claim.claim, "A longer span helps");
  EXPECT_EQ(claim.name, "a-longer-span-helps");
  EXPECT_EQ(claim.expects, Expectation::kBetter);
  EXPECT_FALSE(claim.b_is_better);
  ASSERT_EQ(claim.sides.size(), 2U);
  EXPECT_EQ(claim.sides[0].label, "model.span=256");
  EXPECT_EQ(claim.over, "seed");
  EXPECT_EQ(claim.needs, ClaimNeeds::kRuns);
  EXPECT_EQ(claim.place, "claims.yaml:2");
}

TEST(ClaimDescription, SidesMayBeListsAndHaveLabels) {
  const ClaimDescription claim =
      claim_of("claim: c\nvalue: test.bpc\na: [{label: A, where: {seed: 1}}, {seed: 2}]\nb: {seed: 3}\n");
  EXPECT_EQ(claim.sides_called('a').size(), 2U);
  EXPECT_EQ(claim.sides[0].label, "A");
  EXPECT_EQ(claim.sides[0].where.size(), 1U);
  EXPECT_EQ(claim.sides_called('b').front()->label, "seed=3");
}

TEST(ClaimDescription, AFormulaOverSidesNamesThem) {
  EXPECT_EQ(bound_to_sides("=1 - paper_flops[a]/{test.bpc@at.x=1}[b]"), "=1 - {paper_flops[a]}/{test.bpc@at.x=1[b]}");
  EXPECT_EQ(bound_to_sides("=1e3*step_seconds"), "=1e3*step_seconds");
  EXPECT_THAT(letters_in("=x[b]/(y[a] + z[b])"), ElementsAre('b', 'a'));
  EXPECT_EQ(side_column("test.bpc[a]").column, "test.bpc");
  EXPECT_EQ(side_column("test.bpc[a]").letter, 'a');
  EXPECT_EQ(side_column("test.bpc").letter, 0);
}

TEST(ClaimDescription, MistakesHaveTheirPlace) {
  const std::string start = "claim: c\nvalue: test.bpc\n";
  const std::string sides = start + "a: {seed: 1}\nb: {seed: 2}\n";
  EXPECT_THAT(complaint_about_claim(sides + "beter: a\n"), AllOf(HasSubstr("claims.yaml:"), HasSubstr("beter")));
  EXPECT_THAT(complaint_about_claim(sides + "better: c\n"), AllOf(HasSubstr("claims.yaml:5"), HasSubstr("a or b")));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nwithin: 0.1\n"), HasSubstr("better and within"));
  EXPECT_THAT(complaint_about_claim(sides + "within: -1\n"), HasSubstr("claims.yaml:5: within is -1"));
  EXPECT_THAT(complaint_about_claim(sides + "margin: nan\n"), HasSubstr("margin must be a number"));
  EXPECT_THAT(complaint_about_claim(sides + "tolerance: 1\n"), HasSubstr("needs 'printed'"));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nprinted: about one\n"), HasSubstr("which is no number"));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nprinted: -0.1 ± 0.02\n"), HasSubstr("printed_runs: 3"));
  EXPECT_THAT(complaint_about_claim(start + "a: {seed: 1}\nbetter: a\n"), HasSubstr("needs the sides 'a' and 'b'"));
  EXPECT_THAT(complaint_about_claim(start + "a: {seed: 1}\n"), HasSubstr("does not say what has to come out"));
  EXPECT_THAT(complaint_about_claim(start + "a: 5\n"), HasSubstr("claims.yaml:3: a side must be a map"));
  EXPECT_THAT(complaint_about_claim(start + "order: [{seed: 1}]\n"), HasSubstr("two sides or more"));
  EXPECT_THAT(complaint_about_claim(start + "trend: rises\n"), HasSubstr("along: COLUMN"));
  EXPECT_THAT(complaint_about_claim(start + "trend: rises\nscale: log\n"), HasSubstr("which have a slope"));
  EXPECT_THAT(complaint_about_claim(start + "at_least: 1\nover: data.name\nseeds: 3\n"), HasSubstr("another 'over'"));
  EXPECT_THAT(complaint_about_claim(start + "along: seed\nat_least: 1\n"), HasSubstr("belongs to a trend"));
  EXPECT_THAT(complaint_about_claim(start + "at_least: 2\nat_most: 1\n"), HasSubstr("at_most is below"));
  EXPECT_THAT(complaint_about_claim(start + "at_least: 1\nmargin: 5\n"), HasSubstr("'margin' belongs to"));
  EXPECT_THAT(complaint_about_claim(sides + "within: 1\nmargin: 5\n"), HasSubstr("'margin' belongs to"));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nscale: log\n"), HasSubstr("'scale' belongs to a trend"));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nprinted_runs: 7\n"), HasSubstr("needs 'printed'"));
  EXPECT_THAT(complaint_about_claim(sides + "better: a\nc: {seed: 3}\n"), HasSubstr("names the side [c]"));
  EXPECT_THAT(complaint_about_claim("claim: c\nvalue: =x[a]\nat_least: 1\n"), HasSubstr("needs a side under 'a'"));
  EXPECT_THAT(complaint_about_claim("claim: c\nvalue: =1 +\nat_least: 1\n"), HasSubstr("claims.yaml:2: the formula"));
  EXPECT_THAT(complaint_about_claim("claim: c\nat_least: 1\n"), HasSubstr("has no value"));
  EXPECT_THAT(complaint_about_claim("claim: c\ngrid: {name: spans, rows: [3, 1]}\nat_least: 1\n"),
              HasSubstr("the last row must be a whole number from 3"));
  EXPECT_THAT(complaint_about_claim("claims: [{value: test.bpc}]\n"), HasSubstr("the claim says nothing"));
  EXPECT_EQ(complaint_about_claim(sides + "better: b\n"), "");
}

}  // namespace
}  // namespace xlm
