// Columns of the store by name, for all runs at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "results/store/filter.h"
#include "results/store/store.h"

namespace xlm {

/// What the names of columns at.KEY begin with.
inline constexpr std::string_view kSettingPrefix = "at.";

/// The column of whether a run is marked as bad: 0 or 1.
inline constexpr std::string_view kIsBad = "is_bad";

/// Whether a column holds seconds since 1970, which programs and people get as a date.
inline bool is_time_column(std::string_view column) {
  return column == "created" || column == "started" || column == "finished";
}

/// Whether the words true and false, as which the store keeps booleans, are meant so under a key; data have names.
inline bool has_booleans(std::string_view key) { return !key.starts_with("data."); }

/// What a query found.
Value value_of(const SQLite::Column& column);

/// All runs of a store in the order of their ids, and their columns. A column is
///   a field of the run      run_id, experiment, status, reason, step, created, started, finished, seed_group,
///                           is_evaluation, and what people say of it: tag, note, bad, is_bad
///   a cost                  params, flops_per_token, paper_flops, peak_memory, step_seconds
///   an evaluation           test.bpc, valid.loss, …: the final one, with the run's own settings
///   a resolved key          model.span, seed, data.name, …
///   at.KEY                  the setting that an evaluation was made with: at.model.overlap, at.data.name, …
///   COLUMN@KEY=VALUE@…      an evaluation or a cost of the same run where it was evaluated with those settings; VALUE
///                           is a word (base/words.h)
///   COLUMN@last=K           the mean of a run's last K evaluations (last_evaluations.h)
/// Behind the runs come rows for their evaluations with other settings than their own: a row has the run's fields and
/// keys, its own evaluations and costs, and at.KEY says what it was made with. Only conditions
/// that name the settings in which such a row differs find it: see `select`.
class RunTable {
 public:
  explicit RunTable(Store& store);
  /// The same of a store that is used by this table alone.
  explicit RunTable(Store&& store);

  std::size_t size() const { return ids_.size(); }
  /// The id of the run of a row.
  const std::string& id(std::size_t row) const { return ids_[run_of(row)]; }
  const std::vector<std::string>& ids() const { return ids_; }
  std::optional<std::size_t> row_of(const std::string& id) const;
  /// Whether runs have a series of training of this name.
  bool is_series(const std::string& name);

  /// A column: one value for each row. It is read once and then kept. Throws UsageError for a name that the store does
  /// not know, and suggests the nearest that it knows. In an empty store every name is a column of missing values.
  const std::vector<Value>& column(const std::string& name);

  /// The same, but a name that the store does not know is a column of nothing.
  const std::vector<Value>& column_or_nothing(const std::string& name);

  /// Whether a column is the outcome of runs (an evaluation, a cost) and not something that was set.
  bool is_measured(const std::string& name);

  /// The different values of a column in these rows, in order, without missing ones.
  std::vector<Value> values_in(const std::vector<std::size_t>& rows, const std::string& name);
  /// The same as texts, of which a missing one is empty. A name that the store does not know is a column of nothing.
  std::set<std::string> texts_in(const std::vector<std::size_t>& rows, const std::string& name);

  /// Rows that fulfil all conditions, ascending: runs, and those evaluations that differ from their run's own only in
  /// settings KEY whose column at.KEY is in a condition or one of `named`. `experiment` holds for every experiment that
  /// a run belongs to, and `tag` for each of its tags.
  std::vector<std::size_t> select(const std::vector<Filter>& filters, const std::vector<std::string>& named = {});

  /// Those of `rows` that `select` gives where it knows `named` alone: where several questions share a selection, each
  /// asks for its own.
  std::vector<std::size_t> asked_for(const std::vector<std::size_t>& rows, const std::vector<std::string>& named) const;

  /// Those of `rows` that fulfil all conditions.
  std::vector<std::size_t> select(const std::vector<std::size_t>& rows, const std::vector<Filter>& filters);

  /// The settings that a column COLUMN@KEY=VALUE asks for, as conditions on at.KEY; none for another column.
  static std::vector<Filter> settings_in(const std::string& name);

  /// All names that `column` takes, for messages and help.
  std::vector<std::string> column_names();

  Store& store() { return store_; }

 private:
  struct Column {
    std::vector<Value> values;
    bool known = true;
    bool measured = false;
  };

  /// A row behind the runs: the newest evaluations of a run with one set of settings.
  struct EvaluationRow {
    std::size_t run = 0;
    std::string at;
    std::map<std::string, Value> settings;  // that are not the run's own
  };

  std::size_t run_of(std::size_t row) const { return row < ids_.size() ? row : further_[row - ids_.size()].run; }
  void load_runs();
  void load_evaluation_rows();
  const Column& find(const std::string& name);
  Column load(const std::string& name);
  Column load_field(const std::string& name);
  Column load_evaluation(const std::string& split, const std::string& metric);
  Column load_setting(const std::string& key);
  Column load_elsewhere(const std::string& name);
  Column load_last(const std::string& name, std::int64_t count);
  void copy_to_evaluations(std::vector<Value>& values) const;
  void overlay_evaluations(const std::string& split, const std::string& metric, std::vector<Value>& out);
  /// Rows (number of the run in the store, value); false when there are none.
  bool load_rows(const std::string& sql, const std::vector<std::string>& bindings, std::vector<Value>& out);
  std::vector<bool> of_experiments(const Filter& filter);

  std::unique_ptr<Store> own_;  // null: the store is another's
  Store& store_;
  std::vector<std::string> ids_;
  std::unordered_map<std::int64_t, std::size_t> runs_;                         // number in the store → row
  std::vector<EvaluationRow> further_;                                         // by run and `at`
  std::map<std::pair<std::size_t, std::string>, std::size_t> further_places_;  // run and `at` → row
  std::map<std::string, Column> columns_;
};

}  // namespace xlm
