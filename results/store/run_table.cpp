// Columns of the store by name.
#include "results/store/run_table.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "results/quantities/quantities.h"
#include "results/store/formula.h"
#include "results/store/last_evaluations.h"

namespace xlm {
namespace {

constexpr std::array<std::string_view, 15> kFields{"run_id",  "experiment",  "status",   "reason",     "step",
                                                   "created", "started",     "finished", "seed_group", "is_evaluation",
                                                   "parent",  "parent_step", "tag",      "note",       "bad"};
/// Names that are right even where no run has them (yet); a store may hold more.
constexpr std::array<std::string_view, 3> kUsualKeys{"model.type", "data.name", "seed"};

/// A column of all runs: of costs (split: "") or evaluations, and of settings.
constexpr const char* kNumbers = "SELECT number, value FROM stored_numbers WHERE split = ? AND name = ?";
constexpr const char* kSettings =
    "SELECT r.number, s.value FROM stored_settings s CROSS JOIN stored_run_settings r USING (settings) WHERE s.key = ?";

/// One jump in an index per distinct name: millions of rows have a few dozen names.
constexpr const char* kNamesOfNumbers =
    "WITH RECURSIVE names(a, b) AS (VALUES ('', '') UNION ALL SELECT "
    "(SELECT split FROM stored_numbers WHERE (split, name) > (a, b) ORDER BY split, name LIMIT 1), "
    "(SELECT name FROM stored_numbers WHERE (split, name) > (a, b) ORDER BY split, name LIMIT 1) "
    "FROM names WHERE a IS NOT NULL) SELECT a, b FROM names WHERE b <> ''";
constexpr const char* kKeys =
    "WITH RECURSIVE names(n) AS (SELECT min(key) FROM stored_settings UNION ALL "
    "SELECT (SELECT min(key) FROM stored_settings WHERE key > n) FROM names WHERE n IS NOT NULL) "
    "SELECT n FROM names WHERE n IS NOT NULL";

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

/// Whether a condition holds for one of a run's tags; that it is none of some, for all of them.
bool holds_for_tags(const Filter& filter, const Value& tags) {
  if (is_missing(tags)) return filter.holds_for(tags);
  const std::vector<std::string> names = split(to_text(tags), ',');
  const auto holds = [&](const std::string& name) { return filter.holds_for(Value(std::string(trim(name)))); };
  return filter.relation == Filter::Relation::kNotEqual ? std::ranges::all_of(names, holds)
                                                        : std::ranges::any_of(names, holds);
}

/// Runs keep absolute paths, and people write those of their sweeps.
Filter with_absolute_paths(Filter filter) {
  for (std::size_t i = 0, count = filter.values.size(); i < count; ++i) {
    const auto* path = std::get_if<std::string>(&filter.values[i].value);
    if (path != nullptr && !path->empty()) filter.values.emplace_back(fs::absolute(*path).lexically_normal().string());
  }
  return filter;
}

/// A setting that has the words true and false alone, in all rows.
void mark_booleans(std::vector<Value>& values) {
  const auto may_be = [](const Value& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr ? *text == "true" || *text == "false" : !as_number(value);
  };
  if (!std::ranges::all_of(values, may_be)) return;
  for (Value& value : values) {
    if (const auto* text = std::get_if<std::string>(&value)) value = *text == "true";
  }
}

/// The value of a formula in every row in which all its columns are numbers.
template <class Columns>
void compute(const Formula& formula, const Columns& operands, std::vector<Value>& out) {
  std::vector<double> numbers(operands.size());
  for (std::size_t row = 0; row < out.size(); ++row) {
    bool whole = true;
    for (std::size_t i = 0; whole && i < operands.size(); ++i) {
      const std::optional<double> number = as_number(operands[i]->values[row]);
      whole = number.has_value();
      numbers[i] = number.value_or(0);
    }
    const std::optional<double> value = whole ? formula.value(numbers) : std::nullopt;
    if (value) out[row] = *value;
  }
}

/// Whether runs may have an outcome of this name, though none of the store has it yet.
bool is_known_outcome(const std::string& column) {
  const Quantity* quantity = quantity_of_column(column);
  if (quantity == nullptr) return false;
  return quantity->by == (evaluation_column(column) ? ReportedBy::kEvaluation : ReportedBy::kRun);
}

/// The names that may be meant by one that is not known: those that end with it behind a dot, otherwise the nearest.
std::string meant_names(const std::string& name, const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 3;
  if (name == "run") return " (did you mean 'run_id'?)";
  for (const auto& [shorter, whole] : {std::pair("ppl", "perplexity"), std::pair("acc", "accuracy")}) {
    if (!name.ends_with(shorter)) continue;
    const std::string meant = name.substr(0, name.size() - std::string_view(shorter).size()) + whole;
    if (std::ranges::find(names, meant) != names.end()) return fmt::format(" (did you mean '{}'?)", meant);
  }
  std::vector<std::string> longer;
  for (const std::string& other : names) {
    const bool is_own = !other.starts_with(kSettingPrefix) && !other.starts_with(kDirectionPrefix);
    if (is_own && other.ends_with("." + name)) longer.push_back("'" + other + "'");
  }
  if (longer.empty()) return did_you_mean(name, names);
  longer.resize(std::min(longer.size(), kMaxNames));
  return fmt::format(" (did you mean {}?)", join(longer, " or "));
}

}  // namespace

Value value_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return column.getString();
  return std::monostate();
}

