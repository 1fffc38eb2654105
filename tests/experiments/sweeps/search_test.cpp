// Searches: what a file may say, and the points that follow from settings.
#include "experiments/sweeps/search.h"

#include <set>

#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/search_rounds.h"
#include "experiments/sweeps/sweep_conditions.h"
#include "tests/results/run_maker.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

Yaml search_tree(const std::string& search, const std::string& more = "") {
  return parse_yaml("model: {type: adaptive-span}\nsweep:\n  search: {" + search + "}\n" + more, "s.yaml");
}

std::string complaint_about_search(const std::string& search, const std::string& more = "") {
  return thrown_message([&] { read_search(search_tree(search, more)); });
}

const std::string kBegin = "measure: valid.bpc, trials: 6, keys: ";

TEST(SearchDescription, ReadsRangesAndChoices) {
  const Yaml tree = search_tree(
      "measure: valid.bpc, trials: 6, together: 2, sampler: cmaes, generator: 7, seeds: [3, 5],"
      "keys: {optimizer.lr: {low: 0.001, high: 0.1, log: true}, model.layers: {low: 2, high: 8, step: 2},"
      "model.span_type: [fixed, adaptive]}");
  const Search search = read_search(tree).value();
  EXPECT_EQ(search.measure, "valid.bpc");
  EXPECT_FALSE(search.higher);
  EXPECT_EQ(search.trials, 6);
  EXPECT_EQ(search.together, 2);
  EXPECT_EQ(search.sampler, "cmaes");
  EXPECT_EQ(search.generator, 7);
  EXPECT_EQ(search.seeds, (std::vector<std::int64_t>{3, 5}));
  ASSERT_EQ(search.keys.size(), 3U);
  EXPECT_TRUE(search.keys[0].log);
  EXPECT_FALSE(search.keys[0].whole);
  EXPECT_TRUE(search.keys[1].whole);
  EXPECT_EQ(search.keys[1].step, 2);
  EXPECT_EQ(search.keys[2].choices.size(), 2U);
  EXPECT_FALSE(read_search(parse_yaml("sweep: {grid: {seed: [1]}}\n", "s")).has_value());
}

TEST(SearchDescription, TheMeasureKnowsWhichWayIsBetter) {
  const std::string keys = "trials: 1, keys: {a: [1, 2]}, ";
  EXPECT_FALSE(read_search(search_tree(keys + "measure: test.loss"))->higher);
  EXPECT_TRUE(read_search(search_tree(keys + "measure: valid.f1_of_mine, better: higher"))->higher);
  EXPECT_THAT(complaint_about_search(keys + "measure: valid.f1_of_mine"), HasSubstr("say which way is better"));
  EXPECT_THAT(complaint_about_search(keys + "measure: valid.bpc, better: higher"),
              HasSubstr("of valid.bpc lower is better"));
  EXPECT_THAT(complaint_about_search(keys + "measure: valid.bpc, better: up"), HasSubstr("it is lower or higher"));
  EXPECT_THAT(complaint_about_search(keys + "measure: loss"), HasSubstr("must be a column of an evaluation"));
}

TEST(SearchDescription, RefusesWhatCannotBeSearched) {
  EXPECT_THAT(complaint_about_search(kBegin + "{}"), HasSubstr("s.yaml:3: sweep.search.keys is empty"));
  EXPECT_THAT(complaint_about_search(kBegin + "[a]"), HasSubstr("must be a map of keys"));
  EXPECT_THAT(complaint_about_search(kBegin + "{seed: [1, 2]}"), HasSubstr("seeds: 3"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: 3}"), HasSubstr("'a' must be a range"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: []}"), HasSubstr("choices of 'a' is empty"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 1}}"), HasSubstr("lacks 'high'"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 3, high: 1}}"), HasSubstr("range of 'a' is empty"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 3, high: .inf}}"), HasSubstr("high must be a number"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: .nan, high: 3}}"), HasSubstr("low must be a number"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: -1e308, high: 1e308}}"), HasSubstr("must have finite bounds"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 0.0, high: 1.0, log: true}}"), HasSubstr("needs low above 0"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 1, high: 9, step: 2, log: true}}"), HasSubstr("log and step"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 0, high: 1}}"), HasSubstr("write low: 0.0, high: 1.0"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: {low: 1, high: 9, lgo: true}}"), HasSubstr("lgo"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: [1, 2], a.b: [1, 2]}"), HasSubstr("one is part of the other"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: [1, 2]}, seeds: 0"), HasSubstr("seeds must be"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: [1, 2]}, seeds: [1, 1]"), HasSubstr("different seeds"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: [1, 2]}, sampler: grid"), HasSubstr("sampler"));
  EXPECT_THAT(complaint_about_search("measure: valid.bpc, keys: {a: [1, 2]}"), HasSubstr("trials is missing"));
  EXPECT_THAT(complaint_about_search(kBegin + "{a: [1, 2]}", "  grid: {seed: [1, 2]}\n"),
              HasSubstr("s.yaml:4: sweep.search cannot be used with sweep.grid"));
}

