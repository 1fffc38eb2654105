// Judging claims: every kind of them, by runs whose numbers are known.
#include "results/claims/judged_claim.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "results/claims/claim_text.h"
#include "results/run_folder/remark.h"
#include "tests/results/claims/claims.h"
#include "tests/results/tables/paper_with.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kAdaptiveOrFixed =
    "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\na: {model.span_type: adaptive}\nb: {model.span_type: fixed}\n";

TEST_F(Claims, ABetterSideIsConfirmedWithItsIntervalPairedBySeed) {
  const JudgedClaim claim = judged(kAdaptiveOrFixed + "printed: -0.1\n");
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  ASSERT_THAT(claim.parts, SizeIs(1));
  const ClaimPart& part = claim.parts.front();
  // Differences of seeds: -0.101, -0.1, -0.101; their mean is -0.302 / 3, their deviation 0.001 / √3.
  EXPECT_NEAR(*part.value, -0.302 / 3, 1e-9);
  EXPECT_NEAR(*part.half_width, 4.302653 * 0.001 / 3, 1e-8) << "t of 2 degrees · s / √3";
  EXPECT_TRUE(part.is_paired);
  EXPECT_EQ(part.seeds, 3);
  EXPECT_THAT(part.runs, SizeIs(6));
  EXPECT_LT(*part.p, 0.001);
  EXPECT_EQ(claim.against, Verdict::kConsistent);
  EXPECT_EQ(judged(kAdaptiveOrFixed + "printed: \"-0.200\"\n").against, Verdict::kDiffers);
}

TEST_F(Claims, TheOtherWayItIsRefutedAndBMayBeTheBetterOne) {
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "better: b\n"), Verdict::kRefuted);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "higher: a\n"), Verdict::kRefuted);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "higher: b\n"), Verdict::kConfirmed);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "lower: a\n"), Verdict::kConfirmed);
  EXPECT_EQ(judged(kAdaptiveOrFixed + "higher: b\nprinted: -0.1\n").against, Verdict::kConsistent)
      << "the paper's number is a − b, whichever is better";
}

TEST_F(Claims, AMarginIsADifferenceThatDoesNotCount) {
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "margin: 0.05\n"), Verdict::kConfirmed);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "margin: 0.2\n"), Verdict::kRefuted) << "better by less than that";
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "margin: 0.1005\n"), Verdict::kUndecided);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "not_better: a\nmargin: 0.2\n"), Verdict::kConfirmed);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "not_better: a\n"), Verdict::kRefuted);
}

TEST_F(Claims, SeedsThatWereAddedAfterLooksNeedASmallerP) {
  const std::string claim = kAdaptiveOrFixed + "margin: 0.099\n";  // p = 0.038, by differences of 0.101, 0.1, 0.101
  ASSERT_EQ(verdict(claim), Verdict::kConfirmed);
  const std::vector<std::string> runs = judged(claim).parts.front().runs;
  const auto tag = [&](const std::string& name) {  // a run of each side
    for (const std::string& run : {runs.front(), runs.back()}) {
      append_remark(maker_.folder(run), {{"tag", name}, {"given", true}});
    }
    store_.sync(maker_.runs());
  };
  tag("look-at-this");
  tag("baseline");
  EXPECT_EQ(verdict(claim), Verdict::kConfirmed) << "tags of people";
  tag("look-1");
  const JudgedClaim looked = judged(claim);
  EXPECT_EQ(looked.verdict, Verdict::kUndecided);
  EXPECT_EQ(looked.parts.front().verdict, Verdict::kUndecided);
  EXPECT_EQ(looked.p, 1);
  EXPECT_NEAR(*looked.too_weak, 0.0377496, 1e-6) << "Student's t of 5 with 2 degrees, scipy";
  EXPECT_THAT(looked.notes,
              Contains(HasSubstr("looks again and again, so p has to be below 0.005 at look 2. It is 0.038")));
  EXPECT_EQ(verdict(kAdaptiveOrFixed), Verdict::kConfirmed) << "p is far smaller";
}

