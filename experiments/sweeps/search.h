// `sweep.search`: a search over settings, each of them done with several seeds. The points of a sweep with a search are
// those of its trials so far, which follow from the results of earlier trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/sweeps/key_range.h"
#include "experiments/sweeps/point_rules.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {

/// `search` of a sweep.
struct Search {
  std::string measure;  // a column of an evaluation: valid.bpc
  bool higher = false;  // whether more of it is better
  std::int64_t trials = 0;
  std::int64_t together = 0;  // trials of a round, which are asked for before any of them has a result
  std::string sampler;
  std::int64_t generator = 0;
  std::vector<std::int64_t> seeds;
  std::vector<KeyRange> keys;
  PointRules rules;   // of the sweep, for the points of every trial
  std::string place;  // file:line
};

/// The value of each key in a trial: a number of a range, or the place in the list of choices.
using SearchSetting = std::vector<double>;

/// Returns nullopt if the sweep of a configuration has none. Without `seeds` it has the seed of the configuration.
/// Throws UsageError with file:line, also for more than kMaximumPoints runs.
std::optional<Search> read_search(const Yaml& configuration);

/// Removes a fixed key from the search of a configuration. It stays known to the conditions of `when`.
void fix_in_search(Yaml& configuration, const FixedKey& fixed);

/// The points of one trial, one for each seed, without the keys that `when` rules out.
std::vector<SweepPoint> points_of_trial(const Search& search, const SearchSetting& setting);

/// Points of as many trials as it will have, at settings that are spread over the ranges at random: for checks that
/// need no results.
std::vector<SweepPoint> supposed_points(const Search& search);

}  // namespace xlm
