// Verdicts of whole tables: what they rest on, the defects of earlier ones, and how often they are wrong.
#include "results/tables/printed_comparison.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/store/statistics.h"
#include "results/tables/table.h"
#include "results/tables/table_marks.h"
#include "results/tables/verdict_notes.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

/// A row of a table with one column: its printed text and a number for each seed.
struct JudgedRow {
  std::string printed;
  std::vector<double> by_seed;
  std::string runs_of;  // another row's runs under this name; empty: its own
  std::vector<KeyApart> apart;
};

struct Judged {
  Table table;
  std::vector<std::vector<CellSample>> samples;

  const PrintedComparison& at(std::size_t row) const { return *table.rows[row].cells[0].compared; }
  Verdict verdict(std::size_t row) const { return at(row).verdict; }
};

Judged judged(const std::vector<JudgedRow>& rows, const VerdictRules& rules = {}, const CellOptions& options = {},
              bool is_cost = false) {
  Judged result;
  result.table.columns.push_back({{"bpc", {}}, options});
  if (options.value.empty()) result.table.columns.front().cells.value = "test.bpc";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    TableCell cell;
    CellSample sample;
    cell.printed = rows[r].printed;
    for (std::size_t i = 0; i < rows[r].by_seed.size(); ++i) {
      sample.by_group[std::to_string(i)] = {rows[r].by_seed[i]};
      cell.runs.push_back((rows[r].runs_of.empty() ? std::to_string(r) : rows[r].runs_of) + "-" + std::to_string(i));
    }
    if (!rows[r].by_seed.empty()) cell.value = mean(rows[r].by_seed);
    sample.apart = rows[r].apart;
    result.table.rows.push_back({"row " + std::to_string(r), {cell}});
    result.samples.push_back({sample});
  }
  result.table.verdicts = set_verdicts(result.table, rules, result.samples, {is_cost});
  return result;
}

CellOptions with_margin(double margin) {
  CellOptions options;
  options.margin = margin;
  return options;
}

// The interval of our mean alone was ± 0.0248 here; a paper's single run varies as well: ± 0.0497 and the rounding.
TEST(Verdict, ThePapersOwnRunIsUncertainToo) {
  const Judged one = judged({{"1.155", {1.11, 1.12, 1.13}}});
  EXPECT_NEAR(*one.at(0).half_width, 4.302653 * 0.01 * std::sqrt(1 / 3.0 + 1) + 0.0005, 1e-6);
  EXPECT_EQ(one.verdict(0), Verdict::kConsistent);
  const Judged three = judged({{"1.155", {1.11, 1.12, 1.13}}}, {.printed_runs = 3});
  EXPECT_NEAR(*three.at(0).half_width, 4.302653 * 0.01 * std::sqrt(2 / 3.0) + 0.0005, 1e-6);
  EXPECT_EQ(judged({{"1.175", {1.11, 1.12, 1.13}}}).verdict(0), Verdict::kDiffers);
}

// Two seeds that are far apart "agreed" with any value.
TEST(Verdict, TwoNoisySeedsDoNotAgree) {
  const std::vector<JudgedRow> noisy{{"1.30", {1.1, 1.3}}};
  EXPECT_EQ(judged(noisy).verdict(0), Verdict::kConsistent) << "no margin: the word is weaker";
  EXPECT_EQ(judged(noisy, {}, with_margin(0.01)).verdict(0), Verdict::kUndecided);
  EXPECT_EQ(judged({{"1.100", {1.1001, 1.1002, 1.1003}}}, {}, with_margin(0.01)).verdict(0), Verdict::kAgrees);
}

TEST(Verdict, UndecidedCellsSayHowManySeedsWouldDecide) {
  const Judged result = judged({{"1.100", {1.098, 1.104, 1.1}}}, {.printed_runs = 3}, with_margin(0.01));
  ASSERT_EQ(result.verdict(0), Verdict::kUndecided);
  ASSERT_TRUE(result.at(0).decides && result.at(0).decides->seeds);
  EXPECT_GT(*result.at(0).decides->seeds, 3);
  const std::string seeds = std::to_string(*result.at(0).decides->seeds) + " seeds would decide if the present";
  EXPECT_THAT(verdict_notes(result.table), Contains(HasSubstr(seeds)));
  const Judged never = judged({{"1.10", {1.098, 1.104, 1.1}}}, {}, with_margin(0.004));
  ASSERT_TRUE(never.at(0).decides);
  EXPECT_FALSE(never.at(0).decides->seeds) << "the rounding alone is more than the margin";
  EXPECT_THAT(verdict_notes(never.table), Contains(HasSubstr("more than 10,000 seeds would decide")));
}

