// xlm runs export: CSV, JSON lines and Parquet of runs, series and evaluations; TensorBoard's event files; what other
// trackers' own libraries write.
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/json.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/collections/foreign_runs.h"
#include "results/exports/event_file.h"
#include "results/exports/run_tables.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

struct ExportOptions {
  std::vector<std::string> runs;
  std::vector<std::string> where;
  std::string format;
  fs::path out;
  ExportedTables tables;
};

constexpr const char* kTensorboard = "tensorboard";
constexpr std::array<const char*, 3> kTrackers{"wandb", "mlflow", "trackio"};

struct TableWriter {
  const char* format;
  std::unique_ptr<ExportWriter> (*make)(const fs::path& file, const std::vector<ExportColumn>& columns);
};
constexpr std::array<TableWriter, 3> kTableWriters{
    {{"csv", csv_writer}, {"jsonl", json_lines_writer}, {"parquet", parquet_writer}}};

std::vector<std::string> export_formats() {
  std::vector<std::string> formats;
  for (const TableWriter& writer : kTableWriters) formats.emplace_back(writer.format);
  formats.emplace_back(kTensorboard);
  formats.insert(formats.end(), kTrackers.begin(), kTrackers.end());
  return formats;
}

/// Rows of the chosen runs, in the order of the store.
std::vector<std::size_t> exported_rows(RunTable& runs, const ExportOptions& options, const GlobalOptions& global) {
  const std::set<std::string> chosen = choose_runs(runs, options.runs, options.where, global);
  std::vector<std::size_t> rows;
  for (const std::string& id : chosen) rows.push_back(*runs.row_of(id));
  return rows;
}

/// Tables have a column for that; trackers have no word for it.
void leave_bad_out(RunTable& runs, std::vector<std::size_t>& rows) {
  const std::vector<Value>& bad = runs.column("bad");
  const std::size_t left_out = std::erase_if(rows, [&](std::size_t row) { return !is_missing(bad[row]); });
  if (left_out > 0) {
    spdlog::warn("{} marked as bad {} left out", counted(left_out, "run"), left_out == 1 ? "is" : "are");
  }
  if (rows.empty() && left_out > 0) throw UsageError("no run is left to export: all are marked as bad");
}

std::vector<fs::path> event_files(RunTable& runs, const std::vector<std::size_t>& selected,
                                  const ExportOptions& options, const GlobalOptions& global) {
  std::vector<fs::path> files;
  for (const std::size_t row : selected) {
    const fs::path folder = global.runs / runs.id(row);
    if (fs::exists(folder)) {
      files.push_back(export_events(read_run(folder), options.out));
    } else {
      spdlog::warn("{} is skipped: its folder is not in {}", runs.id(row), global.runs.string());
    }
  }
  return files;
}

std::vector<fs::path> table_files(RunTable& runs, const std::vector<std::size_t>& selected,
                                  const ExportOptions& options) {
  const auto* const writer =
      std::ranges::find_if(kTableWriters, [&](const TableWriter& each) { return options.format == each.format; });
  return export_run_tables(runs, selected, options.out, "." + options.format, writer->make, options.tables);
}

/// The columns that runs did not begin with.
std::vector<std::string> names_of_costs(RunTable& runs) {
  return runs.store().use([](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT DISTINCT name FROM costs");
    std::vector<std::string> names;
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
    return names;
  });
}

std::vector<fs::path> tracker_files(RunTable& runs, const std::vector<std::size_t>& selected,
                                    const ExportOptions& options) {
  const StagedFolder tables(options.out / "tables", ".tables");
  export_run_tables(runs, selected, tables.path(), ".jsonl", json_lines_writer);
  return {
      write_for_tracker(options.format, fs::absolute(options.out), fs::absolute(tables.path()), names_of_costs(runs))};
}

int export_runs(const ExportOptions& options, const GlobalOptions& global) {
  const bool for_tracker = std::ranges::find(kTrackers, options.format) != kTrackers.end();
  const bool chooses = !options.tables.names.empty() || !options.tables.quantities.empty();
  if (chooses && (for_tracker || options.format == kTensorboard)) {
    throw UsageError(
        fmt::format("--only and --quantity choose among tables: they do not go with --format {}", options.format));
  }
  RunTable runs = open_runs(global);
  std::vector<std::size_t> selected = exported_rows(runs, options, global);
  if (for_tracker || options.format == kTensorboard) leave_bad_out(runs, selected);
  warn_of_older_code(runs, selected, parse_filters(options.where));
  const std::vector<fs::path> files = for_tracker                      ? tracker_files(runs, selected, options)
                                      : options.format == kTensorboard ? event_files(runs, selected, options, global)
                                                                       : table_files(runs, selected, options);
  if (global.json) {
    Json names = Json::array();
    for (const fs::path& file : files) names.push_back(file.string());
    print(json_text(Json{{"runs", selected.size()}, {"files", std::move(names)}}));
  } else {
    for (const fs::path& file : files) print(file.string() + "\n");
  }
  return kDone;
}

}  // namespace

std::function<int()> declare_runs_export(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ExportOptions>();
  app.add_option("RUN", options->runs, fmt::format("{} (default: all runs)", kRunNames));
  add_where(app, options->where, "Also");
  app.add_option("--format", options->format, join(export_formats(), ", "))
      ->required()
      ->check(CLI::IsMember(export_formats()).description(""))
      ->type_name("FORMAT");
  app.add_option("--only", options->tables.names, "Only these tables: " + join(exported_table_names(), ", "))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(exported_table_names()).description(""))
      ->type_name("TABLE,…");
  app.add_option("--quantity", options->tables.quantities, "Only these quantities in series and evaluations")
      ->allow_extra_args(false)
      ->type_name("NAME");
  app.add_option("--out", options->out, "Folder to write to")->required()->type_name("DIR");
  app.footer(
      "csv, jsonl and parquet: runs, series (metrics by step) and evaluations, a file each.\n"
      "tensorboard: a folder for each run; tensorboard --logdir DIR shows them.\n"
      "wandb, mlflow, trackio: their own library writes, in the Python that XLM_PYTHON names (default: python3).\n\n"
      "Examples:\n"
      "  xlm runs export --format parquet --out exported\n"
      "  xlm runs export --format csv --out exported --only series --quantity loss\n"
      "  xlm runs export --where experiment=spans --format tensorboard --out events\n"
      "  xlm runs export --format mlflow --out theirs");
  return [options, &global] { return export_runs(*options, global); };
}

}  // namespace xlm