TEST_F(Claims, AlikeNeedsEvidenceAndNotItsLack) {
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "within: 0.2\n"), Verdict::kConfirmed);
  EXPECT_EQ(verdict(kAdaptiveOrFixed + "within: 0.05\n"), Verdict::kRefuted);
  for (const double noise : {-0.4, 0.0, 0.4})
    add("noisy", 64, 1 + static_cast<int>(std::lround(noise * 2.5)) + 1, 1.85 + noise);
  const JudgedClaim noisy = judged(
      "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\na: {model.span_type: noisy}\nb: {model.span_type: "
      "adaptive}\nwithin: 0.2\n");
  EXPECT_EQ(noisy.verdict, Verdict::kUndecided) << "the means are close, but the seeds are not";
  ASSERT_TRUE(noisy.parts.front().seeds_to_decide && noisy.parts.front().seeds_to_decide->seeds);
  EXPECT_GT(*noisy.parts.front().seeds_to_decide->seeds, 10);
}

TEST_F(Claims, OneSeedIsUndecidedAndNoRunNotTried) {
  const JudgedClaim one = judged(kAdaptiveOrFixed, {.filters = parse_filters({"seed=1"})});
  EXPECT_EQ(one.verdict, Verdict::kUndecided);
  EXPECT_FALSE(one.parts.front().half_width);
  const JudgedClaim none = judged("claim: c\nvalue: test.bpc\na: {model.span: 512}\nb: {model.span: 64}\n");
  EXPECT_EQ(none.verdict, Verdict::kNotTried);
  EXPECT_THAT(none.parts.front().missing, HasSubstr("model.span=512"));
  EXPECT_THROW(judged("claim: c\nvalue: test.bcp\na: {model.span: 256}\nb: {model.span: 64}\n"), UsageError);
}

TEST_F(Claims, SidesWithoutCommonSeedsAreComparedAsTwoSamples) {
  add("later", 64, 7, 1.80);
  add("later", 64, 8, 1.81);
  const JudgedClaim claim = judged(
      "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\na: {model.span_type: later}\nb: {model.span_type: fixed}\n");
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_FALSE(claim.parts.front().is_paired);
}

TEST_F(Claims, OneCommonSeedOfSeveralIsNoPair) {
  for (const int seed : {3, 4, 5}) add("later", 64, seed, 1.80 + 0.001 * seed);
  const std::string claim = "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\nb: {model.span_type: fixed}\n";
  const JudgedClaim later = judged(claim + "a: {model.span_type: later}\n");
  EXPECT_EQ(later.verdict, Verdict::kConfirmed) << "as by xlm compare";
  EXPECT_FALSE(later.parts.front().is_paired);
  add("single", 64, 3, 1.8);
  const JudgedClaim single = judged(claim + "a: {model.span_type: single}\n");
  EXPECT_TRUE(single.parts.front().is_paired);
  EXPECT_EQ(single.verdict, Verdict::kUndecided);
  EXPECT_THAT(single.notes, Contains(HasSubstr("2 seeds without a partner are left out")));
}

TEST_F(Claims, RunsWithoutANumberAreNamed) {
  EXPECT_THAT(judged(kAdaptiveOrFixed).notes, IsEmpty());
  add("adaptive", 64, 4, 9, "text8", "diverged");
  add("adaptive", 64, 5, 9, "text8", "running");
  const JudgedClaim claim = judged(kAdaptiveOrFixed);
  EXPECT_EQ(claim.parts.front().seeds, 3);
  EXPECT_THAT(claim.notes,
              Contains("model.span_type=adaptive: runs without a number are left out (1 diverged, 1 running)"));
}

TEST_F(Claims, DivergedSeedsStandInTheVerdictsOwnLine) {
  for (int seed = 4; seed <= 8; ++seed) {
    add("adaptive", 64, seed, 9, "text8", "diverged");
    add("fixed", 64, seed, 1.95);
  }
  const JudgedClaim claim = judged(kAdaptiveOrFixed);
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_EQ(claim.parts.front().diverged, 5);
  EXPECT_EQ(claim.parts.front().worst_case, Verdict::kRefuted);
  const ClaimList list{.title = "t", .name = "n", .claims = {claim}};
  EXPECT_THAT(render_claims(list, TableFormat::kText), HasSubstr("5 diverged: refuted if they count as the worst"));
  EXPECT_THAT(render_claims(list, TableFormat::kMarkdown),
              HasSubstr("confirmed (5 diverged: refuted if they count as the worst)"));
  EXPECT_EQ(judged(kAdaptiveOrFixed + "higher: b\n").parts.front().worst_case, Verdict::kConfirmed)
      << "where higher is better, the worst of a is below b";
}