TEST(SearchPoints, OneForEachSeedWithSixDigits) {
  const Yaml tree = search_tree(
      kBegin + "{optimizer.lr: {low: 0.001, high: 0.1}, model.layers: {low: 2, high: 8}, a: [x, [1, 2]]}, seeds: 2");
  const std::vector<SweepPoint> points = points_of_trial(*read_search(tree), {0.0123456789, 4, 1});
  ASSERT_EQ(points.size(), 2U);
  ASSERT_EQ(points[1].size(), 4U);
  EXPECT_EQ(points[1][0].first, "optimizer.lr");
  EXPECT_EQ(points[1][0].second.scalar, "0.0123457");
  EXPECT_EQ(points[1][1].second.scalar, "4");
  EXPECT_EQ(to_json(points[1][2].second), Json({1, 2}));
  EXPECT_EQ(points[1][3].first, "seed");
  EXPECT_EQ(points[0][3].second.scalar, "1");
  EXPECT_EQ(points[1][3].second.scalar, "2");
  EXPECT_EQ(points_of_trial(*read_search(tree), {0.5, 4, 0})[0][0].second.scalar, "0.1") << "rounded outside";
}

TEST(SearchPoints, WhenDropsKeysOfAKind) {
  const std::string keys = "{kind: [a, b], depth: {low: 1, high: 9}}";
  const Yaml tree = search_tree(kBegin + keys, "  when: {depth: {kind: b}}\n");
  const Search search = *read_search(tree);
  EXPECT_EQ(points_of_trial(search, {0, 5})[0].size(), 2U);
  EXPECT_EQ(points_of_trial(search, {1, 5})[0].size(), 3U);
  const Yaml wrong = search_tree(kBegin + keys, "  when: {dept: {kind: b}}\n");
  EXPECT_THROW(read_search(wrong), UsageError);
  const Yaml never = search_tree(kBegin + keys, "  when: {depth: {kind: c}}\n");
  EXPECT_THROW(check_condition_values(never, never), UsageError);
}

TEST(SearchPoints, ASweepHasSupposedOnesUntilItIsPlanned) {
  const Yaml tree = search_tree(
      kBegin + "{lr: {low: 0.001, high: 0.1, log: true}, layers: {low: 2, high: 8, step: 3}, c: [x, y]}, seeds: 2");
  const std::vector<SweepPoint> points = recipe_of(tree).points;
  ASSERT_EQ(points.size(), 12U);
  std::set<std::string> layers;
  for (const SweepPoint& point : points) {
    const double lr = to_json(point[0].second).get<double>();
    EXPECT_GE(lr, 0.001);
    EXPECT_LE(lr, 0.1);
    layers.insert(point[1].second.scalar);
  }
  for (const std::string& value : layers) EXPECT_THAT(value, ::testing::AnyOf("2", "5", "8"));
  EXPECT_GT(layers.size(), 1U);
}

