// Screens and confirmations, against SciPy and by simulated lines of tries.
#include "results/judgement/screen.h"

#include <cmath>
#include <iostream>
#include <random>

#include <gtest/gtest.h>

#include "tests/results/simulations.h"

namespace xlm {
namespace {

PairedNumbers pairs_with(const std::vector<double>& gains) {
  PairedNumbers pairs;
  for (const double gain : gains) {
    pairs.base.push_back(static_cast<double>(pairs.size() + 1));
    pairs.change.push_back(pairs.base.back() + gain);
  }
  return pairs;
}

const PairedNumbers kFiveGains = pairs_with({0.0323457, 0.0212345, 0.0287654, 0.0301234, 0.0254321});

// scipy 1.17: t.sf of the missing pairs' mean, with the noise and the pairs pooled.
TEST(Screen, TheChanceIsSciPys) {
  const GainPlan plan{.min_gain = 0.01, .noise = SpreadEstimate{0.0141421, 4}};
  EXPECT_NEAR(look_at_screen(pairs_with({0.0123457}), plan).chance.value(), 0.04825361866652485, 1e-9);
  EXPECT_NEAR(look_at_screen(pairs_with({0.0123457, 0.0212345}), plan).chance.value(), 0.10149494723891367, 1e-9);
}

TEST(Screen, OnePairSaysNothingIfTheNoiseIsUnknown) {
  const ScreenLook first = look_at_screen(pairs_with({-5}), {});
  EXPECT_EQ(first.step, ScreenStep::kMore);
  EXPECT_FALSE(first.chance);
  EXPECT_EQ(look_at_screen(pairs_with({-5.0123457, -4.0345678}), {}).step, ScreenStep::kStop);
}

TEST(Screen, AllPairsConfirmOrDoNot) {
  EXPECT_EQ(look_at_screen(kFiveGains, {.min_gain = 0.01}).step, ScreenStep::kPass);
  EXPECT_EQ(look_at_screen(kFiveGains, {.min_gain = 0.025}).step, ScreenStep::kUndecided);
}

// scipy: ttest_1samp, t.interval; the noise pooled by hand.
TEST(Confirmation, IsStudentsTestOneSided) {
  const LimitsTest own = confirm_gain(kFiveGains, {.min_gain = 0.01}, 0.05 / 6);
  EXPECT_EQ(own.decision, Decision::kInside);
  EXPECT_NEAR(own.p.value(), 0.0008259180811604688, 1e-9);
  EXPECT_NEAR(own.half_width.value(), (0.035273980079200726 - 0.019886459920799293) / 2, 1e-6);
  const LimitsTest pooled = confirm_gain(kFiveGains, {.min_gain = 0.01, .noise = SpreadEstimate{0.006, 9}}, 0.05 / 6);
  EXPECT_NEAR(pooled.p.value(), 8.152137498471997e-06, 1e-10);
  EXPECT_NEAR(pooled.half_width.value(), 0.006807276950925416, 1e-6);
}

// Each number was rounded to 0.001, so a gain is known to that, however many digits the gain itself has.
TEST(Confirmation, EqualGainsHaveTheDigitsOfTheNumbers) {
  PairedNumbers pairs{.change = {0.801, 0.802, 0.803, 0.804, 0.805}, .base = {0.701, 0.702, 0.703, 0.704, 0.705}};
  for (const auto& noise : {std::optional<SpreadEstimate>(), std::optional(SpreadEstimate{0.0015, 4})}) {
    const LimitsTest test = confirm_gain(pairs, {.noise = noise}, 0.025);
    EXPECT_EQ(test.decision, Decision::kInside);
    EXPECT_LT(test.p.value(), 1e-4);
    EXPECT_LT(test.half_width.value(), 0.005);
  }
}

TEST(Confirmation, EqualGainsOfNumbersWithAllDigitsAreSure) {
  PairedNumbers pairs;
  for (const double number : {0.23796462709189137, 0.5442292252959519, 0.36995516654807925, 0.6039200385961945}) {
    pairs.base.push_back(number);
    pairs.change.push_back(number + 0.1);
  }
  const LimitsTest test = confirm_gain(pairs, {.min_gain = 0.05}, 0.025);
  EXPECT_EQ(test.decision, Decision::kInside);
  EXPECT_LT(test.half_width.value(), 1e-12);
  pairs.base.assign(4, 0.23796462709189137);
  pairs.change.assign(4, 0.33796462709189137);
  EXPECT_FALSE(confirm_gain(pairs, {}, 0.025).half_width) << "one run four times";
}

TEST(Confirmation, ANoisierChangeKeepsItsOwnSpread) {
  const GainPlan own{.min_gain = 0.01, .noise = {}};
  const GainPlan quiet{.min_gain = 0.01, .noise = SpreadEstimate{0.001, 9}};
  EXPECT_EQ(confirm_gain(kFiveGains, quiet, 0.025).p, confirm_gain(kFiveGains, own, 0.025).p);
}

TEST(Confirmation, LevelsOfALineAddUpToItsError) {
  EXPECT_DOUBLE_EQ(level_of_confirmation(0), 0.025);
  EXPECT_DOUBLE_EQ(level_of_confirmation(1), 0.05 / 6);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) sum += level_of_confirmation(i);
  EXPECT_NEAR(sum, kLineError, 1e-6);
}

/// A world in which single runs vary by 1.
struct TriedWorld {
  const char* name;
  double correlation = 0;              // of the two runs of a pair
  bool heavy_tails = false;            // t with 3 degrees of freedom, scaled to the same variance
  double noisier = 1;                  // how much more a change varies
  double diverges = 0;                 // how often a run of a change does
  std::int64_t base_runs = 1'000'000;  // by which the noise is known; 0: unknown
  double most_lines = 0.05;            // that may keep a useless change
};

/// What became of one change.
struct TriedChange {
  std::int64_t runs = 0;  // of the change in the screen
  bool passed = false;
  bool kept = false;
};

class SimulatedLine {
 public:
  SimulatedLine(const TriedWorld& world, std::uint64_t seed) : world_(world), normal_(seed), uniform_(seed + 1) {
    if (world.base_runs == 0) return;
    if (world.base_runs > 1'000) {
      plan_.noise = noise_of_pairs({1, static_cast<double>(world.base_runs)});
      return;
    }
    std::vector<double> base;
    for (std::int64_t run = 0; run < world.base_runs; ++run) base.push_back(one_run());
    plan_.noise = noise_of_pairs(*spread_of(base));
  }

