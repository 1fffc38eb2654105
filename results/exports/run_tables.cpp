// Exports runs, series and evaluations as tables.
#include "results/exports/run_tables.h"

#include <algorithm>

#include <fmt/format.h>

namespace xlm {
namespace {

Value exported_value(const SQLite::Column& column) {
  if (column.isNull()) return {};
  if (column.isInteger()) return column.getInt64();
  if (column.isFloat()) return column.getDouble();
  return column.getString();
}

/// The type that holds every value of a column.
ExportType type_of(const std::string& name, const std::vector<Value>& values,
                   const std::vector<std::size_t>& selected) {
  if (is_time_column(name)) return ExportType::kTime;
  const auto all = [&](const auto& is) {
    return std::all_of(selected.begin(), selected.end(),
                       [&](std::size_t run) { return is_missing(values[run]) || is(values[run]); });
  };
  if (all([](const Value&) { return false; })) return ExportType::kText;  // no values at all
  if (all([](const Value& value) { return std::holds_alternative<bool>(value); })) return ExportType::kBoolean;
  if (all([](const Value& value) { return std::holds_alternative<std::int64_t>(value); })) return ExportType::kInteger;
  return all([](const Value& value) { return as_number(value).has_value(); }) ? ExportType::kReal : ExportType::kText;
}

bool is_empty(const std::vector<Value>& values, const std::vector<std::size_t>& selected) {
  return std::all_of(selected.begin(), selected.end(), [&](std::size_t run) { return is_missing(values[run]); });
}

/// One row for each run: its identity, costs and results, and every key of any run's configuration.
void write_run_rows(RunTable& runs, const std::vector<std::size_t>& selected, ExportWriter* writer,
                    std::vector<ExportColumn>& columns) {
  std::vector<const std::vector<Value>*> values;
  for (const ExportColumn& column : columns) values.push_back(&runs.column(column.name));
  for (const std::size_t run : selected) {
    std::vector<Value> row;
    row.reserve(values.size());
    for (const std::vector<Value>* column : values) row.push_back((*column)[run]);
    writer->add(row);
  }
}

std::vector<ExportColumn> columns_of_runs(RunTable& runs, const std::vector<std::size_t>& selected) {
  std::vector<ExportColumn> columns;
  for (const std::string& name : runs.column_names()) {
    if (name.starts_with(kSettingPrefix)) continue;  // of evaluations, which have their own table
    const std::vector<Value>& values = runs.column(name);
    if (is_empty(values, selected)) continue;
    columns.push_back({name, type_of(name, values, selected)});
  }
  return columns;
}

/// The rows that an SQL statement with a run's id returns, for all runs.
void write_rows(RunTable& runs, const std::vector<std::size_t>& selected, const char* sql, ExportWriter& writer) {
  runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(database, sql);
    std::vector<Value> row;
    for (const std::size_t run : selected) {
      query.reset();
      query.bind(1, runs.id(run));
      while (query.executeStep()) {
        row.clear();
        for (int i = 0; i < query.getColumnCount(); ++i) row.push_back(exported_value(query.getColumn(i)));
        writer.add(row);
      }
    }
  });
}

constexpr const char* kSeries = "SELECT run_id, name, step, value FROM metrics WHERE run_id = ? ORDER BY name, step";
constexpr const char* kEvaluations =
    "SELECT run_id, split, metric, step, value, final, main, at, settings, time FROM evaluations WHERE run_id = ? "
    "ORDER BY split, metric, step, settings";

std::vector<ExportColumn> columns_of_series() {
  return {{"run_id", ExportType::kText},
          {"name", ExportType::kText},
          {"step", ExportType::kInteger},
          {"value", ExportType::kReal}};
}

std::vector<ExportColumn> columns_of_evaluations() {
  return {{"run_id", ExportType::kText},  {"split", ExportType::kText}, {"metric", ExportType::kText},
          {"step", ExportType::kInteger}, {"value", ExportType::kReal}, {"final", ExportType::kInteger},
          {"main", ExportType::kInteger}, {"at", ExportType::kText},    {"settings", ExportType::kText},
          {"time", ExportType::kTime}};
}

}  // namespace

std::vector<fs::path> export_run_tables(RunTable& runs, const std::vector<std::size_t>& selected,
                                        const fs::path& folder, const std::string& ending,
                                        const MakeExportWriter& make_writer) {
  std::vector<fs::path> files{folder / ("runs" + ending), folder / ("series" + ending),
                              folder / ("evaluations" + ending)};
  create_folders(folder);
  std::vector<ExportColumn> columns = columns_of_runs(runs, selected);
  const auto run_writer = make_writer(files[0], columns);
  write_run_rows(runs, selected, run_writer.get(), columns);
  const auto series_writer = make_writer(files[1], columns_of_series());
  write_rows(runs, selected, kSeries, *series_writer);
  const auto evaluation_writer = make_writer(files[2], columns_of_evaluations());
  write_rows(runs, selected, kEvaluations, *evaluation_writer);
  for (ExportWriter* writer : {run_writer.get(), series_writer.get(), evaluation_writer.get()}) writer->finish();
  return files;
}

}  // namespace xlm