TEST_F(Claims, KeysThatAClaimDoesNotNameAreNoted) {
  for (const int seed : {1, 2, 3}) {
    maker_.make({.id = "adaptive-span-text8-" + std::to_string(40'000'000 + seed),
                 .type = "slow",
                 .span = 64,
                 .seed = seed,
                 .bpc = 1.8 + 0.01 * seed,
                 .lr = 0.01});
  }
  store_.sync(maker_.runs());
  const std::string sides = "where: {model.span: 64}\na: {model.span_type: slow}\nb: {model.span_type: fixed}\n";
  const JudgedClaim claim = judged("claim: c\nvalue: test.bpc\n" + sides);
  EXPECT_EQ(claim.parts.front().differ_in, std::vector<std::string>{"optimizer.lr"});
  EXPECT_THAT(claim.notes,
              Contains(HasSubstr("the sides differ in optimizer.lr, too, of which the claim says nothing")));
  EXPECT_THAT(judged("claim: c\nvalue: test.bpc\nchoose: {over: optimizer.lr, by: valid.bpc}\n" + sides)
                  .parts.front()
                  .differ_in,
              IsEmpty())
      << "it chooses among them";
}

/// The paper's run varies, too, and its number is rounded: a perfect reproduction is not refuted.
TEST_F(Claims, APrintedNumberAloneIsJudgedAsInTables) {
  for (const int seed : {1, 2, 3}) add("same", 64, seed, 1.498 + 0.002 * (seed - 1) + 1e-5);
  const std::string claim = "claim: c\nvalue: test.bpc\nwhere: {model.span_type: same}\n";
  // 4.302653 · 0.002 · √(1/3 + 1) + 0.0005 = 0.01044 is above 0.01; with five runs of the paper it is 0.0068.
  const JudgedClaim one = judged(claim + "printed: 1.510\n");
  EXPECT_EQ(one.verdict, Verdict::kUndecided);
  EXPECT_EQ(one.against, Verdict::kConsistent);
  const JudgedClaim five = judged(claim + "printed: 1.510\nprinted_runs: 5\n");
  EXPECT_EQ(five.verdict, Verdict::kRefuted);
  EXPECT_EQ(five.against, Verdict::kDiffers);
  EXPECT_EQ(verdict(claim + "printed: 1.502\ntolerance: 0.02\n"), Verdict::kConfirmed) << "the tolerance is a margin";
  EXPECT_EQ(verdict(claim + "printed: 1.502\ntolerance: 0.005\n"), Verdict::kUndecided);
}

TEST_F(Claims, AMeanOverCorporaIsNoNumber) {
  for (const char* type : {"fixed", "adaptive"}) {
    for (const int seed : {1, 2, 3}) add(type, 64, seed, 1.1 + 0.001 * seed, "enwik8");
  }
  const JudgedClaim both = judged(kAdaptiveOrFixed);
  EXPECT_EQ(both.verdict, Verdict::kNotTried) << "each seed of a side has two numbers";
  EXPECT_THAT(both.parts.front().missing, HasSubstr("different corpora"));
  const std::string value = "claim: c\nvalue: test.bpc\na: {model.span_type: fixed, model.span: 64}\nat_most: 3\n";
  EXPECT_EQ(verdict(value), Verdict::kNotTried);
  EXPECT_EQ(verdict(value + "where: {data.name: text8}\n"), Verdict::kConfirmed);
  EXPECT_EQ(judged(kAdaptiveOrFixed + "each: data.name\n").parts.size(), 2U);
}

TEST_F(Claims, NumbersPerTokenOfOtherTokensAreNotCompared) {
  for (const char* unit : {"bytes", "characters"}) {
    for (const int seed : {1, 2, 3}) {
      const MadeRun made{.id = fmt::format("{}-{}", unit, seed), .type = unit, .seed = seed, .bpc = 1.5 + 0.01 * seed};
      maker_.make(made);
      write_file(RunPaths{maker_.folder(made.id)}.environment(),
                 Json{{"dataset", unit}, {"fingerprint", unit}, {"texts", {{"test", "0123abcd"}}}}.dump());
    }
  }
  store_.sync(maker_.runs());
  const std::string sides = "a: {data.name: bytes}\nb: {data.name: characters}\n";
  const std::string of_bpc = "claim: c\nvalue: test.bpc\nlower: a\n" + sides;
  EXPECT_NE(verdict(of_bpc), Verdict::kNotTried) << "other training data, and the same tokens of the test";
  for (const int seed : {1, 2, 3}) {
    const MadeRun made{.id = fmt::format("bytes-{}", seed), .bpc = 1.5 + 0.01 * seed};
    Json record = RunMaker::evaluation("test", made.bpc);
    record["tokens"] = 1900;
    maker_.journal(made).append("evaluation", record);
  }
  store_.sync(maker_.runs());
  for (const char* value : {"test.bpc", "test.loss", "=test.loss/2"}) {
    const JudgedClaim claim = judged(fmt::format("claim: c\nvalue: \"{}\"\nlower: a\n{}", value, sides));
    EXPECT_EQ(claim.verdict, Verdict::kNotTried);
    EXPECT_THAT(claim.parts.front().missing, HasSubstr("is per token; bits_per_byte compares them"));
  }
  EXPECT_NE(verdict("claim: c\nvalue: test.average_span\nlower: a\n" + sides), Verdict::kNotTried);
}