  TriedChange add(double effect) {
    TriedChange change;
    std::vector<double> gains;
    ScreenStep step = ScreenStep::kMore;
    while (step == ScreenStep::kMore) {
      ++change.runs;
      if (has_diverged()) return change;
      gains.push_back(gain(effect));
      step = look_at_screen(pairs_with(gains), plan_).step;
    }
    change.passed = step == ScreenStep::kPass;
    if (change.passed) confirm(change, effect);
    return change;
  }

 private:
  void confirm(TriedChange& change, double effect) {
    std::vector<double> fresh;
    bool diverged = false;
    for (std::int64_t pair = 0; pair < plan_.seeds; ++pair) {
      diverged = has_diverged() || diverged;
      fresh.push_back(gain(effect));
    }
    const LimitsTest test = confirm_gain(pairs_with(fresh), plan_, level_of_confirmation(not_kept_));
    change.kept = !diverged && test.decision == Decision::kInside;
    not_kept_ += change.kept ? 0 : 1;
  }

  bool has_diverged() { return std::uniform_real_distribution<double>()(uniform_) < world_.diverges; }
  double one_run() {
    return world_.heavy_tails ? std::student_t_distribution<double>(3)(uniform_) / std::sqrt(3.0) : normal_.next();
  }
  double gain(double effect) {
    const double apart = std::sqrt(1 - world_.correlation);
    return effect + apart * (world_.noisier * one_run() - one_run());
  }

