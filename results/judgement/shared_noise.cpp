// Shared noise.
#include "results/judgement/shared_noise.h"

#include <cmath>
#include <map>

#include "results/store/statistics.h"

namespace xlm {
namespace {

std::optional<SharedSpread> shared_by(const std::vector<SpreadEstimate>& spreads,
                                      const std::vector<std::vector<double>>& samples) {
  const std::optional<SpreadEstimate> pooled = pooled_spread(spreads);
  if (!pooled || pooled->deviation == 0) return std::nullopt;
  return SharedSpread{*pooled, equal_spread_test(samples), spreads.size()};
}

/// What is left of numbers by setting and seed without the mean of each seed; the mean of each setting stays.
std::vector<std::vector<double>> without_means_of_seeds(const std::vector<std::vector<double>>& settings) {
  std::vector<std::vector<double>> left = settings;
  for (std::size_t seed = 0; seed < settings.front().size(); ++seed) {
    double centre = 0;
    for (const std::vector<double>& setting : settings) centre += setting[seed] / static_cast<double>(settings.size());
    for (std::vector<double>& setting : left) setting[seed] -= centre;
  }
  return left;
}

}  // namespace

SharedNoise shared_noise(const std::vector<ByGroup>& settings) {
  SharedNoise noise;
  std::vector<SpreadEstimate> of_runs;
  std::vector<std::vector<double>> runs;
  std::vector<SeededSample> seeded;
  std::map<std::vector<std::string>, std::vector<std::vector<double>>> by_seeds;
  for (const ByGroup& setting : settings) {
    const std::vector<double> numbers = means_of(setting);
    const std::optional<SpreadEstimate> spread = spread_of(numbers);
    if (!spread || spread->deviation == 0) continue;
    of_runs.push_back(*spread);
    runs.push_back(numbers);
    seeded.push_back(seeded_sample(setting));
    by_seeds[seeded.back().seeds].push_back(numbers);
  }
  noise.of_runs = shared_by(of_runs, runs);
  if (noise.of_runs) noise.of_runs->spread.freedom *= independent_share(seeded);
  std::vector<SpreadEstimate> of_pairs;
  std::vector<std::vector<double>> left;
  for (const auto& [seeds, numbers] : by_seeds) {
    const auto count = static_cast<double>(numbers.size());
    if (numbers.size() < 2) continue;
    for (const std::vector<double>& setting : without_means_of_seeds(numbers)) {
      const SpreadEstimate spread = *spread_of(setting);
      // Of the variance of single numbers the share (count − 1)/count is left, and a difference has two of them.
      of_pairs.push_back({spread.deviation * std::sqrt(2 * count / (count - 1)), spread.freedom * (count - 1) / count});
      if (numbers.size() > 2) left.push_back(setting);  // of two settings both are the same
    }
  }
  noise.of_pairs = shared_by(of_pairs, left);
  return noise;
}

}  // namespace xlm