TEST_F(Claims, OtherMarginsAreTried) {  // the interval is -0.1021 to -0.0992
  const auto words = [&](const std::string& more) { return at_other_margins(judged(kAdaptiveOrFixed + more)); };
  EXPECT_EQ(words("margin: 0.04\n"), "the same verdict with half and with twice the margin");
  EXPECT_EQ(words("margin: 0.07\n"), "the same verdict with half the margin, refuted with twice");
  EXPECT_EQ(words("margin: 0.0503\n"), "the same verdict with half the margin, undecided with twice");
  EXPECT_EQ(words("margin: 0.2012\n"), "undecided with half the margin, the same verdict with twice");
  EXPECT_EQ(words("within: 0.07\n"), "the same verdict with half the margin, confirmed with twice");
  EXPECT_EQ(words("printed: -0.15\ntolerance: 0.04\n"), "the same verdict with half the margin, confirmed with twice");
  EXPECT_EQ(words(""), "");
  EXPECT_EQ(words("margin: 0.04\nseeds: 5\n"), "") << "a look decides nothing at any margin";
}

TEST_F(Claims, SidesAreNamedByWhatSetsThemApart) {
  const auto label = [&](const std::string& sides) {
    return judged("claim: c\nvalue: test.bpc\n" + sides).parts.front().label;
  };
  EXPECT_EQ(label("a: {model.span_type: adaptive, model.span: 64}\nb: {model.span_type: fixed, model.span: 64}\n"),
            "adaptive − fixed");
  EXPECT_EQ(label("a: {model.span: 128}\nb: {model.span: 64}\n"), "span limit 128 − span limit 64");
  EXPECT_EQ(label("a: {model.span: \"> 64\"}\nb: {label: short, where: {model.span: 64}}\n"), "span limit >64 − short");
}

TEST_F(Claims, FewSeedsRestOnNormality) {
  const JudgedClaim three = judged(kAdaptiveOrFixed);
  EXPECT_THAT(notes_on_all({&three}), Contains(HasSubstr("fewer than six seeds")));
  const JudgedClaim open = judged(kAdaptiveOrFixed + "margin: 0.1005\n");
  EXPECT_THAT(notes_on_all({&open}), IsEmpty()) << "nothing is decided";
}

TEST_F(Claims, NumbersOfOtherCorporaAreNotCompared) {
  for (const int seed : {1, 2, 3}) add("adaptive", 512, seed, 1.1 + 0.001 * seed, "enwik8");
  const std::string sides = "a: {model.span: 512}\nb: {model.span: 64, model.span_type: adaptive}\n";
  const JudgedClaim claim = judged("claim: c\nvalue: test.bpc\n" + sides);
  EXPECT_EQ(claim.verdict, Verdict::kNotTried);
  EXPECT_THAT(claim.parts.front().missing, HasSubstr("different corpora"));
  EXPECT_EQ(verdict("claim: c\nvalue: =test.bpc[a]/test.bpc[b]\nat_most: 1\n" + sides), Verdict::kNotTried);
  EXPECT_EQ(verdict("claim: c\nvalue: =params[a]/params[b]\nat_most: 1\n" + sides), Verdict::kConfirmed)
      << "costs have no corpus";
  const std::string asked = "a: {data.name: enwik8}\nb: {data.name: text8, model.span: 64}\n";
  const JudgedClaim of_both = judged("claim: c\nvalue: test.bpc\n" + asked);
  EXPECT_EQ(of_both.verdict, Verdict::kConfirmed) << "that is asked for";
  EXPECT_THAT(of_both.notes, Contains(HasSubstr("the sides were measured on different data, as their conditions ask")));
  EXPECT_EQ(verdict("claim: c\ngrid: spans\nlower: b\n" + sides), Verdict::kConfirmed) << "grids have no corpus";
  EXPECT_EQ(verdict("claim: c\nvalue: test.bpc\nover: data.name\na: {model.span: 512}\nb: {model.span: 64, "
                    "model.span_type: adaptive}\n"),
            Verdict::kNotTried)
      << "no corpus is common, so two samples are compared";
  const std::string trend = "claim: c\nvalue: test.bpc\ntrend: falls\nalong: model.span\n";
  EXPECT_EQ(verdict(trend + "a: {model.span_type: adaptive}\n"), Verdict::kNotTried);
  EXPECT_EQ(verdict(trend + "a: {model.span_type: adaptive, model.span: [64, 128, 256]}\n"), Verdict::kConfirmed);
}

