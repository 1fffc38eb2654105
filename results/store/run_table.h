// Columns of the store by name, for all runs at once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/store/filter.h"
#include "results/store/store.h"

namespace xlm {

/// All runs of a store in the order of their ids, and their columns. A column is
///   a field of the run      run_id, experiment, status, step, created, finished, seed_group
///   a cost                  params, flops_per_token, paper_flops, peak_memory, step_seconds
///   an evaluation           test.bpc, valid.loss, …: the final one, with the run's own settings
///   a resolved key          model.span, seed, data.name, …
class RunTable {
 public:
  explicit RunTable(Store& store);

  std::size_t size() const { return ids_.size(); }
  const std::string& id(std::size_t run) const { return ids_[run]; }
  const std::vector<std::string>& ids() const { return ids_; }

  /// A column: one value for each run. It is read once and then kept. Throws UsageError for a name that the store does
  /// not know, and suggests the nearest that it knows. In an empty store every name is a column of missing values.
  const std::vector<Value>& column(const std::string& name);

  /// The same, but a name that the store does not know is a column of nothing.
  const std::vector<Value>& column_or_nothing(const std::string& name);

  /// Whether a column is the outcome of runs (an evaluation, a cost) and not something that was set.
  bool is_measured(const std::string& name);

  /// Runs that fulfil all conditions, ascending. `experiment` holds for every experiment that a run belongs to.
  std::vector<std::size_t> select(const std::vector<Filter>& filters);

  /// Those of `runs` that fulfil all conditions.
  std::vector<std::size_t> select(const std::vector<std::size_t>& runs, const std::vector<Filter>& filters);

  /// All names that `column` takes, for messages and help.
  std::vector<std::string> column_names();

  Store& store() { return store_; }

 private:
  struct Column {
    std::vector<Value> values;
    bool known = true;
    bool measured = false;
  };

  const Column& find(const std::string& name);
  Column load(const std::string& name);
  /// Rows (run_id, value) in the order of run_id; false when there are none.
  bool load_rows(const std::string& sql, const std::vector<std::string>& bindings, std::vector<Value>& out);
  std::vector<bool> of_experiments(const Filter& filter);

  Store& store_;
  std::vector<std::string> ids_;
  std::map<std::string, Column> columns_;
};

}  // namespace xlm
