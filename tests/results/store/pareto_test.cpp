// Pareto fronts and hypervolumes, against brute force and by hand.
#include "results/store/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;

std::vector<ParetoPoint> points_of(const std::vector<std::vector<double>>& values) {
  std::vector<ParetoPoint> points;
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back({values[i], {std::string(1, static_cast<char>('a' + i))}, ""});
  return points;
}

std::vector<std::vector<double>> values_of(const std::vector<ParetoPoint>& points) {
  std::vector<std::vector<double>> values;
  for (const ParetoPoint& point : points) values.push_back(point.values);
  return values;
}

TEST(Pareto, SplitsFrontAndDominated) {
  const ParetoFront front = pareto_front(points_of({{1, 5}, {2, 3}, {3, 4}, {4, 1}, {4, 2}}), {false, false});
  EXPECT_THAT(values_of(front.front), ElementsAre(ElementsAre(1, 5), ElementsAre(2, 3), ElementsAre(4, 1)));
  EXPECT_THAT(values_of(front.dominated), ElementsAre(ElementsAre(3, 4), ElementsAre(4, 2)));
}

TEST(Pareto, EqualPointsAreOneWithTheRunsOfBoth) {
  const ParetoFront front = pareto_front(points_of({{1, 2}, {1, 2}, {1, 3}}), {false, false});
  ASSERT_EQ(front.front.size(), 1);
  EXPECT_THAT(front.front[0].runs, ElementsAre("a", "b"));
  EXPECT_EQ(front.dominated.size(), 1);
}

TEST(Pareto, HypervolumeByHand) {
  // Against (4, 5): 1 × 0 for (1, 5), then (4 − 2) × (5 − 3) for (2, 3), nothing for (4, 1) on the edge.
  EXPECT_DOUBLE_EQ(pareto_front(points_of({{1, 5}, {2, 3}, {4, 1}}), {false, false}).hypervolume, 4);
  // Against (5, 6): strips of height 1, 2, 2 with widths 4, 3, 1.
  EXPECT_DOUBLE_EQ(pareto_front(points_of({{1, 5}, {2, 3}, {4, 1}}), {false, false}, {5, 6}).hypervolume, 4 + 6 + 2);
}

TEST(Pareto, HypervolumeIgnoresWhatTheReferenceDoesNotReach) {
  EXPECT_DOUBLE_EQ(pareto_front(points_of({{1, 5}, {9, 0}}), {false, false}, {2, 6}).hypervolume, 1);
}

TEST(Pareto, MaximisingTurnsAnAxisRound) {
  const ParetoFront front = pareto_front(points_of({{1, 5}, {2, 3}, {3, 6}}), {false, true});
  EXPECT_THAT(values_of(front.front), ElementsAre(ElementsAre(1, 5), ElementsAre(3, 6)));
  EXPECT_THAT(front.reference, ElementsAre(3, 3));
  EXPECT_DOUBLE_EQ(front.hypervolume, 4);
}

TEST(Pareto, OnePointAndNoPoint) {
  EXPECT_EQ(pareto_front(points_of({{1, 2}}), {false, false}).front.size(), 1);
  EXPECT_EQ(pareto_front(points_of({{1, 2}}), {false, false}).hypervolume, 0);
  EXPECT_TRUE(pareto_front({}, {false, false}).front.empty());
}

std::vector<std::vector<double>> random_points(std::size_t count, std::uint64_t seed) {
  std::vector<std::vector<double>> points(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < 2; ++c) {
      points[i].push_back(static_cast<double>(random_below(12, random_bits(seed, c, i))));
    }
  }
  return points;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

TEST(Pareto, AgreesWithBruteForce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto values = random_points(40, seed);
    const ParetoFront front = pareto_front(points_of(values), {false, false});
    for (const ParetoPoint& point : front.front) {
      for (const auto& other : values) EXPECT_FALSE(dominates(other, point.values));
    }
    for (const ParetoPoint& point : front.dominated) {
      EXPECT_TRUE(
          std::any_of(values.begin(), values.end(), [&](const auto& other) { return dominates(other, point.values); }));
    }
  }
}

/// On whole numbers the hypervolume is a count of unit cells.
TEST(Pareto, HypervolumeAgreesWithCountingCells) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const auto values = random_points(15, seed);
    int cells = 0;
    for (int cell = 0; cell < 144; ++cell) {
      cells += std::any_of(values.begin(), values.end(),
                           [&](const auto& point) { return point[0] <= cell % 12 && point[1] <= cell / 12; });
    }
    EXPECT_DOUBLE_EQ(pareto_front(points_of(values), {false, false}, {12, 12}).hypervolume, cells);
  }
}