TEST_F(Claims, PartsThatAreNotTriedAreNoTests) {
  int seed = 0;
  for (const double bpc : {1.957, 1.976, 1.982}) add("worse", 64, ++seed, bpc);  // by 0.010, 0.020 and 0.015
  const std::string claim = "claim: c\nvalue: test.bpc\nwhere: {model.span: 64}\nb: {model.span_type: fixed}\n";
  const JudgedClaim alone = judged(claim + "a: {model.span_type: worse}\n");
  ASSERT_EQ(alone.verdict, Verdict::kRefuted);
  ASSERT_GT(4 * *alone.parts.front().p, 0.05) << "four tests would correct it away";
  EXPECT_EQ(verdict(claim + "a: [{model.span_type: worse}, {model.span_type: x}, {model.span_type: y}, "
                            "{model.span_type: z}]\n"),
            Verdict::kRefuted);
}

TEST_F(Claims, ListsAreComparedEachWithEachAndAnOrderNeighbourByNeighbour) {
  const std::string fixed = "where: {model.span_type: fixed}\n";
  const JudgedClaim lists = judged("claim: c\nvalue: test.bpc\n" + fixed +
                                   "a: [{model.span: 256}, {model.span: 128}]\nb: {model.span: 64}\n");
  EXPECT_EQ(lists.verdict, Verdict::kConfirmed);
  EXPECT_THAT(lists.parts, SizeIs(2));
  EXPECT_EQ(verdict("claim: c\nvalue: test.bpc\n" + fixed +
                    "order: [{model.span: 256}, {model.span: 128}, {model.span: 64}]\n"),
            Verdict::kConfirmed);
  EXPECT_EQ(verdict("claim: c\nvalue: test.bpc\n" + fixed +
                    "order: [{model.span: 256}, {model.span: 64}, {model.span: 128}]\n"),
            Verdict::kRefuted)
      << "one neighbour is the wrong way round";
}

TEST_F(Claims, TheNearestSettingOfBIsCompared) {
  const JudgedClaim claim = judged(
      "claim: c\nvalue: test.bpc\na: {model.span_type: adaptive, model.span: 128}\nb: {model.span_type: fixed}\n"
      "nearest: flops_per_token\n");
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_THAT(claim.parts.front().label, HasSubstr("128,000,000"));
  EXPECT_THAT(claim.parts.front().runs, SizeIs(6)) << "of the fixed runs, those with a span of 128";
  EXPECT_THAT(claim.parts.front().mixes, IsEmpty());
  const JudgedClaim better_b = judged(
      "claim: c\nvalue: test.bpc\nb: {model.span_type: adaptive}\na: {model.span_type: fixed, model.span: 128}\n"
      "nearest: flops_per_token\nbetter: b\n");
  EXPECT_EQ(better_b.verdict, Verdict::kConfirmed);
  EXPECT_THAT(better_b.parts.front().runs, SizeIs(6)) << "of the adaptive runs, those with a span of 128";
}

TEST_F(Claims, AClaimForEachValueHoldsForAllOfThem) {
  const JudgedClaim each = judged(
      "claim: c\nvalue: test.bpc\neach: model.span\na: {model.span_type: adaptive}\nb: {model.span_type: fixed}\n");
  EXPECT_EQ(each.verdict, Verdict::kConfirmed);
  ASSERT_THAT(each.parts, SizeIs(3));
  EXPECT_THAT(each.parts[1].label, HasSubstr("128: "));
  for (const int seed : {1, 2, 3}) add("adaptive", 512, seed, 2 + 0.001 * seed);
  for (const int seed : {1, 2, 3}) add("fixed", 512, seed, 1 + 0.001 * seed + 0.0001 * (seed % 2));
  EXPECT_EQ(verdict("claim: c\nvalue: test.bpc\neach: model.span\na: {model.span_type: adaptive}\nb: "
                    "{model.span_type: fixed}\n"),
            Verdict::kRefuted);
}

