// Puts runs into the tables of the store.
#include "results/store/run_writer.h"

#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/sha256.h"
#include "results/store/schema.h"

namespace xlm {
namespace {

std::string json_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

void bind_one(SQLite::Statement& statement, int index, const std::optional<double>& value) {
  if (value) {
    statement.bind(index, *value);
  } else {
    statement.bind(index);
  }
}

void bind_one(SQLite::Statement& statement, int index, const Json& value) {
  if (value.is_number_integer()) {
    statement.bind(index, value.get<std::int64_t>());
  } else if (value.is_number()) {
    statement.bind(index, value.get<double>());
  } else if (value.is_null()) {
    statement.bind(index);
  } else {
    statement.bind(index, value.is_string() ? value.get<std::string>() : json_line(value));
  }
}

template <class Value>
void bind_one(SQLite::Statement& statement, int index, const Value& value) {
  statement.bind(index, value);
}

/// Inserts one row.
template <class... Values>
void insert(SQLite::Statement& statement, const Values&... values) {
  int index = 0;
  (bind_one(statement, ++index, values), ...);
  statement.exec();
  statement.reset();
}

/// Empty text is no value.
Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

/// A name for all runs that differ from this one in the seed alone, or in where they ran.
std::string seed_group(const Run& run) {
  std::map<std::string, std::string> parts;
  for (const auto& [key, value] : run.params) {
    if (key != "seed" && !says_where_it_ran(key)) parts[key] = json_line(value);
  }
  Sha256 hash;
  for (const auto& [key, value] : parts) hash.update(key + "=" + value + "\n");
  return hash.finish().substr(0, 12);
}

}  // namespace

bool says_where_it_ran(std::string_view key) { return key == "data.path" || key == "device" || key == "train.threads"; }

RunWriter::RunWriter(SQLite::Database& database)
    : status_(database, "UPDATE runs SET status = ? WHERE run_id = ?"),
      run_(database, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      param_(database, "INSERT OR REPLACE INTO params VALUES (?, ?, ?)"),
      metric_(database, "INSERT INTO metrics VALUES (?, ?, ?, ?)"),
      evaluation_(database, "INSERT INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
      setting_(database, "INSERT OR REPLACE INTO evaluation_settings VALUES (?, ?, ?, ?)"),
      cost_(database, "INSERT INTO costs VALUES (?, ?, ?)"),
      grid_(database, "INSERT INTO grids VALUES (?, ?, ?, ?, ?, ?)"),
      trace_(database, "INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?)"),
      experiment_(database, "INSERT INTO experiments VALUES (?, ?)") {
  for (const std::string_view table : run_tables()) {
    removals_.emplace_back(database, fmt::format("DELETE FROM {} WHERE run_id = ?", table));
  }
}

void RunWriter::remove(const std::string& run_id) {
  for (SQLite::Statement& removal : removals_) insert(removal, run_id);
}

void RunWriter::set_status(const std::string& run_id, const std::string& status) { insert(status_, status, run_id); }

void RunWriter::replace(const Run& run, std::int64_t bytes, std::int64_t time) {
  remove(run.id);
  insert_run(run, bytes, time);
  insert_params(run);
  insert_metrics(run);
  insert_evaluations(run);
  insert_grids(run);
  insert_traces(run);
  for (const auto& [name, value] : run.costs) insert(cost_, run.id, name, value);
  for (const std::string& experiment : run.experiments) insert(experiment_, run.id, experiment);
}

void RunWriter::insert_run(const Run& run, std::int64_t bytes, std::int64_t time) {
  insert(run_, run.id, or_null(run.experiment), std::string(name_of(run.status)), or_null(run.reason), run.created,
         run.finished, run.step, seed_group(run), bytes, time, run.is_evaluation ? 1 : 0);
}

void RunWriter::insert_params(const Run& run) {
  for (const auto& [key, value] : run.params) insert(param_, run.id, key, value);
}

void RunWriter::insert_metrics(const Run& run) {
  for (const auto& [place, value] : run.metrics) insert(metric_, run.id, place.first, place.second, value);
}

void RunWriter::insert_evaluations(const Run& run) {
  for (const RunEvaluation& evaluation : run.evaluations) {
    const std::string settings = json_line(evaluation.settings);
    const std::string at = at_text(evaluation.at);
    for (const auto& [metric, value] : evaluation.values) {
      insert(evaluation_, run.id, evaluation.split, metric, evaluation.step, settings, value, evaluation.final ? 1 : 0,
             evaluation.main ? 1 : 0, evaluation.time, at);
    }
    for (const auto& [key, value] : evaluation.at) insert(setting_, run.id, at, key, value);
  }
}

void RunWriter::insert_grids(const Run& run) {
  for (const auto& [name, by_step] : run.grids) {
    for (const auto& [step, grid] : by_step) insert_grid(run.id, name, step, grid);
  }
}

void RunWriter::insert_grid(const std::string& run_id, const std::string& name, std::int64_t step,
                            const RunGrid& grid) {
  for (std::size_t row = 0; row < grid.rows.size(); ++row) {
    for (std::size_t column = 0; column < grid.rows[row].size(); ++column) {
      const double number = grid.rows[row][column];
      if (std::isnan(number)) continue;
      insert(grid_, run_id, name, step, static_cast<std::int64_t>(row + 1), grid.column(column), number);
    }
  }
}

void RunWriter::insert_traces(const Run& run) {
  for (const auto& [split, trace] : run.traces) {
    for (const auto& [name, values] : trace.values) {
      for (std::size_t i = 0; i < values.size(); ++i) {
        insert(trace_, run.id, split, name, static_cast<std::int64_t>(i + 1), trace.tokens[i], values[i]);
      }
    }
  }
}

}  // namespace xlm
