// Claims whose spread is known of more than their own runs, and claims that are many.
#include <array>
#include <cmath>

#include <gmock/gmock.h>

#include "base/error.h"
#include "tests/results/claims/claims.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kDeeper =
    "claim: c\nvalue: test.bpc\na: {model.span_type: deep, model.span: 64}\n"
    "b: {model.span_type: flat, model.span: 64}\n";

TEST_F(Claims, APooledSpreadDecidesWithTwoSeeds) {
  add("deep", 64, 1, 1.80001);
  add("deep", 64, 2, 1.81002);
  add("flat", 64, 1, 1.80313);
  add("flat", 64, 2, 1.81204);
  const JudgedClaim own = judged(kDeeper);
  EXPECT_EQ(own.verdict, Verdict::kUndecided);
  const JudgedClaim pooled = judged(kDeeper + "spread: pooled\n");
  const ClaimPart& part = pooled.parts.front();
  EXPECT_LT(*part.half_width, *own.parts.front().half_width);
  EXPECT_EQ(part.verdict, Verdict::kConfirmed);
  EXPECT_EQ(part.by_own, Verdict::kUndecided);
  EXPECT_THAT(beside_verdict(part), HasSubstr("undecided by its own seeds alone"));
  EXPECT_THAT(pooled.notes, Contains(HasSubstr("pooled over 8 settings of this sweep")));
  EXPECT_THAT(pooled.notes, Contains(HasSubstr("equal noise is assumed")));
}

TEST_F(Claims, AStatedSpreadLetsOneSeedASideDecide) {
  add("deep", 64, 1, 1.80);
  add("flat", 64, 2, 1.85);
  EXPECT_EQ(verdict(kDeeper), Verdict::kUndecided);
  const JudgedClaim stated = judged(kDeeper + "spread: {deviation: 0.01, freedom: 20}\n");
  EXPECT_EQ(stated.verdict, Verdict::kConfirmed);
  // scipy 1.17: t.ppf(0.975, 20)·0.01·√2
  EXPECT_NEAR(*stated.parts.front().half_width, 2.0859634473 * 0.01 * std::sqrt(2.0), 1e-9);
  EXPECT_EQ(stated.parts.front().by_own, Verdict::kUndecided);
}

TEST_F(Claims, ASpreadMayComeFromAnEarlierExperiment) {
  add("deep", 64, 1, 1.8012345);
  add("flat", 64, 2, 1.8512345);
  for (const int seed : {1, 2, 3}) {
    maker_.make({.id = "early-0000000" + std::to_string(seed),
                 .experiment = "early",
                 .type = "flat",
                 .seed = seed,
                 .bpc = 1.9 + 0.004 * seed});
  }
  store_.sync(maker_.runs());
  const JudgedClaim claim = judged(kDeeper + "spread: {from: early}\n");
  // scipy 1.17: t.ppf(0.975, 2)·0.004·√2
  EXPECT_NEAR(*claim.parts.front().half_width, 4.3026527297 * 0.004 * std::sqrt(2.0), 1e-9);
  EXPECT_THAT(claim.notes, Contains(HasSubstr("pooled over 1 setting of early")));
  EXPECT_THAT(judged(kDeeper + "spread: {from: none}\n").notes,
              Contains(HasSubstr("no runs of the experiment none show how much seeds differ")));
}

TEST_F(Claims, ANoisySideKeepsItsOwnSpread) {
  for (const int seed : {1, 2, 3}) {
    add("deep", 64, seed, 1.80 + 0.3 * (seed - 2) * (seed - 2));
    add("flat", 64, seed, 1.85);
  }
  const JudgedClaim claim = judged(kDeeper + "spread: pooled\n");
  EXPECT_THAT(claim.notes, Contains(HasSubstr("its own seeds alone count")));
  EXPECT_FALSE(claim.parts.front().by_own);
}

// Each look is a fresh test otherwise: 26 % of true nulls are decided at some look up to 20 seeds.
TEST_F(Claims, LooksBeforeThePlanIsFulfilledDecideNothing) {
  const std::string plan = kDeeper + "seeds: 4\n";
  const auto look = [&] { return judged(plan).parts.front(); };
  for (const int seed : {1, 2, 3}) {
    add("deep", 64, seed, 1.80 + 0.001 * seed);
    add("flat", 64, seed, 1.85 + 0.0013 * seed);
  }
  EXPECT_EQ(verdict(kDeeper), Verdict::kConfirmed);
  EXPECT_EQ(look().verdict, Verdict::kUndecided);
  EXPECT_EQ(beside_verdict(look()), "a look at 3 of 4 planned seeds decides nothing");
  add("deep", 64, 5, 1.806);
  add("flat", 64, 5, 1.857);
  add("deep", 64, 4, 1.8, "text8", "running");
  add("flat", 64, 4, 1.855);
  EXPECT_EQ(look().looked_at, 3) << "the seed 4 is waited for";
  add("deep", 64, 4, 1.804, "text8", "diverged");
  EXPECT_EQ(look().looked_at, 3) << "another run of it still trains";
}

