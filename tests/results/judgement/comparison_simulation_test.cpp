// How often comparisons of seeds are wrong, and how often they see what is there, by simulation with fixed seeds. The
// rows of docs/judging.md name these tests; with XLM_SIMULATIONS=full (make soak) they are longer.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "results/judgement/limits.h"
#include "results/judgement/pairing.h"
#include "tests/results/simulations.h"

namespace xlm {
namespace {

/// Three standard errors of a share that is estimated so often.
double three_errors(double share, int samples) { return 3 * std::sqrt(share * (1 - share) / samples); }

bool differs(const Estimate& difference) {
  return test_limits(difference, Limits::within(0)).decision == Decision::kOutside;
}

/// Numbers of two sides by seed: `common` seeds with a correlation, the rest with other seeds.
struct TwoSides {
  ByGroup a;
  ByGroup b;
};
TwoSides two_sides(NormalNumbers& normal, int common, int only_a, int only_b, double correlation, double difference) {
  TwoSides sides;
  for (int i = 0; i < common; ++i) {
    const double shared = std::sqrt(correlation) * normal.next();
    const double own = std::sqrt(1 - correlation);
    sides.a[std::to_string(i)] = {difference + shared + own * normal.next()};
    sides.b[std::to_string(i)] = {shared + own * normal.next()};
  }
  for (int i = 0; i < only_a; ++i) sides.a[std::to_string(100 + i)] = {difference + normal.next()};
  for (int i = 0; i < only_b; ++i) sides.b[std::to_string(200 + i)] = {normal.next()};
  return sides;
}

// Equal sides whose numbers are rounded to whole ones: at most 5 % are told apart. By the numbers as they stand it is
// 11 % of two pairs with a spread of half a step and 12 % with a spread of two (numpy 2, 40,000 samples).
TEST(ComparisonSimulation, NumbersWithFewDigitsAreNoCertainty) {
  const int samples = simulate_in_full() ? 40'000 : 800;
  NormalNumbers normal(41);
  for (const int seeds : {2, 3, 10}) {
    for (const double deviation : {0.2, 0.5, 2.0}) {
      int in_pairs = 0;
      int as_samples = 0;
      for (int i = 0; i < samples; ++i) {
        const double centre = 7 + normal.next();
        std::vector<double> a = normal.next(static_cast<std::size_t>(seeds), centre, deviation);
        std::vector<double> b = normal.next(static_cast<std::size_t>(seeds), centre, deviation);
        for (std::vector<double>* side : {&a, &b}) {
          for (double& number : *side) number = std::round(number);
        }
        in_pairs += differs(difference_of_pairs(a, b)) ? 1 : 0;
        as_samples += differs(difference_of_means(a, b)) ? 1 : 0;
      }
      const double most = 0.05 + three_errors(0.05, samples);
      EXPECT_LE(static_cast<double>(in_pairs) / samples, most) << seeds << " pairs, spread " << deviation;
      EXPECT_LE(static_cast<double>(as_samples) / samples, most) << seeds << " seeds, spread " << deviation;
    }
  }
}

// With two of ten seeds in common, pairs alone have a power of 0.07, and all seeds as two samples 0.54.
TEST(ComparisonSimulation, SeedsWithoutAPartnerAreNotThrownAway) {
  struct Design {
    int common;
    int only_a;
    int only_b;
  };
  const int samples = simulate_in_full() ? 20'000 : 1'500;
  NormalNumbers normal(43);
  for (const Design& design : {Design{2, 8, 8}, Design{5, 5, 5}, Design{8, 2, 2}, Design{9, 1, 1}}) {
    for (const double correlation : {0.0, 0.9}) {
      const double difference = 2.2 * std::sqrt(2 / 10.0) * std::max(0.3, std::sqrt(1 - correlation));
      int wrong = 0;
      int found = 0;
      int of_samples = 0;
      int of_pairs = 0;
      for (int i = 0; i < samples; ++i) {
        const auto draw = [&](double truth) {
          return two_sides(normal, design.common, design.only_a, design.only_b, correlation, truth);
        };
        const TwoSides equal = draw(0);
        wrong += differs(compare_seeds(equal.a, equal.b).difference) ? 1 : 0;
        TwoSides apart = draw(difference);
        found += differs(compare_seeds(apart.a, apart.b).difference) ? 1 : 0;
        of_samples += differs(difference_of_means(means_of(apart.a), means_of(apart.b))) ? 1 : 0;
        std::erase_if(apart.a, [&](const auto& seed) { return !apart.b.contains(seed.first); });
        std::erase_if(apart.b, [&](const auto& seed) { return !apart.a.contains(seed.first); });
        of_pairs += differs(difference_of_pairs(means_of(apart.a), means_of(apart.b))) ? 1 : 0;
      }
      const auto name = ::testing::Message() << design.common << " in common, correlation " << correlation;
      EXPECT_LE(static_cast<double>(wrong) / samples, 0.06 + three_errors(0.06, samples)) << name;
      EXPECT_GE(found, of_samples - samples / 50) << name << ": at most two points below two samples";
      EXPECT_GE(found, of_pairs - samples / 33) << name << ": at most three points below the pairs";
    }
  }
}

// Satterthwaite's degrees of freedom cover 90 % where two seeds are compared with ten.
TEST(ComparisonSimulation, TwoSeedsAgainstTenCover) {
  const int samples = simulate_in_full() ? 40'000 : 4'000;
  NormalNumbers normal(47);
  for (const double ratio : {1 / 3.0, 1.0, 3.0}) {
    int held = 0;
    for (int i = 0; i < samples; ++i) {
      held += differs(difference_of_means(normal.next(2, 0, ratio), normal.next(10, 0, 1))) ? 0 : 1;
    }
    EXPECT_GE(static_cast<double>(held) / samples, 0.94 - three_errors(0.06, samples)) << ratio;
  }
}

}  // namespace
}  // namespace xlm