RunTable::RunTable(Store& store) : store_(store) {
  load_runs();
  load_evaluation_rows();
}

RunTable::RunTable(Store&& store) : own_(std::make_unique<Store>(std::move(store))), store_(*own_) {
  load_runs();
  load_evaluation_rows();
}

void RunTable::load_runs() {
  store_.use([&](SQLite::Database& database) {
    runs_.reserve(static_cast<std::size_t>(database.execAndGet("SELECT count(*) FROM stored_runs").getInt64()));
    SQLite::Statement query(database, "SELECT run_id, number FROM stored_runs ORDER BY run_id");
    while (query.executeStep()) {
      runs_.emplace(query.getColumn(1).getInt64(), ids_.size());
      ids_.push_back(query.getColumn(0).getString());
    }
  });
}

void RunTable::load_evaluation_rows() {
  std::map<std::pair<std::size_t, std::string>, std::map<std::string, Value>> settings;
  store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT number, at, key, value FROM stored_evaluation_settings");
    while (query.executeStep()) {
      const auto run = runs_.find(query.getColumn(0).getInt64());
      if (run == runs_.end()) continue;  // came while the runs were read
      settings[{run->second, query.getColumn(1).getString()}][query.getColumn(2).getString()] =
          value_of(query.getColumn(3));
    }
  });
  for (auto& [place, values] : settings) {
    further_places_.emplace(place, ids_.size() + further_.size());
    further_.push_back({place.first, place.second, std::move(values)});
  }
}

const RunTable::Column& RunTable::find(const std::string& name) {
  const auto known = columns_.find(name);
  return known != columns_.end() ? known->second : columns_.emplace(name, load(name)).first->second;
}

const std::vector<Value>& RunTable::column(const std::string& name) {
  const Column& column = find(name);
  if (column.known) return column.values;
  const std::string advice =
      is_series(name)
          ? fmt::format(
                "'{0}' is a series of training, and a column has one number for each run: a figure shows it; for "
                "the last number of a program, call it costs.{0} in program.metrics and say: xlm runs reread FILE; of "
                "an imported run, import it with --split test={0}",
                name)
          : "`xlm runs show RUN` lists the columns of a run";
  throw UsageError(
      fmt::format("no run in the store has a column '{}'{}\n{}", name, meant_names(name, column_names()), advice));
}

bool RunTable::is_series(const std::string& name) {
  return store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT 1 FROM metrics WHERE name = ? LIMIT 1");
    query.bind(1, name);
    return query.executeStep();
  });
}

std::optional<std::size_t> RunTable::row_of(const std::string& id) const {
  const auto place = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (place == ids_.end() || *place != id) return std::nullopt;
  return static_cast<std::size_t>(place - ids_.begin());
}