TEST_F(Claims, APlanIsFulfilledByItsFirstSeedsAndOthersAreNamed) {
  for (const int seed : {1, 2, 3, 4, 10}) {
    add("deep", 64, seed, 1.80 + 0.001 * seed);
    if (seed != 3) add("flat", 64, seed, 1.85 + 0.0013 * seed);
  }
  add("flat", 64, 3, 1.8, "text8", "diverged");
  const JudgedClaim claim = judged(kDeeper + "seeds: 4\n");
  EXPECT_EQ(claim.parts.front().diverged, 1) << "it counts in its place";
  EXPECT_FALSE(claim.parts.front().is_a_look());
  EXPECT_EQ(claim.parts.front().seeds, 3);
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_THAT(claim.notes, Contains(HasSubstr("seeds beyond the plan are left out (10)")));
}

TEST_F(Claims, ALookSaysWhatWillHardlyBeConfirmed) {
  for (const int seed : {1, 2, 3}) {
    add("deep", 64, seed, 1.85 + 0.001 * seed);
    add("flat", 64, seed, 1.85 + 0.0013 * seed);
  }
  const JudgedClaim claim = judged(kDeeper + "seeds: 5\nmargin: 0.1\n");
  EXPECT_THAT(beside_verdict(claim.parts.front()), HasSubstr("with all of them it will hardly be confirmed"));
}

TEST_F(Claims, PartsThatAreRefutedAloneAreCorrected) {
  // Three comparisons, one of which is worse with p = 0.03: corrected it is 0.09.
  const std::array<double, 3> deep{1.8575, 1.8605, 1.8645};
  for (const int seed : {1, 2, 3}) {
    add("deep", 64, seed, deep.at(static_cast<std::size_t>(seed) - 1));
    for (const char* type : {"flat", "other", "third"}) add(type, 64, seed, type[0] == 'f' ? 1.85 : 1.86);
  }
  const JudgedClaim claim = judged(
      "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\na: {model.span_type: deep}\n"
      "b: [{model.span_type: flat}, {model.span_type: other}, {model.span_type: third}]\n");
  const ClaimPart& part = claim.parts.front();
  EXPECT_LT(*part.p, 0.05);
  EXPECT_GT(*part.p, 0.05 / 3);
  EXPECT_EQ(part.verdict, Verdict::kUndecided);
  EXPECT_EQ(beside_verdict(part), "refuted if it were the only comparison");
  EXPECT_EQ(claim.verdict, Verdict::kUndecided);
}

TEST(ClaimNoise, WhatTakesNoSpreadSaysSo) {
  EXPECT_THROW(claim_of("claim: c\nvalue: x\ntrend: falls\nalong: y\nspread: pooled\n"), UsageError);
  EXPECT_THROW(claim_of("claim: c\nvalue: x\nat_least: 1\nspread: {deviation: 0, freedom: 3}\n"), UsageError);
  EXPECT_THROW(claim_of("claim: c\nvalue: x\nat_least: 1\nspread: shared\n"), UsageError);
}

JudgedClaim with_p(const std::string& name, std::optional<double> p, Verdict verdict = Verdict::kConfirmed) {
  JudgedClaim claim;
  claim.description.name = name;
  claim.p = p;
  claim.verdict = verdict;
  return claim;
}

// statsmodels 0.14: multipletests([0.001, 0.02, 0.03, 1], method="holm") = 0.004, 0.06, 0.06, 1; "fdr_bh" = 0.004,
// 0.04, 0.04, 1.
TEST(ManyClaims, WhatTheyOweToChanceIsSaid) {
  const std::vector<JudgedClaim> claims{with_p("one", 0.001), with_p("two", 0.02), with_p("three", 0.03),
                                        with_p("open", 1, Verdict::kUndecided), with_p("exact", std::nullopt)};
  std::vector<const JudgedClaim*> all;
  for (const JudgedClaim& claim : claims) all.push_back(&claim);
  EXPECT_EQ(chance_note(all),
            "4 claims were tried by seeds. If none held, up to 0.1 would be confirmed by chance. 3 are confirmed or "
            "refuted; with Holm's correction for all it is 1, with Benjamini and Hochberg's 3 (at most 5 % of them "
            "false). By chance alone may be: two and three.");
  std::vector<JudgedClaim> apart = claims;
  apart[1].description.family = "second";
  const std::string note = chance_note({&apart[0], &apart[1], &apart[2], &apart[3]});
  EXPECT_THAT(note, HasSubstr("correction for each family it is 2, with")) << "0.02 stands alone";
  EXPECT_THAT(note, HasSubstr("By chance alone may be: three."));
  EXPECT_EQ(claim_of("claim: c\nvalue: x\nat_least: 1\nfamily: speed\n").family, "speed");
  EXPECT_EQ(chance_note({all.front()}), "");
  EXPECT_EQ(chance_note({all[3], all[3]}),
            "2 claims were tried by seeds. If none held, up to 0.05 would be confirmed by chance.");
}

}  // namespace
}  // namespace xlm