class ParetoQueryTest : public ::testing::Test {
 protected:
  ParetoQueryTest() {
    maker_.make_sweep({"fixed", "adaptive"}, {64, 256}, {1, 2});
    maker_.make({.id = "unfinished", .state = "running"});
    store_.sync(maker_.runs());
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(ParetoQueryTest, AveragesGroups) {
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                          .maximize = {false, false},
                          .group_by = {"model.span", "model.span_type"},
                          .where = {},
                          .reference = {}};
  const ParetoResult result = run_pareto(runs, query);
  ASSERT_EQ(result.fronts.at(0).front.front.size(), 2);
  EXPECT_EQ(result.fronts.at(0).front.front[0].group, "model.span=64, model.span_type=adaptive");
  EXPECT_EQ(result.fronts.at(0).front.front[0].runs.size(), 2);
  EXPECT_NEAR(result.fronts.at(0).front.front[0].values[1], 2 - 0.064 - 0.1 + 0.015, 1e-12);
  EXPECT_EQ(result.fronts.at(0).front.dominated.size(), 2);
  EXPECT_EQ(result.incomplete, 1);
}

TEST_F(ParetoQueryTest, PrunedRunsAreOnNoFrontAndInNoMean) {
  const MadeRun pruned{
      .id = "pruned", .type = "adaptive", .span = 64, .seed = 3, .bpc = 0.1, .flops = 1, .state = "pruned"};
  maker_.make(pruned);
  maker_.journal(pruned).append("costs", {{"values", {{"params", 1}, {"flops_per_token", 1}}}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  for (const char* measure : {"test.bpc", "valid.bpc"}) {  // a rung has looked at validation
    for (const std::vector<std::string>& group_by : {std::vector<std::string>{}, {"model.span", "model.span_type"}}) {
      const ParetoQuery query{.columns = {"flops_per_token", measure},
                              .maximize = {false, false},
                              .group_by = group_by,
                              .where = {},
                              .reference = {}};
      const ParetoResult result = run_pareto(runs, query);
      EXPECT_EQ(result.incomplete, 2) << "in addition to the one that is not done yet";
      for (const auto* points : {&result.fronts.at(0).front.front, &result.fronts.at(0).front.dominated}) {
        for (const ParetoPoint& point : *points) EXPECT_THAT(point.runs, ::testing::Not(::testing::Contains("pruned")));
      }
    }
  }
}

TEST_F(ParetoQueryTest, EvaluationsArePointsOfTheirOwnWhereTheirSettingsAreNamed) {
  for (const int seed : {1, 2}) {  // of the adaptive runs with a span of 64
    maker_.evaluate({.id = fmt::format("adaptive-span-text8-{:08x}", 4 + seed), .flops = 64e6}, "test", 1 + seed,
                    {{"eval.batch", 1}});
  }
  store_.sync(maker_.runs());
  RunTable runs(store_);
  ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                    .maximize = {false, false},
                    .group_by = {"at.eval.batch"},
                    .where = parse_filters({"model.span=64", "model.span_type=adaptive"}),
                    .reference = {}};
  const ParetoResult named = run_pareto(runs, query);
  ASSERT_EQ(named.fronts.at(0).front.dominated.size(), 1);
  EXPECT_EQ(named.fronts.at(0).front.dominated[0].group, "1");
  EXPECT_EQ(named.fronts.at(0).front.dominated[0].values, (std::vector<double>{128e6, 2.5}));
  query.group_by.clear();
  query.where.push_back(parse_filters({"at.eval.batch=1,8"}).front());
  const ParetoResult each = run_pareto(runs, query);
  EXPECT_EQ(each.fronts.at(0).front.front.size() + each.fronts.at(0).front.dominated.size(), 4)
      << "two runs, and an evaluation of each";
  query.where.pop_back();
  query.group_by = {"model.span"};
  const ParetoResult unnamed = run_pareto(runs, query);
  EXPECT_EQ(unnamed.fronts.at(0).front.front.size() + unnamed.fronts.at(0).front.dominated.size(), 1)
      << "they were not requested";
  EXPECT_NEAR(unnamed.fronts.at(0).front.front[0].values[1], 2 - 0.064 - 0.1 + 0.015, 1e-12);
}

TEST_F(ParetoQueryTest, EveryCorpusHasAFrontOfItsOwn) {
  // Two texts of one name and a third: bpc of the easy one would beat everything.
  const auto make = [&](const std::string& id, const std::string& dataset, const std::string& fingerprint, double bpc) {
    const MadeRun run{.id = id, .experiment = "corpora", .bpc = bpc, .flops = 1e6};
    maker_.make(run);
    write_file(RunPaths{maker_.folder(id)}.environment(),
               Json{{"dataset", dataset}, {"language", ""}, {"fingerprint", fingerprint}}.dump());
  };
  make("easy-1", "easy", "aaaaaaaaaaaa", 0.1);
  make("hard-1", "hard", "bbbbbbbbbbbb", 1.5);
  make("hard-2", "hard", "bbbbbbbbbbbb", 1.6);
  store_.sync(maker_.runs());
  RunTable runs(store_);
  ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                    .maximize = {false, false},
                    .group_by = {"experiment"},
                    .where = parse_filters({"experiment=corpora"}),
                    .reference = {}};
  const ParetoResult result = run_pareto(runs, query);
  ASSERT_EQ(result.fronts.size(), 2);
  EXPECT_EQ(result.fronts[0].corpus, "easy");
  EXPECT_EQ(result.fronts[1].corpus, "hard");
  ASSERT_EQ(result.fronts[1].front.front.size(), 1) << "nothing of the other text beats it";
  EXPECT_DOUBLE_EQ(result.fronts[1].front.front[0].values[1], 1.55) << "nor is averaged in";
  const Json json = to_json(query, result);
  EXPECT_FALSE(json.contains("front")) << "there is none of all";
  ASSERT_EQ(json["fronts"].size(), 2);
  EXPECT_EQ(json["fronts"][1]["corpus"], "hard");
  EXPECT_EQ(json["fronts"][1]["front"][0]["runs"], Json({"hard-1", "hard-2"}));
  EXPECT_TRUE(json["fronts"][0]["hypervolume"].is_number());

  make("easy-2", "easy", "cccccccccccc", 0.2);
  store_.sync(maker_.runs());
  RunTable more(store_);
  query.group_by.clear();
  const ParetoResult three = run_pareto(more, query);
  ASSERT_EQ(three.fronts.size(), 3);
  EXPECT_EQ(three.fronts[0].corpus, "easy (data.fingerprint aaaaaaaa)");
  EXPECT_EQ(three.fronts[1].corpus, "easy (data.fingerprint cccccccc)");
  query.columns = {"flops_per_token", "params"};
  EXPECT_EQ(run_pareto(more, query).fronts.size(), 1) << "costs are measured on no text";
}

TEST_F(ParetoQueryTest, RunsOfAnyCorpusCompeteOnTheOneThatTheyWereEvaluatedOn) {
  const MadeRun home{.id = "home", .experiment = "transfer", .bpc = 1.5, .flops = 1e6};
  const MadeRun guest{.id = "guest", .experiment = "transfer", .bpc = 1.4, .flops = 2e6};
  maker_.make(home);
  maker_.make(guest);
  write_file(RunPaths{maker_.folder("guest")}.environment(),
             Json{{"dataset", "elsewhere"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
  maker_.evaluate(home, "test", 3, {{"data.name", "letters"}});
  maker_.evaluate(guest, "test", 2, {{"data.name", "letters"}});
  maker_.evaluate(guest, "test", 2.5, {{"data.name", "text8"}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  ParetoQuery query{.columns = {"params", "test.bpc@data.name=letters"},
                    .maximize = {false, false},
                    .group_by = {},
                    .where = parse_filters({"experiment=transfer"}),
                    .reference = {}};
  const ParetoResult by_column = run_pareto(runs, query);
  ASSERT_EQ(by_column.fronts.size(), 1);
  EXPECT_EQ(by_column.fronts[0].front.dominated.size(), 1);
  query.columns = {"flops_per_token", "test.bpc"};
  query.where.push_back(parse_filters({"at.data.name=text8"}).front());
  const ParetoResult by_row = run_pareto(runs, query);
  ASSERT_EQ(by_row.fronts.size(), 1) << "trained on it or not";
  EXPECT_EQ(by_row.fronts[0].front.dominated.size(), 1);
}

TEST_F(ParetoQueryTest, JsonHasTheDocumentedFields) {
  RunTable runs(store_);
  const ParetoQuery query{.columns = {"flops_per_token", "test.bpc"},
                          .maximize = {false, false},
                          .group_by = {},
                          .where = parse_filters({"seed=1"}),
                          .reference = {}};
  const Json json = to_json(query, run_pareto(runs, query));
  EXPECT_EQ(json["x"], "flops_per_token");
  EXPECT_EQ(json["y"], "test.bpc");
  ASSERT_EQ(json["front"].size(), 2);
  EXPECT_EQ(json["front"][0]["x"], 64e6);
  EXPECT_EQ(json["front"][0]["runs"].size(), 1);
  EXPECT_EQ(json["dominated"].size(), 2);
  EXPECT_EQ(json["reference"].size(), 2);
  EXPECT_TRUE(json["hypervolume"].is_number());
}

TEST_F(ParetoQueryTest, UnknownColumnsAreRefused) {
  RunTable runs(store_);
  ParetoQuery query{
      .columns = {"flops", "test.bpc"}, .maximize = {false, false}, .group_by = {}, .where = {}, .reference = {}};
  EXPECT_THROW(run_pareto(runs, query), UsageError);
  query.columns = {"flops_per_token", "test.bpc"};
  query.group_by = {"model.spann"};
  EXPECT_THROW(run_pareto(runs, query), UsageError);
}

}  // namespace
}  // namespace xlm
