// Columns of the store by name.
#include "results/store/run_table.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr std::array<std::string_view, 7> kFields{"run_id",  "experiment", "status",    "step",
                                                  "created", "finished",   "seed_group"};
/// Names that are right even where no run has them (yet); a store may hold more.
constexpr std::array<std::string_view, 3> kUsualKeys{"model.type", "data.name", "seed"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Value value_of(const SQLite::Column& column) {
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  if (column.isText()) return column.getString();
  return std::monostate();
}

/// Whether runs may have an outcome of this name, though none of the store has it yet.
bool is_known_outcome(const std::string& column) {
  const Quantity* quantity = quantity_of_column(column);
  if (quantity == nullptr) return false;
  return quantity->by == (evaluation_column(column) ? ReportedBy::kEvaluation : ReportedBy::kRun);
}

}  // namespace

RunTable::RunTable(Store& store) : store_(store) {
  store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT run_id FROM runs ORDER BY run_id");
    while (query.executeStep()) ids_.push_back(query.getColumn(0).getString());
  });
}

const RunTable::Column& RunTable::find(const std::string& name) {
  const auto known = columns_.find(name);
  return known != columns_.end() ? known->second : columns_.emplace(name, load(name)).first->second;
}

const std::vector<Value>& RunTable::column(const std::string& name) {
  const Column& column = find(name);
  if (column.known) return column.values;
  throw UsageError(
      fmt::format("no run in the store has a column '{}'{}\n"
                  "`xlm runs show RUN` lists the columns of a run",
                  name, did_you_mean(name, column_names())));
}

const std::vector<Value>& RunTable::column_or_nothing(const std::string& name) { return find(name).values; }

bool RunTable::is_measured(const std::string& name) { return find(name).measured; }

bool RunTable::load_rows(const std::string& sql, const std::vector<std::string>& bindings, std::vector<Value>& out) {
  return store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database, sql);
    for (std::size_t i = 0; i < bindings.size(); ++i) query.bind(static_cast<int>(i + 1), bindings[i]);
    bool any = false;
    std::size_t run = 0;
    while (query.executeStep()) {
      any = true;
      const std::string_view id = query.getColumn(0).getText();
      while (run < ids_.size() && ids_[run] < id) ++run;
      if (run < ids_.size() && ids_[run] == id) out[run] = value_of(query.getColumn(1));
    }
    return any;
  });
}

RunTable::Column RunTable::load(const std::string& name) {
  Column column{std::vector<Value>(ids_.size())};
  std::vector<Value>& values = column.values;
  if (contains(kFields, name)) {
    load_rows(fmt::format("SELECT run_id, {} FROM runs ORDER BY run_id", name), {}, values);
    return column;
  }
  const auto evaluation = evaluation_column(name);
  column.measured = (evaluation && load_rows("SELECT run_id, value FROM evaluations WHERE split = ? AND metric = ? AND "
                                             "main = 1 ORDER BY run_id",
                                             {evaluation->split, evaluation->name}, values)) ||
                    load_rows("SELECT run_id, value FROM costs WHERE name = ? ORDER BY run_id", {name}, values);
  if (column.measured) return column;
  if (load_rows("SELECT run_id, value FROM params WHERE key = ? ORDER BY run_id", {name}, values)) return column;
  column.measured = is_known_outcome(name);
  column.known = ids_.empty() || column.measured || contains(kUsualKeys, name);
  return column;
}

std::vector<std::string> RunTable::column_names() {
  // One jump in an index per distinct name: millions of rows have a few dozen names.
  const auto distinct = [&](const std::string& table, const std::string& column) {
    const std::string sql = fmt::format(
        "WITH RECURSIVE names(n) AS (SELECT min({1}) FROM {0} UNION ALL "
        "SELECT (SELECT min({1}) FROM {0} WHERE {1} > n) FROM names WHERE n IS NOT NULL) "
        "SELECT n FROM names WHERE n IS NOT NULL",
        table, column);
    return store_.use([&](SQLite::Database& database) {
      std::vector<std::string> names;
      SQLite::Statement query(database, sql);
      while (query.executeStep()) names.push_back(query.getColumn(0).getString());
      return names;
    });
  };
  std::vector<std::string> names(kFields.begin(), kFields.end());
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) names.push_back(quantity.name);
  }
  for (const std::string& name : distinct("costs", "name")) {
    if (!contains(names, name)) names.push_back(name);
  }
  store_.use([&](SQLite::Database& database) {
    SQLite::Statement query(database,
                            "SELECT DISTINCT split || '.' || metric FROM evaluations WHERE main = 1 ORDER BY 1");
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
  });
  for (const std::string& key : distinct("params", "key")) names.push_back(key);
  return names;
}

std::vector<bool> RunTable::of_experiments(const Filter& filter) {
  std::vector<bool> member(ids_.size());
  for (const Value& name : filter.values) {
    std::vector<Value> rows(ids_.size());
    if (is_missing(name)) {
      load_rows("SELECT run_id, 1 FROM runs WHERE run_id NOT IN (SELECT run_id FROM experiments) ORDER BY run_id", {},
                rows);
    } else {
      load_rows("SELECT run_id, 1 FROM experiments WHERE experiment = ? ORDER BY run_id", {to_text(name)}, rows);
    }
    for (std::size_t run = 0; run < rows.size(); ++run) member[run] = member[run] || !is_missing(rows[run]);
  }
  if (filter.relation == Filter::Relation::kNotEqual) member.flip();
  return member;
}

std::vector<std::size_t> RunTable::select(const std::vector<Filter>& filters) {
  std::vector<std::size_t> all(ids_.size());
  for (std::size_t run = 0; run < all.size(); ++run) all[run] = run;
  return select(all, filters);
}

std::vector<std::size_t> RunTable::select(const std::vector<std::size_t>& runs, const std::vector<Filter>& filters) {
  std::vector<std::size_t> kept = runs;
  for (const Filter& filter : filters) {
    if (kept.empty()) break;  // nothing left to ask of
    if (filter.column == "experiment") {
      const std::vector<bool> member = of_experiments(filter);
      std::erase_if(kept, [&](std::size_t run) { return !member[run]; });
    } else {
      const std::vector<Value>& values = column(filter.column);
      std::erase_if(kept, [&](std::size_t run) { return !filter.holds_for(values[run]); });
    }
  }
  return kept;
}

}  // namespace xlm
