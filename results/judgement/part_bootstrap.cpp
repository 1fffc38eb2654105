// A paired bootstrap over the parts of a text.
#include "results/judgement/part_bootstrap.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "base/random.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr std::int64_t kDrawsOfParts = 10'000;
constexpr std::uint64_t kPartSeed = 1;

/// What one part adds to both sums.
struct PartShare {
  double difference = 0;
  double tokens = 0;
};

}  // namespace

PartComparison compare_parts(const std::vector<double>& a, const std::vector<double>& b,
                             const std::vector<std::int64_t>& tokens, double level) {
  std::vector<PartShare> shares;
  PartShare whole;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] == 0) continue;
    const PartShare& share = shares.emplace_back(PartShare{a[i] - b[i], static_cast<double>(tokens[i])});
    whole.difference += share.difference;
    whole.tokens += share.tokens;
  }
  std::vector<double> drawn;
  for (std::int64_t draw = 0; draw < kDrawsOfParts; ++draw) {
    PartShare sum;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      const std::uint64_t bits = random_bits(kPartSeed, static_cast<std::uint64_t>(draw), i);
      const PartShare& share = shares[static_cast<std::size_t>(random_below(std::ssize(shares), bits))];
      sum.difference += share.difference;
      sum.tokens += share.tokens;
    }
    drawn.push_back(sum.difference / sum.tokens);
  }
  std::sort(drawn.begin(), drawn.end());
  const auto not_above = std::upper_bound(drawn.begin(), drawn.end(), 0.0) - drawn.begin();
  const auto not_below = drawn.end() - std::lower_bound(drawn.begin(), drawn.end(), 0.0);
  const auto least = static_cast<double>(std::min(not_above, not_below));
  const double tail = (1 - level) / 2;
  return {.parts = std::ssize(shares),
          .draws = kDrawsOfParts,
          .difference = whole.difference / whole.tokens,
          .low = quantile(drawn, tail),
          .high = quantile(drawn, 1 - tail),
          .p = std::min(1.0, 2 * (least + 1) / static_cast<double>(kDrawsOfParts + 1))};
}

}  // namespace xlm
