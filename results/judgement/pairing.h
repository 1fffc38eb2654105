// Which numbers of two settings are compared: by seed where they have seeds in common, otherwise as two samples; and
// whether they can be compared at all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/judgement/estimate.h"
#include "results/judgement/spread.h"
#include "results/store/run_table.h"

namespace xlm {

/// Numbers by the value of the column that pairs runs: of each seed; of several runs with one seed all.
using ByGroup = std::map<std::string, std::vector<double>>;

/// One number for each seed: the mean of its runs.
std::vector<double> means_of(const ByGroup& by_group);

/// The same with the groups, which are seeds.
SeededSample seeded_sample(const ByGroup& by_seed);

struct SeedValues {
  ByGroup by_group;
  std::vector<double> numbers;     // the same in the order of `rows`
  std::vector<std::string> runs;   // whose numbers went in
  std::vector<std::size_t> rows;   // the same as rows of the RunTable
  std::vector<std::string> mixes;  // keys in which they differ, without the one that pairs them
  std::map<std::string, std::set<std::string>> without_number;  // ids of other runs of the rows, by status
  std::set<std::string> diverged;                               // groups without a number of which a run diverged
  bool are_imported = false;                                    // all runs of the rows

  std::vector<double> means() const { return means_of(by_group); }
  /// Whether there are runs without a number, all of which are done: none is to come.
  bool are_all_done() const { return without_number.size() == 1 && without_number.contains("done"); }
  /// "1 diverged, 2 running": how many runs have no number; empty if all have one.
  std::string without_number_text() const;
  /// What to do about that if all runs were imported: "; these runs …"; otherwise empty.
  std::string import_hint() const;
};

/// Whether these are runs of a program that printed the same number with each of several seeds, or one of many digits
/// with two of them.
bool ignores_seeds(RunTable& runs, const SeedValues& values);

/// Whether these are runs of a program that printed the same numbers for both, seed by seed, and others for other
/// seeds.
bool have_same_numbers(RunTable& runs, const SeedValues& a, const SeedValues& b);

/// The finite numbers of `rows`, by their value of `over`: what they have in a column, or what `number_of` says.
SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const std::string& column,
                       const std::string& over);
using NumberOfRow = std::function<std::optional<double>(std::size_t row)>;
SeedValues seed_values(RunTable& runs, const std::vector<std::size_t>& rows, const NumberOfRow& number_of,
                       const std::string& over);

/// What the seeds of two settings say of their difference, a − b.
struct SeedComparison {
  Estimate difference;
  bool is_paired = false;        // over common seeds alone: all are common, or four and more of them show much more
                                 // than all seeds as two samples, or a setting has one seed, which is common
  std::int64_t left_out = 0;     // of pairs: seeds without a partner
  std::optional<double> effect;  // the difference in standard deviations, of the pairs' differences (Cohen's d), or the
                                 // root of the mean of both variances; nothing if nothing varies
};

/// Neither is empty.
SeedComparison compare_seeds(const ByGroup& a, const ByGroup& b);

/// A number that is worse than these by far. `worse`: +1 where higher numbers are worse, otherwise −1.
double far_worse(const std::vector<double>& numbers, int worse);

/// The numbers with those of diverged seeds: worse than all numbers of `values` and `others` by far.
ByGroup with_worst(const SeedValues& values, const ByGroup& others, int worse);

/// The same comparison if the diverged seeds of both count as the worst.
SeedComparison compare_with_worst(const SeedValues& a, const SeedValues& b, int worse);

/// Whether the numbers that two sets of rows have in a column can be compared: they were measured on the same corpora,
/// for each value of `over` that both have if that pairs them (otherwise empty). True if one of both has no rows.
bool have_same_corpora(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
                       const std::string& column, const std::string& over);

/// Whether means by `over` of two sets of rows can be compared: have_same_corpora, and no mean over seeds is one over
/// corpora. `is_paired`: by `over`.
bool are_alike(RunTable& runs, const std::vector<std::size_t>& a, const std::vector<std::size_t>& b,
               const std::string& column, const std::string& over, bool is_paired);

/// The corpora on which the numbers of each of several sets of rows were measured, by the names of corpora_of.
std::vector<std::set<std::string>> corpora_of_each(RunTable& runs, const std::vector<std::vector<std::size_t>>& sets,
                                                   const std::string& column);

}  // namespace xlm