TEST_F(Claims, ATrendIsASlopeWithinSeeds) {
  const JudgedClaim falls =
      judged("claim: c\nvalue: test.bpc\ntrend: tends to fall\nalong: model.span\na: {model.span_type: fixed}\n");
  EXPECT_EQ(falls.verdict, Verdict::kConfirmed);
  EXPECT_NEAR(*falls.parts.front().value, -0.001, 1e-9) << "bits for each token of span";
  EXPECT_EQ(
      verdict("claim: c\nvalue: test.bpc\ntrend: tends to rise\nalong: model.span\na: {model.span_type: fixed}\n"),
      Verdict::kRefuted);
  EXPECT_EQ(verdict("claim: c\nvalue: test.bpc\ntrend: tends to fall\nscale: log\nalong: model.span\na: "
                    "{model.span_type: fixed}\n"),
            Verdict::kConfirmed);
  // The gap between both types is the same at every span.
  const JudgedClaim gap = judged(
      "claim: c\nvalue: test.bpc\ntrend: falls\nalong: model.span\na: {model.span_type: adaptive}\nb: "
      "{model.span_type: "
      "fixed}\n");
  EXPECT_EQ(gap.verdict, Verdict::kUndecided);
}

TEST_F(Claims, ATrendNamesTheRunsThatItLeavesOut) {
  for (const int seed : {1, 2, 3}) add("fixed", 0, seed, 5);
  add("fixed", 512, 9, 1.2);  // the only run of its seed
  const JudgedClaim claim = judged(
      "claim: c\nvalue: test.bpc\ntrend: tends to fall\nscale: log\nalong: model.span\na: {model.span_type: fixed}\n");
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_EQ(claim.parts.front().seeds, 3);
  EXPECT_THAT(claim.notes, Contains(HasSubstr("runs whose model.span is not above 0 are left out (scale: log)")));
  EXPECT_THAT(claim.notes, Contains(HasSubstr("values of model.span that a single seed has are left out (512)")));
}

TEST_F(Claims, WhatFallsFallsAtEachStep) {
  const std::string start = "claim: c\nvalue: test.bpc\nalong: model.span\na: {model.span_type: fixed}\n";
  const JudgedClaim falls = judged(start + "trend: falls\n");
  EXPECT_EQ(falls.verdict, Verdict::kConfirmed);
  ASSERT_THAT(falls.parts, SizeIs(2));
  EXPECT_EQ(falls.parts.front().label, "span limit 128 − 64 of fixed");
  const JudgedClaim with_margin = judged(start + "trend: falls\nmargin: 0.5\n");
  EXPECT_THAT(claim_p(with_margin.description, with_margin.parts.front()), HasSubstr(" against the margin"));
  EXPECT_THAT(claim_p(with_margin.description, with_margin.parts.back()), ::testing::Not(HasSubstr("margin")))
      << "first to last";
  EXPECT_EQ(verdict(start + "trend: rises\n"), Verdict::kRefuted);
  for (const int seed : {1, 2, 3}) add("fixed", 512, seed, 1.77 + 0.01 * seed + 0.0001 * (seed % 2));
  EXPECT_EQ(verdict(start + "trend: falls\n"), Verdict::kRefuted) << "it turns at 256";
  EXPECT_THAT(judged(start + "trend: tends to fall\n").notes, Contains(HasSubstr("the means turn at 256")));
  const JudgedClaim nearly = judged(start + "trend: falls\nmargin: 0.05\n");
  EXPECT_EQ(nearly.verdict, Verdict::kConfirmed) << "by less than the margin, and it ends below where it began";
  EXPECT_THAT(nearly.parts, SizeIs(4));
}

TEST_F(Claims, AFormulaOverSidesIsComputedForEachSeed) {
  const JudgedClaim ratio = judged(
      "claim: c\nvalue: =test.bpc[a]/test.bpc[b]\nwhere: {model.span: 64}\na: {model.span_type: adaptive}\nb: "
      "{model.span_type: fixed}\nat_most: 0.97\n");
  EXPECT_EQ(ratio.verdict, Verdict::kConfirmed);
  const double expected = (1.846 / 1.947 + 1.856 / 1.956 + 1.866 / 1.967) / 3;
  EXPECT_NEAR(*ratio.parts.front().value, expected, 1e-9);
  const std::string flops =
      "claim: c\nvalue: =1 - flops_per_token[a]/flops_per_token[b]\na: {model.span: 64, model.span_type: fixed}\nb: "
      "{model.span: 256, model.span_type: fixed}\nprinted: 0.75\ntolerance: 0.001\n";
  EXPECT_EQ(verdict(flops), Verdict::kConfirmed);
}

