// Which runs tables, figures, fronts and claims show: all that fulfil the conditions, but those that people marked as
// bad.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// Rows without those of bad runs.
struct ShownRows {
  std::vector<std::size_t> rows;
  std::vector<std::string> left_out;  // ids of the bad runs, sorted, each once
};

/// As RunTable::select. Bad runs are left out unless a condition, or a column in `named`, asks for `bad` or `is_bad`.
ShownRows shown_rows(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& named = {});

/// The same of rows that are selected already; `filters` are the conditions that may ask for bad runs.
ShownRows without_bad(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                      const std::vector<std::string>& named = {});

/// "2 runs marked as bad are left out; …"; empty if there are none.
std::string left_out_note(const std::vector<std::string>& left_out);

/// "Code not frozen: mine/model.py (3fa9c1d2)…": what runs of programs imported from outside of the copies of their
/// code, which program.fingerprint does not name; and how many runs were imported from other trackers, of which
/// neither code nor data are known. Empty if there is nothing.
std::string unproved_note(RunTable& runs, const std::vector<std::size_t>& rows);

/// The same, and what runs warn of: what stands below every result.
std::string notes_on_runs(RunTable& runs, const std::vector<std::size_t>& rows);

}  // namespace xlm