std::vector<Value> RunTable::values_in(const std::vector<std::size_t>& rows, const std::string& name) {
  const std::vector<Value>& all = column(name);
  std::set<Value, ValueOrder> values;
  for (const std::size_t row : rows) {
    if (!is_missing(all[row])) values.insert(all[row]);
  }
  return {values.begin(), values.end()};
}

std::set<std::string> RunTable::texts_in(const std::vector<std::size_t>& rows, const std::string& name) {
  const std::vector<Value>& all = column_or_nothing(name);
  std::set<std::string> texts;
  for (const std::size_t row : rows) texts.insert(to_text(all[row]));
  return texts;
}

const std::vector<Value>& RunTable::column_or_nothing(const std::string& name) { return find(name).values; }

bool RunTable::is_measured(const std::string& name) { return find(name).measured; }

bool RunTable::load_rows(const std::string& sql, const std::vector<std::string>& bindings, std::vector<Value>& out) {
  return store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, sql);
    for (std::size_t i = 0; i < bindings.size(); ++i) query.bind(static_cast<int>(i + 1), bindings[i]);
    bool any = false;
    while (query.executeStep()) {
      any = true;
      const auto run = runs_.find(query.getColumn(0).getInt64());
      if (run != runs_.end()) out[run->second] = value_of(query.getColumn(1));
    }
    return any;
  });
}

/// at.KEY: what runs are configured with, and evaluations were made with.
RunTable::Column RunTable::load_setting(const std::string& key) {
  Column column = find(key);
  column.known = column.known && !column.measured;
  for (std::size_t i = 0; i < further_.size(); ++i) {
    const auto own = further_[i].settings.find(key);
    if (own == further_[i].settings.end()) continue;
    column.values[ids_.size() + i] = own->second;
    column.known = true;
  }
  if (has_booleans(key)) mark_booleans(column.values);
  return column;
}

/// COLUMN@KEY=VALUE@…: COLUMN of the run or of that evaluation of it whose settings are all as asked, and otherwise the
/// run's own.
RunTable::Column RunTable::load_elsewhere(const std::string& name) {
  if (const std::optional<std::int64_t> count = last_of_column(name)) return load_last(name, *count);
  const std::vector<Filter> filters = settings_in(name);
  const bool known = std::ranges::all_of(filters, [&](const Filter& f) { return find(f.column).known; });
  const Column& base = find(name.substr(0, name.find('@')));
  Column column{std::vector<Value>(base.values.size()), known && base.known, base.measured};
  if (!known) return column;
  for (const std::size_t row : select(filters)) {
    if (!is_missing(base.values[row])) column.values[run_of(row)] = base.values[row];
  }
  copy_to_evaluations(column.values);
  return column;
}

/// COLUMN@last=K
RunTable::Column RunTable::load_last(const std::string& name, std::int64_t count) {
  Column column = find(name.substr(0, name.find('@')));
  const auto evaluation = evaluation_column(name.substr(0, name.find('@')));
  if (!evaluation) throw UsageError(fmt::format("'{}': only evaluations, such as valid.bpc, have last ones", name));
  std::ranges::fill(column.values, Value());
  for (const auto& [number, mean] : means_of_last(store_, evaluation->split, evaluation->name, count)) {
    const auto run = runs_.find(number);
    if (run != runs_.end()) column.values[run->second] = mean;
  }
  return column;
}

std::vector<Filter> RunTable::settings_in(const std::string& name) {
  if (is_formula(name) || last_of_column(name)) return {};
  const std::vector<std::string> parts = split_words(name, '@');
  std::vector<Filter> filters;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError(
          fmt::format("'{}': after '@' there must be KEY=VALUE, such as test.bpc@data.name=text8-en", name));
    }
    filters.push_back({std::string(kSettingPrefix) + parts[i].substr(0, equals),
                       Filter::Relation::kEqual,
                       {asked_value(read_word(std::string_view(parts[i]).substr(equals + 1)))}});
  }
  return filters;
}

