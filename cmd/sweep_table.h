// The runs of a sweep as a table, before and after it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "base/text.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// A row for each run: its id and swept values, then the cells of `more` under the titles of `columns`. If the terminal
/// is too narrow, ids are shortened to their ends, which distinguish them.
std::string table_of_sweep(const std::vector<SweepRun>& runs, const std::vector<TextTable::Column>& columns,
                           const std::function<std::vector<std::string>(std::size_t run)>& more,
                           const Terminal& terminal);

}  // namespace xlm