TEST(Verdict, OneSeedIsJudgedByTheSpreadOfOthers) {
  const std::vector<JudgedRow> rows{{"1.000", {1.001, 1.003, 1.005}}, {"2.000", {2.002}}, {"", {3.001, 3.005, 3.003}}};
  const Judged pooled = judged(rows, {.printed_runs = 3}, with_margin(0.02));
  EXPECT_EQ(pooled.verdict(1), Verdict::kAgrees);
  ASSERT_EQ(pooled.table.verdicts.spreads.size(), 1U);
  const ValueSpread& spread = pooled.table.verdicts.spreads.front();
  EXPECT_EQ(spread.sharing, SpreadSharing::kPooled);
  EXPECT_EQ(spread.cells, 2U);
  // Deviations of common seeds: 0.002·(-1, 0, 1) and 0.002·(-1, 1, 0). 12 of 16 squares are of the seeds' means, so the
  // four degrees of freedom are worth 16² / (12²/2 + 4²/2).
  EXPECT_NEAR(spread.shared->freedom, 3.2, 1e-12);
  EXPECT_NEAR(spread.shared->deviation, 0.002, 1e-12);
  EXPECT_THAT(verdict_notes(pooled.table),
              Contains(HasSubstr("the spread of test bpc is pooled over 2 cells, 0.002 with 3.2 degrees of freedom")));
  const Judged own = judged(rows, {.printed_runs = 3, .spread = SpreadSource::kOwn}, with_margin(0.02));
  EXPECT_EQ(own.verdict(1), Verdict::kUndecided);
  EXPECT_FALSE(own.at(1).half_width.has_value());
  const Judged alone = judged({{"1.000", {1.001}}, {"2.000", {2.002}}});
  EXPECT_EQ(alone.verdict(0), Verdict::kUndecided);
  EXPECT_THAT(verdict_notes(alone.table), Contains(HasSubstr("how much seeds differ is not known")));
}

// No cell varies, so nothing is shared; the printed spread alone leaves the difference to chance.
TEST(Verdict, NothingIsPooledWhereNoCellVaries) {
  for (const SpreadSource source : {SpreadSource::kPooled, SpreadSource::kAuto, SpreadSource::kOwn}) {
    const Judged constant = judged({{"1.1 ± 0.1", {1.0, 1.0}}}, {.printed_runs = 3, .spread = source});
    EXPECT_EQ(constant.verdict(0), Verdict::kConsistent);
    EXPECT_THAT(verdict_notes(constant.table), Contains(HasSubstr("the spread of test bpc is each cell's own")));
  }
}

TEST(Verdict, SpreadsAreSharedOnlyWhereTheyAreNeededAndAlike) {
  const auto is_pooled = [](const std::vector<JudgedRow>& rows, SpreadSource source) {
    return judged(rows, {.spread = source}).table.verdicts.spreads.front().sharing == SpreadSharing::kPooled;
  };
  const std::vector<JudgedRow> alike{{"1", {1, 1.1, 1.2}}, {"1", {1, 1.12, 1.2}}};
  const std::vector<JudgedRow> unlike{{"1", {1, 1.1, 1.2}}, {"1", {1, 1.0001, 1.0002}}};
  const std::vector<JudgedRow> many{{"1", {1, 1.1, 1.2, 1.3, 1.4}}, {"1", {1, 1.1, 1.2, 1.3, 1.45}}};
  EXPECT_TRUE(is_pooled(alike, SpreadSource::kAuto));
  EXPECT_FALSE(is_pooled(unlike, SpreadSource::kAuto)) << "Levene's test";
  EXPECT_FALSE(is_pooled(many, SpreadSource::kAuto)) << "five seeds are enough";
  EXPECT_TRUE(is_pooled(unlike, SpreadSource::kPooled));
  EXPECT_FALSE(is_pooled(alike, SpreadSource::kOwn));
}

// A model that is evaluated in nine ways is not nine times the evidence of how much its seeds differ.
TEST(Verdict, EvaluationsOfTheSameRunsCountOnceInASpread) {
  const Judged result = judged({{"1", {1.0, 1.1, 1.2}, "one"}, {"2", {2.0, 2.1, 2.2}, "one"}, {"3", {3, 3.1, 3.1}}});
  // (-1, 0, 1) and (-2/3, 1/3, 1/3): squares of 7/3 between seeds and of 1/3, two degrees each.
  EXPECT_NEAR(result.table.verdicts.spreads.front().shared->freedom, 2.56, 1e-12);
  EXPECT_EQ(result.table.verdicts.spreads.front().cells, 3U);
}