TEST_F(Claims, WhatFollowsFromTheConfigurationNeedsNoSeeds) {
  const JudgedClaim params = judged(
      "claim: c\nvalue: params\nwhere: {seed: 1, model.span: 64, model.span_type: fixed}\n"
      "printed: 38M\n");
  EXPECT_EQ(params.verdict, Verdict::kConfirmed) << "38.1M prints as 38M";
  EXPECT_TRUE(params.parts.front().is_exact);
  EXPECT_EQ(
      verdict("claim: c\nvalue: params\nwhere: {seed: 1, model.span: 64, model.span_type: fixed}\nprinted: 39M\n"),
      Verdict::kRefuted);
}

/// The FLOPs of a model that learns its spans differ from seed to seed.
TEST_F(Claims, FlopsThatAreLearntHaveAnIntervalAndNeedSeeds) {
  const std::vector<double> learnt{0.50e8, 0.60e8, 0.55e8};
  for (int seed = 1; seed <= 3; ++seed) {
    maker_.make({.id = "adaptive-span-text8-" + std::to_string(30'000'000 + seed),
                 .type = "adaptive",
                 .span = 512,
                 .seed = seed,
                 .bpc = 1.8,
                 .flops = learnt[static_cast<std::size_t>(seed - 1)]});
  }
  store_.sync(maker_.runs());
  const std::string share =
      "claim: c\nvalue: =flops_per_token[a]/flops_per_token[b]\na: {model.span: 512, model.span_type: adaptive}\n"
      "b: {model.span: 128, model.span_type: fixed}\n";
  const JudgedClaim near = judged(share + "at_most: 0.45\n");
  const ClaimPart& part = near.parts.front();
  EXPECT_FALSE(part.is_exact);
  EXPECT_EQ(part.seeds, 3);
  ASSERT_TRUE(part.half_width);
  EXPECT_NEAR(*part.half_width, 4.302653 * 0.05e8 / 1.28e8 / std::sqrt(3.0), 1e-6);
  EXPECT_EQ(near.verdict, Verdict::kUndecided) << "the mean of 0.43 alone says nothing";
  EXPECT_EQ(verdict(share + "at_most: 0.9\n"), Verdict::kConfirmed);
  const JudgedClaim one = judged(share + "at_most: 0.9\n", {.filters = parse_filters({"seed=1"})});
  EXPECT_EQ(one.verdict, Verdict::kUndecided) << "one seed does not show whether others have the same FLOPs";
}

TEST_F(Claims, RowsOfAGridBecomeOneNumberOfEachRun) {
  const std::string grid = "claim: c\nwhere: {model.span_type: fixed, model.span: 256}\n";
  const JudgedClaim first = judged(grid + "grid: {name: spans, rows: [1, 1], as: max}\nat_most: 42\n");
  EXPECT_EQ(first.verdict, Verdict::kConfirmed);
  EXPECT_DOUBLE_EQ(*first.parts.front().value, 40);
  EXPECT_EQ(verdict(grid + "grid: {name: spans, rows: [2, 2], as: max}\nat_least: 254\n"), Verdict::kConfirmed);
  EXPECT_EQ(verdict(grid + "grid: {name: spans, rows: [2, 2], as: max}\nat_least: 256\n"), Verdict::kUndecided)
      << "three equal numbers without a fraction are no certainty";
  EXPECT_DOUBLE_EQ(*judged(grid + "grid: spans\nat_least: 1\n").parts.front().value, (32 + 40 + 33 + 256) / 4.0);
  EXPECT_DOUBLE_EQ(*judged(grid + "grid: {name: spans, as: slope}\nat_least: 0\n").parts.front().value,
                   (33 + 256) / 2.0 - (32 + 40) / 2.0);
  EXPECT_EQ(verdict(grid + "grid: {name: spans, rows: [2, 2], as: slope}\nat_least: 0\n"), Verdict::kNotTried)
      << "one row has no slope";
}

TEST_F(Claims, OfImportedRunsWithoutTheNumberNameTheOptionThatReadsIt) {
  const RunPaths run{maker_.make({.id = "csv-lab-00000001", .experiment = "lab"})};
  write_file(run.config(), read_file(run.config()) + "imported: {source: csv, id: a}\n");
  store_.sync(maker_.runs());
  const JudgedClaim claim = judged("claim: c\nwhere: {experiment: lab}\nvalue: test.bits_per_byte\nat_most: 1\n");
  EXPECT_THAT(claim.parts.front().missing, HasSubstr("xlm runs import --split says which numbers are evaluations"));
}

