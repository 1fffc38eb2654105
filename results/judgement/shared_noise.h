// How much seeds differ, from more settings than those that are compared: two or three seeds of one say little of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "results/judgement/pairing.h"

namespace xlm {

/// A spread that settings share, and p of Levene's test that they do; nothing if it cannot be made.
struct SharedSpread {
  SpreadEstimate spread;
  std::optional<double> test_p;
  std::size_t settings = 0;
};

struct SharedNoise {
  std::optional<SharedSpread> of_runs;   // of single runs of a setting
  std::optional<SharedSpread> of_pairs;  // of the difference of two runs with a common seed
};

/// Of the numbers of several settings by seed. Differences come from what is left of the numbers of settings with the
/// same seeds without the means of settings and of seeds: (settings − 1)·(seeds − 1) degrees of freedom.
SharedNoise shared_noise(const std::vector<ByGroup>& settings);

}  // namespace xlm
