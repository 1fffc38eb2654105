// Runs of the store as lists, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "results/store/run_table.h"

namespace xlm {

/// Rows that fulfil `filters`, newest run first; `columns` are those that will be shown (see RunTable::select).
std::vector<std::size_t> newest_first(RunTable& runs, const std::vector<Filter>& filters,
                                      const std::vector<std::string>& columns = {});

/// Rows by a column, the least first; those that have nothing there come last, whichever way round. Without a column
/// they keep their order, or get the reverse one.
std::vector<std::size_t> sorted_by(RunTable& runs, std::vector<std::size_t> rows, const std::string& column,
                                   bool reverse);

/// One run of `xlm runs ls --json`: {"run_id", "experiment", "experiments", "status", "reason", "created", "started",
/// "finished", "step", "parent" and "parent_step" if it goes on from another run, "children" if others do from it,
/// "tags", "note" and "bad" if people said so, "params": {key: value}, "evaluations": [{"split", "step", metric: value,
/// …}], "further_evaluations": the same with "at", "costs"}.
class RunLister {
 public:
  explicit RunLister(Store& store);

  Json run(const std::string& run_id);

 private:
  Store& store_;
  SQLite::Statement run_;
  SQLite::Statement experiments_;
  SQLite::Statement params_;
  SQLite::Statement costs_;
  SQLite::Statement evaluations_;
  SQLite::Statement further_;
  SQLite::Statement children_;
};

}  // namespace xlm