TEST_F(Claims, ClaimsOnCostsAskConfigurationsAndNoRuns) {
  std::vector<std::string> asked;
  const ClaimContext context{.configured = [&](const Yaml& settings, const std::set<std::string>& columns) {
    asked.push_back(to_json(settings).dump() + " " + *columns.begin());
    const bool wide = settings.find("model.width")->scalar == "8";
    return std::map<std::string, double>{{"params", wide ? 80.0 : 20.0}};
  }};
  const JudgedClaim claim = judged(
      "claim: c\nvalue: =params[a]/params[b]\nneeds: costs\nwhere: {model.heads: 2}\na: {model.width: 8}\nb: "
      "{model.width: 2}\nprinted: 4\n",
      context);
  EXPECT_EQ(claim.verdict, Verdict::kConfirmed);
  EXPECT_THAT(claim.parts.front().runs, IsEmpty());
  EXPECT_EQ(asked.front(), R"({"model.heads":2,"model.width":8} params)");
  EXPECT_THROW(judged("claim: c\nvalue: test.bpc\nneeds: costs\na: {model.width: 8}\nat_most: 1\n", context),
               UsageError);
}

TEST_F(Claims, ARunThatIsNotThePapersSaysNothingOfAPrintedNumber) {
  const std::shared_ptr<PaperRuns> paper = paper_with({{"model.layers", 12}});
  const JudgedClaim order = judged(kAdaptiveOrFixed + "printed: -0.1\n", {.paper = paper.get()});
  EXPECT_EQ(order.verdict, Verdict::kConfirmed) << "an order can be tried at any size";
  EXPECT_EQ(order.against, Verdict::kNotComparable);
  const std::string number =
      "claim: c\nvalue: test.bpc\nwhere: {model.span: 64, model.span_type: fixed}\nprinted: 1.96\ntolerance: 0.1\n";
  EXPECT_EQ(judged(number, {.paper = paper.get()}).verdict, Verdict::kNotTried);
  EXPECT_EQ(verdict(number), Verdict::kConfirmed);
  const std::shared_ptr<PaperRuns> alike = paper_with({{"model.layers", 2}});
  EXPECT_EQ(judged(number, {.paper = alike.get()}).verdict, Verdict::kConfirmed);
}

TEST_F(Claims, ASideThatMixesSettingsIsNoted) {
  const JudgedClaim mixed =
      judged("claim: c\nvalue: test.bpc\na: {model.span_type: adaptive}\nb: {model.span_type: fixed}\n");
  ASSERT_THAT(mixed.notes, SizeIs(1));
  EXPECT_THAT(mixed.notes.front(), HasSubstr("differ in model.span"));
}

TEST_F(Claims, FormsSayTheSame) {
  ClaimList list{.title = "Claims of spans", .name = "spans", .claims = {judged(kAdaptiveOrFixed + "printed: -0.1\n")}};
  list.claims.push_back(judged("claim: d\nvalue: test.bpc\na: {model.span: 512}\nb: {model.span: 64}\n"));
  const std::string text = render_claims(list, TableFormat::kText);
  EXPECT_THAT(text, HasSubstr("confirmed  c\n"));
  EXPECT_THAT(text, HasSubstr("-0.1007, 95 % interval -0.1021 to -0.0992"));
  EXPECT_THAT(text, HasSubstr("paper: -0.1, consistent"));
  EXPECT_THAT(text, HasSubstr("not tried  d\n"));
  EXPECT_THAT(text, HasSubstr("2 claims: 1 confirmed, 1 not tried"));
  EXPECT_THAT(render_claims(list, TableFormat::kMarkdown), HasSubstr("| confirmed"));
  EXPECT_THAT(render_claims(list, TableFormat::kCsv), HasSubstr("\nc,confirmed,"));
  EXPECT_THAT(render_claims(list, TableFormat::kLatex), HasSubstr("\\label{tab:spans}"));
  const Json json = Json::parse(render_claims(list, TableFormat::kJson));
  EXPECT_EQ(json[0]["verdict"], "confirmed");
  EXPECT_EQ(json[0]["parts"][0]["runs"].size(), 6U);
  EXPECT_EQ(json[1]["parts"][0]["ours"], Json());
}

}  // namespace
}  // namespace xlm