// t.ppf(0.975, 2)·0.1·√(1/3 + 1) + 0.05 + 0.05 by scipy 1.17: the shared spread, and the rounding of both numbers.
TEST(Verdict, EqualSeedsTakeTheSpreadOfOthers) {
  const Judged result = judged({{"2.0", {2, 2, 2}}, {"3.0", {3.1, 3.1, 3.1}}, {"4.6", {4.5, 4.6, 4.7}}});
  EXPECT_EQ(result.verdict(0), Verdict::kConsistent);
  EXPECT_EQ(result.verdict(1), Verdict::kConsistent) << "equal numbers with one digit behind the point";
  EXPECT_NEAR(*result.at(1).half_width, 0.596828, 1e-6);
  EXPECT_EQ(result.table.verdicts.tests, 3U);
  EXPECT_EQ(result.table.verdicts.spreads.front().cells, 1U);
}

// Sevenfold 175.4M and a printed 175M: a cost has no seeds to vary, and no two programs count to the last FLOP.
TEST(Verdict, CostsAgreeWithinARelativeTolerance) {
  CellOptions options;
  options.value = "flops_per_token";
  options.format = NumberFormat::kCount;
  const auto verdict = [&](const char* printed, double ours) {
    return judged({{printed, {ours}}}, {}, options, true).verdict(0);
  };
  EXPECT_EQ(verdict("175.0M", 175.4e6), Verdict::kAgrees) << "1 % where the table states nothing";
  EXPECT_EQ(verdict("175.0M", 177.5e6), Verdict::kDiffers);
  options.tolerance = 0.02;
  EXPECT_EQ(verdict("175.0M", 177.5e6), Verdict::kAgrees);
  const Judged result = judged({{"175.0M", {175.4e6}}}, {}, options, true);
  EXPECT_NEAR(*result.at(0).margin, 0.02 * 175e6 + 0.05e6, 1);
  EXPECT_EQ(result.table.verdicts.tests, 0U);
}

// What learnt spans cost depends on the seed.
TEST(Verdict, CostsThatSeedsChangeHaveAnInterval) {
  CellOptions options;
  options.value = "paper_flops";
  options.format = NumberFormat::kCount;
  options.tolerance = 0.05;
  const Judged result = judged({{"42M", {41e6, 42e6, 43e6}}, {"100M", {100e6}}}, {}, options, true);
  EXPECT_EQ(result.verdict(0), Verdict::kUndecided);
  EXPECT_TRUE(result.at(1).half_width.has_value()) << "by the spread of the other cell";
}

// The rounding of the printed value counts once, whether the seeds of another cell vary or not.
TEST(Verdict, ACostThatNoSeedChangesIsExactNextToOthers) {
  CellOptions options;
  options.value = "paper_flops";
  options.format = NumberFormat::kCount;
  const JudgedRow fixed{"42M", {42.8e6, 42.8e6, 42.8e6}};
  EXPECT_EQ(judged({fixed}, {}, options, true).verdict(0), Verdict::kAgrees);
  const Judged both = judged({fixed, {"30M", {29e6, 30e6, 31e6}}}, {}, options, true);
  EXPECT_EQ(both.verdict(0), Verdict::kAgrees);
  EXPECT_NEAR(*both.at(1).margin, 0.01 * 30e6, 1) << "the rounding is in the interval";
}

TEST(Verdict, RunsOfAnotherConfigurationAreNotCompared) {
  const Judged result =
      judged({{"1.10", {1.1, 1.1001, 1.1002}, "", {{"model.width", "64", "512"}}}, {"1.10", {1.1, 1.2, 1.3}}}, {},
             with_margin(0.5));
  EXPECT_EQ(result.verdict(0), Verdict::kNotComparable);
  EXPECT_FALSE(result.at(0).half_width.has_value());
  EXPECT_EQ(result.table.verdicts.spreads.front().cells, 1U) << "nor do they say how much the others vary";
  EXPECT_THAT(verdict_notes(result.table),
              Contains("1 printed value is not comparable, because runs are not configured as the paper's: "
                       "model.width=64 (paper: 512)."));
}

