// The verdict on a value that a paper prints: whether ours agrees with it, and how sure that is.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "results/judgement/spread.h"
#include "results/judgement/verdict.h"
#include "results/tables/paper_runs.h"
#include "results/tables/printed_number.h"

namespace xlm {

struct PrintedComparison {
  double printed = 0;
  double difference = 0;             // ours − printed
  std::optional<double> half_width;  // of the interval of the difference, rounding included; nothing: the spread of
                                     // seeds is not known, or nothing varies because the value is a cost
  std::optional<double> margin;      // in units of the value, that of a cost with the rounding; nothing: none is known
  std::optional<double> p;           // corrected by Holm's method over the table
  bool differs_alone = false;        // would differ if it were the only test
  std::optional<SeedsToDecide> decides;  // undecided: what would decide
  Verdict verdict = Verdict::kUndecided;
  bool is_noisy = false;          // it varies more than the cells that share a spread, and keeps its own
  std::optional<Verdict> by_own;  // by the cell's own spread, where equal spreads are assumed
  std::vector<KeyApart> apart;    // not comparable: in these keys
};

struct VerdictRules {
  std::int64_t printed_runs = 1;  // behind each printed value
  SpreadSource spread = SpreadSource::kAuto;
  std::set<std::string> may_differ;  // keys in which runs may differ from the paper's
};

struct VerdictBasis {
  std::vector<ValueSpread> spreads;  // of the values that were compared and vary
  std::size_t tests = 0;             // corrected at once
  std::size_t differ_alone = 0;      // of them, without the correction
  VerdictRules rules;
};

struct Table;
struct CellSample;

/// Compares every cell that is a mean with its printed number, if it has one: `samples` and `is_cost` (whether a
/// column's value follows from the configuration) are by row and column, by column. `apart` of a sample says in which
/// keys a cell's runs are not the paper's.
VerdictBasis set_verdicts(Table& table, const VerdictRules& rules, const std::vector<std::vector<CellSample>>& samples,
                          const std::vector<bool>& is_cost);

}  // namespace xlm
