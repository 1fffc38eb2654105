// Runs of the store as lists.
#include "results/store/run_list.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "results/store/sql_query.h"

namespace xlm {
namespace {

std::optional<double> seconds_of(const SQLite::Column& column) {
  return column.isNull() ? std::nullopt : std::optional<double>(column.getDouble());
}

Json tags_in(const std::string& text) {
  Json tags = Json::array();
  for (const std::string& name : split(text, ',')) tags.push_back(std::string(trim(name)));
  return tags;
}

SQLite::Statement prepared(Store& store, const char* sql) {
  return store.use([&](SQLite::Database& database) { return SQLite::Statement(database, sql); });
}

/// `query` about a run, from its first row on.
SQLite::Statement& asked(SQLite::Statement& query, const std::string& run_id) {
  query.reset();
  query.bind(1, run_id);
  return query;
}

Json names_in(SQLite::Statement& query) {
  Json list = Json::array();
  while (query.executeStep()) list.push_back(query.getColumn(0).getString());
  return list;
}

Json values_in(SQLite::Statement& query) {
  Json json = Json::object();
  while (query.executeStep()) json[query.getColumn(0).getString()] = json_of(query.getColumn(1));
  return json;
}

Json main_evaluations(SQLite::Statement& query) {
  Json list = Json::array();
  while (query.executeStep()) {
    const std::string split = query.getColumn(0).getString();
    if (list.empty() || list.back()["split"] != split) {
      list.push_back({{"split", split}, {"step", query.getColumn(1).getInt64()}});
    }
    list.back()[query.getColumn(2).getString()] = query.getColumn(3).getDouble();
  }
  return list;
}

/// Of those with the same settings the newest, whose values are read last.
Json further_evaluations(SQLite::Statement& query) {
  Json list = Json::array();
  while (query.executeStep()) {
    const std::string at = query.getColumn(0).getString();
    const std::string split = query.getColumn(1).getString();
    if (list.empty() || list.back()["at"] != at || list.back()["split"] != split) {
      list.push_back({{"at", at}, {"split", split}});
    }
    list.back()["step"] = query.getColumn(2).getInt64();
    list.back()[query.getColumn(3).getString()] = query.getColumn(4).getDouble();
  }
  return list;
}

}  // namespace

std::vector<std::size_t> newest_first(RunTable& runs, const std::vector<Filter>& filters,
                                      const std::vector<std::string>& columns) {
  const std::vector<Value>& created = runs.column("created");
  std::vector<std::pair<double, std::size_t>> by_time;
  for (const std::size_t run : runs.select(filters, columns))
    by_time.emplace_back(-as_number(created[run]).value_or(0), run);
  std::ranges::sort(by_time);
  std::vector<std::size_t> selected;
  for (const auto& [time, run] : by_time) selected.push_back(run);
  return selected;
}

std::vector<std::size_t> sorted_by(RunTable& runs, std::vector<std::size_t> rows, const std::string& column,
                                   bool reverse) {
  if (column.empty()) {
    if (reverse) std::ranges::reverse(rows);
    return rows;
  }
  const std::vector<Value>& values = runs.column(column);
  std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
    if (is_missing(values[a]) || is_missing(values[b])) return !is_missing(values[a]) && is_missing(values[b]);
    return reverse ? value_less(values[b], values[a]) : value_less(values[a], values[b]);
  });
  return rows;
}

RunLister::RunLister(Store& store)
    : store_(store),
      run_(prepared(store,
                    "SELECT experiment, status, reason, created, started, finished, step, parent, parent_step, tag, "
                    "note, bad FROM runs WHERE run_id = ?")),
      experiments_(prepared(store, "SELECT experiment FROM experiments WHERE run_id = ? ORDER BY experiment")),
      params_(prepared(store, "SELECT key, value FROM params WHERE run_id = ? ORDER BY key")),
      costs_(prepared(store, "SELECT name, value FROM costs WHERE run_id = ? ORDER BY name")),
      evaluations_(prepared(store,
                            "SELECT DISTINCT m.split, m.step, n.name, n.value FROM stored_runs r "
                            "JOIN stored_evaluations m ON m.number = r.number AND m.main = 1 "
                            "JOIN stored_evaluations e ON e.number = r.number AND e.split = m.split AND e.at = '', "
                            "json_each(e.\"values\") v "
                            "JOIN stored_numbers n ON n.split = m.split AND n.name = v.key AND n.number = r.number "
                            "WHERE r.run_id = ? ORDER BY m.split, n.name")),
      further_(prepared(store,
                        "SELECT at, split, step, metric, value FROM evaluations WHERE run_id = ? AND at <> '' "
                        "ORDER BY at, split, time, metric")),
      children_(prepared(store, "SELECT run_id FROM stored_runs WHERE parent = ? ORDER BY parent_step, run_id")) {}

Json RunLister::run(const std::string& run_id) {
  return store_.use([&](SQLite::Database&) {
    Json json = {{"run_id", run_id}};
    if (!asked(run_, run_id).executeStep()) return json;
    json["experiment"] = json_of(run_.getColumn(0));
    json["experiments"] = names_in(asked(experiments_, run_id));
    json["status"] = json_of(run_.getColumn(1));
    json["reason"] = json_of(run_.getColumn(2));
    json["created"] = exact_time(seconds_of(run_.getColumn(3)));
    json["started"] = exact_time(seconds_of(run_.getColumn(4)));
    json["finished"] = exact_time(seconds_of(run_.getColumn(5)));
    json["step"] = json_of(run_.getColumn(6));
    if (!run_.getColumn(7).isNull()) {
      json["parent"] = json_of(run_.getColumn(7));
      json["parent_step"] = json_of(run_.getColumn(8));
    }
    for (const auto& [key, column] : {std::pair("note", 10), std::pair("bad", 11)}) {
      if (!run_.getColumn(column).isNull()) json[key] = json_of(run_.getColumn(column));
    }
    if (!run_.getColumn(9).isNull()) json["tags"] = tags_in(run_.getColumn(9).getString());
    if (Json children = names_in(asked(children_, run_id)); !children.empty()) json["children"] = std::move(children);
    json["params"] = values_in(asked(params_, run_id));
    for (const auto& [key, value] : json["params"].items()) {
      if (has_booleans(key) && (value == "true" || value == "false")) value = value == "true";
    }
    json["evaluations"] = main_evaluations(asked(evaluations_, run_id));
    json["further_evaluations"] = further_evaluations(asked(further_, run_id));
    json["costs"] = values_in(asked(costs_, run_id));
    return json;
  });
}

}  // namespace xlm