TEST(SearchPoints, WithoutSeedsTheConfigurationHasTheSeed) {
  const auto seeds_of = [](const std::string& seed, const std::string& seeds) {
    Yaml tree =
        parse_yaml(seed + "sweep: {search: {measure: valid.bpc, trials: 1, keys: {a: [1, 2]}" + seeds + "}}", "s");
    return read_search(tree)->seeds;
  };
  EXPECT_EQ(seeds_of("", ""), (std::vector<std::int64_t>{1}));
  EXPECT_EQ(seeds_of("seed: 5\n", ""), (std::vector<std::int64_t>{5}));
  EXPECT_EQ(seeds_of("seed: 5\n", ", seeds: 2"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_THROW(seeds_of("seed: many\n", ""), UsageError);
  Yaml tree = search_tree(kBegin + "{a: [1, 2]}, seeds: 3");
  apply_override(tree, "seed=7");
  EXPECT_EQ(recipe_of(tree, {"seed=7"}).search->seeds, (std::vector<std::int64_t>{7}));
}

TEST(SearchPoints, HaveTheBudgetOfTheSweep) {
  const Yaml tree = search_tree(kBegin + "{model.layers: [2, 4]}", "  budget: {flops: 1e9}\n");
  const SweepPoint point = points_of_trial(*read_search(tree), {1}).front();
  ASSERT_EQ(point.size(), 3U);
  EXPECT_EQ(point[2].first, "train.flops");
  EXPECT_EQ(point[2].second.scalar, "1e9");
  const Yaml both = search_tree(kBegin + "{train.steps: [2, 4]}", "  budget: {flops: 1e9}\n");
  EXPECT_THROW(points_of_trial(*read_search(both), {1}), UsageError);
}

TEST(SearchPoints, AFixedKeyIsKnownToConditions) {
  Yaml tree = search_tree(kBegin + "{kind: [a, b], depth: {low: 1, high: 9}}", "  when: {depth: {kind: b}}\n");
  apply_override(tree, "depth=3");
  EXPECT_EQ(points_of_trial(*recipe_of(tree, {"depth=3"}).search, {1})[0].size(), 2U);
}

TEST(SearchPoints, AreNotMoreThanASweepMayHave) {
  const std::string keys = "measure: valid.bpc, trials: 10000, keys: {a: {low: 0.0, high: 1.0}}, seeds: ";
  EXPECT_EQ(recipe_of(search_tree(keys + "10")).points.size(), 100'000U);
  EXPECT_THROW(recipe_of(search_tree(keys + "11")), UsageError);
}

TEST(SearchPoints, AValueOfTheCommandLineIsNotSearched) {
  Yaml tree = search_tree(kBegin + "{model.layers: {low: 2, high: 8}, optimizer.lr: [0.1, 0.2]}");
  apply_override(tree, "model.layers=3");
  const Search search = *recipe_of(tree, {"model.layers=3"}).search;
  ASSERT_EQ(search.keys.size(), 1U);
  EXPECT_EQ(search.keys[0].name, "optimizer.lr");
}

/// What a search makes of a run whose attempts ended in these ways, one after the other.
std::optional<TrialOutcome> outcome_after(const std::vector<Json>& ends) {
  const TemporaryFolder folder;
  RunMaker maker(folder.path() / "runs");
  const MadeRun made{.id = "a", .state = "running"};
  maker.make(made);
  for (const Json& end : ends) {
    Journal journal = maker.journal(made);
    journal.append("state", {{"state", "running"}});
    journal.append("state", end);
  }
  SweepRun run;
  run.planned.paths.folder = maker.folder("a");
  run.status = {.recorded = RunStatus::kFailed};
  const Search search = *read_search(search_tree(kBegin + "{a: [1, 2]}"));
  return outcome_of(search, {&run});
}

TEST(SearchOutcome, AKillIsNoResult) {
  for (const EndCause cause : {EndCause::kKilled, EndCause::kGone, EndCause::kNode, EndCause::kTime}) {
    const Json killed = {{"state", "failed"}, {"cause", name_of(cause)}};
    EXPECT_FALSE(outcome_after({killed}).has_value()) << name_of(cause) << ": it is asked for again";
    EXPECT_FALSE(outcome_after({killed, killed}).has_value());
    ASSERT_TRUE(outcome_after({killed, killed, killed}).has_value()) << "it may be the setting that kills";
    EXPECT_FALSE(outcome_after({killed, killed, killed})->value.has_value()) << "the worst";
  }
  const Json queued = {{"state", "queued"}, {"cause", "killed"}};
  EXPECT_TRUE(outcome_after({queued, queued, {{"state", "failed"}, {"cause", "killed"}}}).has_value());
  for (const Json& end : {Json{{"state", "failed"}, {"cause", "memory"}}, Json{{"state", "failed"}, {"cause", "error"}},
                          Json{{"state", "failed"}}, Json{{"state", "diverged"}}}) {
    ASSERT_TRUE(outcome_after({end}).has_value()) << end;
    EXPECT_FALSE(outcome_after({end})->value.has_value()) << end;
  }
}

}  // namespace
}  // namespace xlm