/// What evaluations with other settings than their runs' own say of a metric.
void RunTable::overlay_evaluations(const std::string& split, const std::string& metric, std::vector<Value>& out) {
  if (further_.empty()) return;
  store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database,
                            "SELECT e.number, e.at, CAST(v.value AS REAL) FROM stored_evaluations e, "
                            "json_each(e.\"values\") v WHERE e.split = ? AND e.at <> '' AND v.key = ? "
                            "ORDER BY e.number, e.at, e.time");
    query.bind(1, split);
    query.bind(2, metric);
    while (query.executeStep()) {
      const auto run = runs_.find(query.getColumn(0).getInt64());
      if (run == runs_.end()) continue;
      const auto row = further_places_.find({run->second, query.getColumn(1).getString()});
      if (row != further_places_.end()) out[row->second] = value_of(query.getColumn(2));
    }
  });
}

/// Gives the rows of evaluations what their runs have.
void RunTable::copy_to_evaluations(std::vector<Value>& values) const {
  for (std::size_t i = 0; i < further_.size(); ++i) values[ids_.size() + i] = values[further_[i].run];
}

RunTable::Column RunTable::load_field(const std::string& name) {
  Column column{std::vector<Value>(ids_.size() + further_.size())};
  // What waits has made no step: its 0 would be part of means.
  const std::string value = name == "step" ? "CASE WHEN step > 0 OR status <> 'queued' THEN step END" : name;
  load_rows(fmt::format("SELECT number, {} FROM stored_runs", value), {}, column.values);
  copy_to_evaluations(column.values);
  if (name != "seed_group") return column;
  for (std::size_t i = 0; i < further_.size(); ++i) {  // seeds are grouped with those that were measured alike
    column.values[ids_.size() + i] = to_text(column.values[further_[i].run]) + "@" + further_[i].at;
  }
  return column;
}

/// An evaluation, the run's own and those with other settings; not measured where there are none.
RunTable::Column RunTable::load_evaluation(const std::string& split, const std::string& metric) {
  Column column{std::vector<Value>(ids_.size() + further_.size())};
  const bool any = load_rows(kNumbers, {split, metric}, column.values);
  overlay_evaluations(split, metric, column.values);
  column.measured = any || std::ranges::any_of(column.values, [](const Value& value) { return !is_missing(value); });
  return column;
}

RunTable::Column RunTable::load(const std::string& name) {
  if (is_formula(name)) {
    const Formula formula(name);
    Column column{std::vector<Value>(ids_.size() + further_.size())};
    std::vector<const Column*> operands;
    for (const std::string& operand : formula.columns()) {
      this->column(operand);  // complains of names that are not known
      operands.push_back(&find(operand));
      column.measured = column.measured || operands.back()->measured;
    }
    compute(formula, operands, column.values);
    return column;
  }
  if (name.find('@') != std::string::npos) return load_elsewhere(name);
  if (name.starts_with(kSettingPrefix)) return load_setting(name.substr(kSettingPrefix.size()));
  if (contains(kFields, name)) return load_field(name);
  if (name == kIsBad) return load_field("(bad IS NOT NULL)");
  Column column{std::vector<Value>(ids_.size() + further_.size())};
  const auto evaluation = evaluation_column(name);
  // train.flops is a setting, though an evaluation of the training split has flops, too.
  if (evaluation && !load_rows(kSettings, {name}, column.values)) {
    Column evaluated = load_evaluation(evaluation->split, evaluation->name);
    if (evaluated.measured) return evaluated;
  }
  const bool is_cost = load_rows(kNumbers, {"", name}, column.values);
  const bool is_set = !is_cost && load_rows(kSettings, {name}, column.values);
  if (is_set && has_booleans(name)) mark_booleans(column.values);
  copy_to_evaluations(column.values);
  if (is_set) return column;
  column.measured = is_cost || is_known_outcome(name);
  if (column.measured && !evaluation) {
    for (const char* split : {"train", "valid", "test"}) overlay_evaluations(split, name, column.values);
  }
  column.known = ids_.empty() || column.measured || contains(kUsualKeys, name);
  return column;
}

