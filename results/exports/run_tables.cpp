// Exports runs, series and evaluations as tables.
#include "results/exports/run_tables.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr const char* kRunsTable = "runs";
constexpr const char* kSeriesTable = "series";
constexpr const char* kEvaluationsTable = "evaluations";

/// The type that holds every value of a column.
ExportType type_of(const std::string& name, const std::vector<Value>& values,
                   const std::vector<std::size_t>& selected) {
  if (is_time_column(name)) return ExportType::kTime;
  const auto all = [&](const auto& is) {
    return std::ranges::all_of(selected, [&](std::size_t run) { return is_missing(values[run]) || is(values[run]); });
  };
  if (all([](const Value&) { return false; })) return ExportType::kText;  // no values at all
  if (all([](const Value& value) { return std::holds_alternative<bool>(value); })) return ExportType::kBoolean;
  if (all([](const Value& value) { return std::holds_alternative<std::int64_t>(value); })) return ExportType::kInteger;
  return all([](const Value& value) { return as_number(value).has_value(); }) ? ExportType::kReal : ExportType::kText;
}

bool is_empty(const std::vector<Value>& values, const std::vector<std::size_t>& selected) {
  return std::ranges::all_of(selected, [&](std::size_t run) { return is_missing(values[run]); });
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

/// One row for each run: its identity, costs and results, and every key of any run's configuration.
std::unique_ptr<ExportWriter> write_run_rows(RunTable& runs, const std::vector<std::size_t>& selected,
                                             const fs::path& file, const MakeExportWriter& make_writer) {
  const std::vector<ExportColumn> columns = columns_of_runs(runs, selected);
  std::unique_ptr<ExportWriter> writer = make_writer(file, columns);
  std::vector<const std::vector<Value>*> values;
  for (const ExportColumn& column : columns) values.push_back(&runs.column(column.name));
  for (const std::size_t run : selected) {
    std::vector<Value> row;
    row.reserve(values.size());
    for (const std::vector<Value>* column : values) row.push_back((*column)[run]);
    writer->add(row);
  }
  return writer;
}

/// A table with several rows for each run. The statement binds the run's id and, after `of_quantity`, a quantity.
struct LongTable {
  const char* select;
  const char* of_quantity;
  const char* order;
};
constexpr LongTable kSeries{.select = "SELECT run_id, name, step, value FROM metrics WHERE run_id = ?",
                            .of_quantity = " AND name = ?",
                            .order = " ORDER BY name, step"};
constexpr LongTable kEvaluations{
    .select =
        "SELECT run_id, split, metric, step, value, final, main, at, settings, time FROM evaluations "
        "WHERE run_id = ?",
    .of_quantity = " AND metric = ?",
    .order = " ORDER BY split, metric, step, settings"};

/// The rows of all selected runs, run by run; of each run quantity by quantity if some are chosen.
void write_rows(RunTable& runs, const std::vector<std::size_t>& selected, const LongTable& table,
                const std::vector<std::string>& quantities, ExportWriter& writer) {
  runs.store().use([&](SQLite::Database& database) {
    const std::string filter = quantities.empty() ? "" : table.of_quantity;
    SQLite::Statement query(database, table.select + filter + table.order);
    std::vector<Value> row;
    const auto write_found = [&] {
      while (query.executeStep()) {
        row.clear();
        for (int i = 0; i < query.getColumnCount(); ++i) row.push_back(value_of(query.getColumn(i)));
        writer.add(row);
      }
      query.reset();
    };
    for (const std::size_t run : selected) {
      query.bind(1, runs.id(run));
      if (quantities.empty()) write_found();
      for (const std::string& quantity : quantities) {
        query.bind(2, quantity);
        write_found();
      }
    }
  });
}

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

/// A misspelt quantity must not look like one without values.
void check_quantities(RunTable& runs, const std::vector<std::string>& quantities) {
  constexpr const char* kIsReported =
      "SELECT EXISTS (SELECT 1 FROM stored_series WHERE name = ?1) OR EXISTS (SELECT 1 FROM stored_evaluations e, "
      "json_each(e.\"values\") v WHERE v.key = ?1)";
  constexpr const char* kReported =
      "SELECT name FROM stored_series UNION SELECT v.key FROM stored_evaluations e, json_each(e.\"values\") v";
  runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement is_reported(database, kIsReported);
    for (const std::string& quantity : quantities) {
      is_reported.reset();
      is_reported.bind(1, quantity);
      if (is_reported.executeStep() && is_reported.getColumn(0).getInt() != 0) continue;
      std::vector<std::string> known;
      SQLite::Statement reported(database, kReported);
      while (reported.executeStep()) known.push_back(reported.getColumn(0).getString());
      throw UsageError(fmt::format("no run reports a quantity '{}'{}\nthe runs report {}", quantity,
                                   did_you_mean(quantity, known), known.empty() ? "none" : join(known, ", ")));
    }
  });
}

}  // namespace

std::vector<std::string> exported_table_names() { return {kRunsTable, kSeriesTable, kEvaluationsTable}; }

std::vector<fs::path> export_run_tables(RunTable& runs, const std::vector<std::size_t>& selected,
                                        const fs::path& folder, const std::string& ending,
                                        const MakeExportWriter& make_writer, ExportedTables tables) {
  std::ranges::sort(tables.quantities);
  tables.quantities.erase(std::unique(tables.quantities.begin(), tables.quantities.end()), tables.quantities.end());
  check_quantities(runs, tables.quantities);
  create_folders(folder);
  std::vector<fs::path> files;
  std::vector<std::unique_ptr<ExportWriter>> writers;
  for (const std::string& name : exported_table_names()) {
    const bool chosen = std::ranges::find(tables.names, name) != tables.names.end();
    if (!tables.names.empty() && !chosen) continue;
    const fs::path& file = files.emplace_back(folder / (name + ending));
    if (name == kRunsTable) {
      writers.push_back(write_run_rows(runs, selected, file, make_writer));
    } else {
      const bool series = name == kSeriesTable;
      writers.push_back(make_writer(file, series ? columns_of_series() : columns_of_evaluations()));
      write_rows(runs, selected, series ? kSeries : kEvaluations, tables.quantities, *writers.back());
    }
  }
  for (const auto& writer : writers) writer->finish();
  return files;
}

}  // namespace xlm
