// Whether runs that are compared trained with equal arithmetic.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// The FLOPs of training of some runs.
struct RunBudgets {
  double least = 0;
  double most = 0;
  std::size_t known = 0;    // runs that say how much they spent
  std::size_t unknown = 0;  // the others
  std::size_t timed = 0;    // runs as long as train.seconds says: their arithmetic depends on the machine
  bool is_asked = false;    // a run's length is a budget of FLOPs or time

  /// All are known, none is timed, and they differ by less than 1 %: by the last step and no more.
  bool are_equal() const;
};

RunBudgets budgets_of(RunTable& runs, const std::vector<std::size_t>& rows);

/// "equal budgets: 1P FLOPs of training each", or why they are not equal, behind "warning: ". Empty if no run says what
/// it spent.
std::string budget_text(const RunBudgets& budgets);

}  // namespace xlm