  const TriedWorld& world_;
  NormalNumbers normal_;
  std::mt19937_64 uniform_;
  GainPlan plan_;
  std::int64_t not_kept_ = 0;
};

/// Over many lines of changes with one effect.
struct TriedShare {
  double runs = 0;
  double passed = 0;
  double kept = 0;
  double lines = 0;  // that keep a change at all
};

TriedShare share_of(const TriedWorld& world, double effect, int lines, int changes) {
  TriedShare share;
  for (int line = 0; line < lines; ++line) {
    SimulatedLine simulated(world, 1'000 + 2 * static_cast<std::uint64_t>(line));
    bool any = false;
    for (int change = 0; change < changes; ++change) {
      const TriedChange tried = simulated.add(effect);
      share.runs += static_cast<double>(tried.runs);
      share.passed += tried.passed ? 1 : 0;
      share.kept += tried.kept ? 1 : 0;
      any = any || tried.kept;
    }
    share.lines += any ? 1 : 0;
  }
  for (double* number : {&share.runs, &share.passed, &share.kept}) *number /= lines * changes;
  share.lines /= lines;
  return share;
}

void show(const TriedWorld& world, double effect, const TriedShare& share) {
  if (!simulate_in_full()) return;
  std::cout << world.name << ", " << effect << " sd: runs " << share.runs << ", passed " << share.passed << ", kept "
            << share.kept << ", lines that keep one " << share.lines << "\n";
}

TEST(ScreenSimulation, OfUselessChangesAtMostFiveLinesInAHundredKeepOne) {
  const int lines = simulate_in_full() ? 2'000 : 200;
  const std::vector<TriedWorld> worlds{
      {.name = "known noise"},
      {.name = "noise of five base runs", .base_runs = 5},
      {.name = "correlated pairs, five base runs", .correlation = 0.6, .base_runs = 5},
      {.name = "heavy tails, five base runs", .heavy_tails = true, .base_runs = 5},
      {.name = "changes twice as noisy, five base runs", .noisier = 2, .base_runs = 5, .most_lines = 0.1},
      {.name = "one in ten diverges", .diverges = 0.1}};
  for (const TriedWorld& world : worlds) {
    const TriedShare share = share_of(world, 0, lines, 50);
    show(world, 0, share);
    EXPECT_LE(share.lines, world.most_lines) << world.name;
    EXPECT_LE(share.runs, world.base_runs > 1'000 ? 2.3 : 3) << world.name;
  }
}

TEST(ScreenSimulation, UnknownNoiseKeepsTheError) {
  const TriedWorld world{.name = "unknown noise", .base_runs = 0};
  const TriedShare share = share_of(world, 0, simulate_in_full() ? 1'000 : 200, simulate_in_full() ? 50 : 20);
  show(world, 0, share);
  EXPECT_LE(share.lines, world.most_lines);
}

TEST(ScreenSimulation, LosersStopAtOnceAndGainsAreKept) {
  const int changes = simulate_in_full() ? 20'000 : 4'000;  // each alone: the first of its line
  const TriedWorld known{.name = "known noise"};
  const TriedShare loser = share_of(known, -1, changes, 1);
  const TriedShare gain = share_of(known, 2, changes, 1);
  show(known, -1, loser);
  show(known, 2, gain);
  EXPECT_LE(loser.runs, 1.5);
  EXPECT_GE(gain.passed, 0.80);
  EXPECT_GE(gain.kept, 0.70);
  for (const TriedWorld& world :
       {TriedWorld{.name = "correlated pairs", .correlation = 0.6},
        TriedWorld{.name = "correlated pairs, five base runs", .correlation = 0.6, .base_runs = 5},
        TriedWorld{.name = "noise of five base runs", .base_runs = 5},
        TriedWorld{.name = "unknown noise", .base_runs = 0}, TriedWorld{.name = "heavy tails", .heavy_tails = true},
        TriedWorld{.name = "one in ten diverges", .diverges = 0.1}}) {
    const TriedShare share = share_of(world, 2, changes / 4, 1);
    show(world, 2, share);
    EXPECT_GT(share.kept, 0.15) << world.name;
    EXPECT_LT(share.kept, share.passed) << world.name;
  }
}

/// Confirmations of useless changes leave less for gains, and those of gains give their level back.
TEST(ScreenSimulation, GainsAreKeptInLongLines) {
  const TriedWorld known{.name = "known noise"};
  const int lines = simulate_in_full() ? 2'000 : 300;
  double kept = 0;
  for (int line = 0; line < lines; ++line) {
    SimulatedLine simulated(known, 500'000 + 2 * static_cast<std::uint64_t>(line));
    for (int change = 1; change <= 50; ++change) {
      const bool is_gain = change % 10 == 0;
      kept += simulated.add(is_gain ? 2 : 0).kept && is_gain ? 0.2 : 0;
    }
  }
  if (simulate_in_full()) std::cout << "every tenth of 50 changes is a gain of 2 sd: kept " << kept / lines << "\n";
  EXPECT_GE(kept / lines, 0.55);
}

}  // namespace
}  // namespace xlm