std::vector<std::string> RunTable::column_names() {
  std::vector<std::string> names(kFields.begin(), kFields.end());
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) names.push_back(quantity.name);
  }
  store_.use([&](SQLite::Database& database) {
    SQLite::Statement numbers(database, kNamesOfNumbers);
    while (numbers.executeStep()) {
      const std::string split = numbers.getColumn(0).getString();
      std::string name = numbers.getColumn(1).getString();
      if (!split.empty()) name = split + "." + name;
      if (!contains(names, name)) names.push_back(std::move(name));
    }
    SQLite::Statement keys(database, kKeys);
    while (keys.executeStep()) {
      std::string key = keys.getColumn(0).getString();
      if (!contains(names, key)) names.push_back(std::move(key));  // settings may have the name of a number
    }
  });
  std::set<std::string> settings;
  for (const EvaluationRow& row : further_) {
    for (const auto& [key, value] : row.settings) settings.insert(std::string(kSettingPrefix) + key);
  }
  names.insert(names.end(), settings.begin(), settings.end());
  return names;
}

std::vector<bool> RunTable::of_experiments(const Filter& filter) {
  std::vector<bool> member(ids_.size());
  for (const auto& [name, written] : filter.values) {
    std::vector<Value> rows(ids_.size());
    load_rows("SELECT number, 1 FROM stored_experiments WHERE experiment = ?", {written.value_or(to_text(name))}, rows);
    if (is_missing(name)) {
      load_rows("SELECT number, 1 FROM stored_runs WHERE number NOT IN (SELECT number FROM stored_experiments)", {},
                rows);
    }
    for (std::size_t run = 0; run < rows.size(); ++run) member[run] = member[run] || !is_missing(rows[run]);
  }
  if (filter.relation == Filter::Relation::kNotEqual) member.flip();
  for (const EvaluationRow& row : further_) member.push_back(member[row.run]);
  return member;
}

std::vector<std::size_t> RunTable::select(const std::vector<Filter>& filters, const std::vector<std::string>& named) {
  std::vector<std::string> all_named = named;
  for (const Filter& filter : filters) all_named.push_back(filter.column);
  std::vector<std::size_t> rows(ids_.size() + further_.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = row;
  return select(asked_for(rows, all_named), filters);
}

std::vector<std::size_t> RunTable::asked_for(const std::vector<std::size_t>& rows,
                                             const std::vector<std::string>& named) const {
  std::set<std::string, std::less<>> settings;
  for (const std::string& name : named) {
    for (const std::string& column : columns_behind(name)) {
      if (column.starts_with(kSettingPrefix)) settings.insert(column.substr(kSettingPrefix.size()));
    }
  }
  std::vector<std::size_t> kept;
  for (const std::size_t row : rows) {
    const bool is_run = row < ids_.size();
    const auto is_named = [&](const auto& setting) { return settings.contains(setting.first); };
    if (is_run || std::ranges::all_of(further_[row - ids_.size()].settings, is_named)) {
      kept.push_back(row);
    }
  }
  return kept;
}

std::vector<std::size_t> RunTable::select(const std::vector<std::size_t>& rows, const std::vector<Filter>& filters) {
  std::vector<std::size_t> kept = rows;
  for (const Filter& filter : filters) {
    if (kept.empty()) break;  // nothing left to ask of
    if (filter.column == "experiment") {
      const std::vector<bool> member = of_experiments(filter);
      std::erase_if(kept, [&](std::size_t row) { return !member[row]; });
    } else if (filter.column == "tag") {
      const std::vector<Value>& tags = column(filter.column);
      std::erase_if(kept, [&](std::size_t row) { return !holds_for_tags(filter, tags[row]); });
    } else {
      const bool is_path = filter.column == "data.path" || filter.column == std::string(kSettingPrefix) + "data.path";
      const Filter whole = is_path ? with_absolute_paths(filter) : filter;
      const std::vector<Value>& values = column(filter.column);
      std::erase_if(kept, [&](std::size_t row) { return !whole.holds_for(values[row]); });
    }
  }
  return kept;
}

}  // namespace xlm
