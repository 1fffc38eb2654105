// The numbers of a setting by seed, and the pairs that two settings have in common.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// Numbers of the runs of one setting, by the column that pairs them.
struct SeedValues {
  std::map<std::string, std::vector<double>> by_group;  // of each seed; of several runs with one seed all
  std::vector<std::string> runs;                        // whose numbers went in
  std::vector<std::size_t> rows;                        // the same as rows of the RunTable
  std::vector<std::string> mixes;                       // keys in which they differ, without the one that pairs them
  std::map<std::string, std::set<std::string>> without_number;  // ids of other runs of the rows, by status

  /// One number for each seed: the mean of its runs.
  std::vector<double> means() const;
  /// "1 diverged, 2 running": how many runs have no number; empty if all have one.
  std::string without_number_text() const;
};

/// The finite numbers that `rows` have in `column`, by their value of `over`.
SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column,
                       const std::string& over);

/// The means of the seeds that both settings have, in the same order.
struct SeedPairs {
  std::vector<double> a;
  std::vector<double> b;
};
/// Whether seeds pair: two at least are common, or one, and a setting has no other.
bool do_seeds_pair(const SeedValues& a, const SeedValues& b, const SeedPairs& pairs);
SeedPairs common_seeds(const SeedValues& a, const SeedValues& b);

}  // namespace xlm
