// Which runs tables, figures, fronts, claims and `compare` show: all that fulfil the conditions, but those that people
// marked as bad, and those of a program whose code was edited since.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// Ids of runs that fulfil the conditions and are not shown.
struct HiddenRuns {
  std::set<std::string> bad;
  std::set<std::string> older;  // the program's code was edited, and the same experiment has runs of a newer version

  bool empty() const { return bad.empty() && older.empty(); }
  void add(const HiddenRuns& others);
};

struct ShownRows {
  std::vector<std::size_t> rows;
  HiddenRuns left_out;
};

/// As RunTable::select. Bad runs are left out unless a condition, or a column in `named`, asks for `bad` or `is_bad`.
/// So are runs of an older version of their program's code, unless one asks for runs by version, id, tag, note or time:
/// a mean over two versions describes neither. The newest version is that of the experiment's newest run.
ShownRows shown_rows(RunTable& runs, const std::vector<Filter>& filters, const std::vector<std::string>& named = {});

/// The same of rows that are selected already; `filters` are the conditions that may ask for what is hidden.
ShownRows shown_among(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<Filter>& filters,
                      const std::vector<std::string>& named = {});

/// "2 runs marked as bad are left out; …"; empty if there are none.
std::string left_out_note(const HiddenRuns& left_out);

/// What all runs have in common, where none is shown: "all runs are marked as bad".
std::string why_all_are_hidden(const HiddenRuns& left_out);

/// "Code not frozen: mine/model.py (3fa9c1d2)…": what runs of programs imported from outside of the copies of their
/// code, which program.fingerprint does not name; and how many runs were imported from other trackers, of which
/// neither code nor data are known. Empty if there is nothing.
std::string unproved_note(RunTable& runs, const std::vector<std::size_t>& rows);

/// The same, and what runs warn of: what stands below every result. `values`: the columns or formulas that it shows;
/// times are of so many threads.
std::string notes_on_runs(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<std::string>& values);

}  // namespace xlm