TEST(Verdict, ManyCellsAreCorrectedTogether) {
  std::vector<JudgedRow> rows;
  std::vector<double> by_seed{0.99, 1.0, 1.01};
  for (int row = 0; row < 10; ++row) {
    rows.push_back({"1.000", by_seed});
    std::rotate(by_seed.begin(), by_seed.begin() + 1, by_seed.end());  // no seed is the best one everywhere
  }
  rows.front() = {"1.000", {1.02, 1.03, 1.04}};  // alone: p = 0.015
  const Judged result = judged(rows, {.printed_runs = 3});
  EXPECT_EQ(result.table.verdicts.tests, 10U);
  EXPECT_NEAR(*result.at(1).p, 1, 1e-12);
  EXPECT_TRUE(result.at(0).differs_alone);
  EXPECT_THAT(verdict_notes(result.table),
              Contains("\"Differs\" is corrected for 10 tests (Holm). Without that 1 would differ; up to 0.5 are to be "
                       "expected by chance where all is reproduced."));
}

TEST(Verdict, NoVerdictOnWhatIsNoMeanOrRelatedToARow) {
  CellOptions median;
  median.aggregate = Aggregate::kMedian;
  CellOptions related;
  related.against = "row 0";
  for (const CellOptions& options : {median, related}) {
    EXPECT_FALSE(judged({{"1.0", {1, 2, 3}}}, {}, options).table.rows[0].cells[0].compared.has_value());
  }
}

TEST(Verdict, StarsAreComparedBothWays) {
  Judged result = judged({{"1.0*", {1, 2}}, {"1.0*", {1, 2}}, {"1.0", {1, 2}}, {"1.0*", {1}}, {"1.0", {1, 2}}});
  const auto set_star = [&](std::size_t row, bool star) {
    result.table.rows[row].cells[0].star = star;
    result.table.rows[row].cells[0].p = star ? 0.01 : 0.5;
  };
  set_star(0, true);
  set_star(1, false);
  set_star(2, true);
  set_star(4, false);
  EXPECT_EQ(printed_stars_note(result.table, "test.bpc"),
            "Stars: 1 of the paper's 3 are stars here; no stars here: row 1; not tested here: row 3; stars here alone: "
            "row 2.");
  EXPECT_EQ(printed_stars_note(result.table, "valid.bpc"), "");
}

/// A table of a perfect reproduction: every cell of ours and of the paper's is drawn from one distribution.
Judged reproduction(std::mt19937_64& engine, std::size_t cells, int n, int m) {
  std::normal_distribution<double> normal;
  std::vector<JudgedRow> rows(cells);
  for (JudgedRow& row : rows) {
    double printed = 0;
    for (int i = 0; i < m; ++i) printed += normal(engine) / m;
    for (int i = 0; i < n; ++i) row.by_seed.push_back(100 + normal(engine));
    row.printed = fmt::format("{:.2f}", 100 + printed);
  }
  return judged(rows, {.printed_runs = m});
}

// It was 9 % of cells for 3 seeds against a mean of 3, and 51 % for 10 seeds against one run.
TEST(VerdictSimulation, APerfectReproductionDiffersInAtMostFivePercentOfTables) {
  const int tables = simulate_in_full() ? 5'000 : 200;
  const double three_errors = 3 * std::sqrt(0.05 * 0.95 / tables);
  std::mt19937_64 engine(5);
  for (const auto& [n, m] : {std::pair{3, 3}, std::pair{10, 1}, std::pair{2, 5}}) {
    constexpr std::size_t kCells = 12;
    int with_a_difference = 0;
    std::size_t differ_alone = 0;
    for (int i = 0; i < tables; ++i) {
      const Judged result = reproduction(engine, kCells, n, m);
      bool any = false;
      for (std::size_t r = 0; r < kCells; ++r) any = any || result.verdict(r) == Verdict::kDiffers;
      with_a_difference += any ? 1 : 0;
      differ_alone += result.table.verdicts.differ_alone;
    }
    EXPECT_LE(static_cast<double>(with_a_difference) / tables, 0.05 + three_errors) << n << " against " << m;
    const double of_cells = static_cast<double>(differ_alone) / (tables * static_cast<double>(kCells));
    EXPECT_LE(of_cells, 0.07) << n << " against " << m << ", without the correction";
    EXPECT_GE(of_cells, 0.03) << n << " against " << m << ": the test has its level";
  }
}

}  // namespace
}  // namespace xlm
