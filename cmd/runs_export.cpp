// xlm runs export: CSV and Parquet of runs, series and evaluations; TensorBoard's event files.
#include "cmd/runs_export.h"

#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/results_store.h"
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
};

/// Rows of the chosen runs, in the order of the store.
std::vector<std::size_t> exported_rows(RunTable& runs, const ExportOptions& options, const GlobalOptions& global) {
  const std::set<std::string> chosen = choose_runs(runs, options.runs, options.where, global);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < runs.size(); ++row) {
    if (chosen.contains(runs.id(row))) rows.push_back(row);
  }
  return rows;
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

int export_runs(const ExportOptions& options, const GlobalOptions& global) {
  Store store = open_store(global);
  RunTable runs(store);
  const std::vector<std::size_t> selected = exported_rows(runs, options, global);
  const std::vector<fs::path> files = options.format == "tensorboard"
                                          ? event_files(runs, selected, options, global)
                                          : export_run_tables(runs, selected, options.out, "." + options.format,
                                                              options.format == "csv" ? csv_writer : parquet_writer);
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
  app.add_option("--where", options->where, "Also runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--format", options->format, "csv, parquet or tensorboard")
      ->required()
      ->check(CLI::IsMember({"csv", "parquet", "tensorboard"}).description(""))
      ->type_name("FORMAT");
  app.add_option("--out", options->out, "Folder to write to")->required()->type_name("DIR");
  app.footer(
      "csv and parquet: runs, series (metrics by step) and evaluations, a file each.\n"
      "tensorboard: a folder for each run; tensorboard --logdir DIR shows them.\n\n"
      "Examples:\n"
      "  xlm runs export --format parquet --out exported\n"
      "  xlm runs export --where experiment=spans --format tensorboard --out events");
  return [options, &global] { return export_runs(*options, global); };
}

}  // namespace xlm
