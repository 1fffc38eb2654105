// xlm runs: lists, inspects, moves and deletes runs.
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "cmd/run_view.h"
#include "cmd/sql_view.h"
#include "experiments/collections/run_files.h"
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/try_line.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/journal.h"
#include "results/store/run_list.h"
#include "results/store/sql_query.h"
#include "results/store/unmet_condition.h"

namespace xlm {

DeclareCommand declare_runs_stop, declare_runs_watch, declare_runs_diff, declare_runs_log, declare_runs_tag,
    declare_runs_note, declare_runs_mark, declare_runs_reread, declare_runs_export, declare_runs_import,
    declare_runs_merge, declare_runs_pack;

namespace {

constexpr int kAroundList = 4;  // lines of a terminal besides the runs: title, rule, count, prompt

struct ListOptions {
  std::vector<std::string> where;
  std::vector<std::string> columns;
  std::string sort;
  bool reverse = false;
  bool all = false;
  std::int64_t limit = -1;  // -1: all, or as many as fit a terminal; 0: all
  std::string format = "text";

  bool is_json(const GlobalOptions& global) const { return global.json || format == "json"; }
  TextTable::Format table_format() const {
    return format == "csv"        ? TextTable::Format::kCsv
           : format == "markdown" ? TextTable::Format::kMarkdown
                                  : TextTable::Format::kText;
  }
};

/// A line for each column COLUMN@KEY=VALUE that no run has been evaluated for.
std::string columns_without_evaluations(RunTable& runs, const std::vector<std::string>& columns) {
  std::string lines;
  for (const std::string& column : columns) {
    const std::vector<Filter> settings = RunTable::settings_in(column);
    const std::string unmet = settings.empty() ? "" : unmet_condition(runs, settings);
    if (!unmet.empty()) lines += fmt::format("{}: {}\n", column, unmet);
  }
  return lines;
}

Json value_json(const std::string& column, const Value& value) {
  if (is_missing(value)) return nullptr;
  if (is_time_column(column)) return exact_time(as_number(value));
  if (const auto* holds = std::get_if<bool>(&value)) return *holds;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

/// These columns of each run; none: everything about it.
std::string list_json(RunTable& runs, const std::vector<std::size_t>& rows, const std::vector<std::string>& columns) {
  RunLister lister(runs.store());
  std::string out = "[";
  for (const std::size_t row : rows) {
    Json run = {{"run_id", runs.id(row)}};
    for (const std::string& name : columns) run[name] = value_json(name, runs.column(name)[row]);
    if (columns.empty()) run = lister.run(runs.id(row));
    out += (out.size() > 1 ? ",\n " : "") + run.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return out + "]\n";
}

int list(const ListOptions& given, const GlobalOptions& global) {
  ListOptions options = given;
  options.columns = listed_columns(given.columns);
  const std::vector<Filter> filters = parse_filters(options.where);
  RunTable runs = open_runs(global);
  std::vector<std::size_t> selected =
      sorted_by(runs, newest_first(runs, filters, options.columns), options.sort, options.reverse);
  const std::size_t all = selected.size();
  const bool json = options.is_json(global);
  const bool text = !json && options.format == "text";
  if (options.limit > 0) {
    selected.resize(std::min(all, static_cast<std::size_t>(options.limit)));
  } else if (options.limit < 0 && text && global.standard_output.is_terminal) {
    const int room = std::max(global.standard_output.height - kAroundList, 10);
    selected.resize(std::min(all, static_cast<std::size_t>(room)));
  }
  if (json) {
    if (options.columns.empty() && !options.all) options.columns = default_columns_of(runs, selected);
    warn_of_older_code(runs, selected, filters, options.columns);
    print(list_json(runs, selected, options.columns));
    return kDone;
  }
  if (all == 0 && text) {
    say(printable(why_no_runs(runs, filters, options.columns, global)) + "\n");
    return kDone;
  }
  const ListView view{.now = wall_seconds(), .terminal = global.standard_output, .columns = options.columns};
  print(text ? runs_text(runs, selected, view) : runs_table(runs, selected, view, options.table_format()));
  if (selected.size() < all && !global.quiet) {
    say(fmt::format("{} of {} runs; --limit 0 shows all\n", selected.size(), all));
  }
  if (text && !global.quiet) say(columns_without_evaluations(runs, options.columns));
  return kDone;
}

/// `rows` have what each run cost, and `all` the sums. A column that no run has is left out, except in CSV.
std::string costs_table(Json rows, const Json& all, TextTable::Format format) {
  const bool csv = format == TextTable::Format::kCsv;
  if (!csv) {
    const std::string count = counted(rows.size(), "run");
    rows.push_back(all);
    rows.back().update({{"run_id", "all"}, {"status", count}});
  }
  std::vector<const char*> shown;
  std::ranges::copy_if(kSweepCosts, std::back_inserter(shown),
                       [&](const char* cost) { return csv || !all[cost].is_null(); });
  std::vector<TextTable::Column> columns{{"run"}, {"status"}};
  for (const char* cost : shown) columns.push_back({csv ? cost : quantity(cost).head, true});
  TextTable table(std::move(columns));
  for (const Json& row : rows) {
    std::vector<std::string> cells{row["run_id"].get<std::string>(), row["status"].get<std::string>()};
    for (const char* cost : shown) {
      const Json& value = row[cost];
      const double number = value.is_null() ? 0 : value.get<double>();
      cells.push_back(value.is_null() ? "" : csv ? fmt::format("{}", number) : column_number(cost, number));
    }
    table.add(std::move(cells));
  }
  return table.render(format);
}

int list_costs(const ListOptions& options, const GlobalOptions& global) {
  const std::vector<Filter> filters = parse_filters(options.where);
  RunTable runs = open_runs(global);
  Json rows = Json::array();
  Json all = Json::object();  // sums over the runs that say it; null: none does
  for (const char* cost : kSweepCosts) all[cost] = nullptr;
  const std::vector<Value>& inherited = runs.column_or_nothing("inherited_flops");
  for (const std::size_t run : newest_first(runs, filters)) {
    Json row = Json::object();
    for (const char* cost : kSweepCosts) {
      row[cost] = nullptr;
      const std::optional<double> value = as_number(runs.column_or_nothing(cost)[run]);
      if (!value) continue;
      const double own = own_cost(cost, *value, as_number(inherited[run]).value_or(0));
      row[cost] = own;
      all[cost] = all[cost].is_null() ? own : all[cost].get<double>() + own;
    }
    row.update({{"run_id", runs.id(run)}, {"status", to_text(runs.column("status")[run])}});
    rows.push_back(std::move(row));
  }
  if (options.is_json(global)) {
    print(json_text({{"runs", rows}, {"all", all}}));
  } else if (rows.empty()) {
    say(printable(why_no_runs(runs, filters, {}, global)) + "\n");
  } else {
    print(costs_table(std::move(rows), all, options.table_format()));
  }
  return kDone;
}

int show_run(const std::string& name, const GlobalOptions& global) {
  RunTable runs = open_runs(global);
  const std::string id = find_run(runs, name, global);
  if (global.json) {
    Json json = RunLister(runs.store()).run(id);
    if (fs::exists(global.runs / id)) add_details(read_run(global.runs / id, has_live_worker), json);
    print(json_text(json));
  } else {
    const ListView view{.now = wall_seconds(), .terminal = global.standard_output, .columns = {}};
    const Json children = RunLister(runs.store()).run(id).value("children", Json::array());
    print(run_text(read_run(global.runs / id, has_live_worker), children, view));
  }
  return kDone;
}

int sync(bool rebuild, const GlobalOptions& global) {
  if (!fs::exists(global.runs)) {
    throw DataError(fmt::format("there is no folder of runs {}\nname it with --runs DIR", global.runs.string()));
  }
  const SyncOptions settings = sync_options(global);
  const fs::path file = global.store_file();
  const SyncReport report =
      rebuild ? Store::rebuild(file, global.runs, settings) : Store(file).sync(global.runs, settings);
  const std::int64_t runs = report.added + report.updated + report.unchanged;
  if (global.json) {
    const Json json = {{"store", file.string()},    {"runs", runs},
                       {"added", report.added},     {"updated", report.updated},
                       {"removed", report.removed}, {"unchanged", report.unchanged},
                       {"skipped", report.skipped}};
    print(json_text(json));
  } else {
    print(fmt::format("{}: {} runs ({} added, {} updated, {} removed{})\n", file.string(), runs, report.added,
                      report.updated, report.removed,
                      report.skipped > 0 ? fmt::format(", {} skipped", report.skipped) : ""));
  }
  return kDone;
}

struct SqlOptions {
  std::string sql;
  std::string format = "table";
};

int sql(const SqlOptions& options, const GlobalOptions& global) {
  const bool kept = fs::exists(global.runs) || fs::exists(global.store_file());
  Store synced = open_store(global);
  Store store = kept ? Store::open_read_only(global.store_file()) : std::move(synced);
  const SqlResult result = run_sql(store, options.sql);
  print(sql_text(result, global.json ? "json" : options.format, global.standard_output));
  return kDone;
}

struct RemoveOptions {
  std::vector<std::string> runs;
  std::vector<std::string> where;
  bool yes = false;
};

int remove(const RemoveOptions& options, const GlobalOptions& global) {
  if (options.runs.empty() && options.where.empty()) {
    throw UsageError(
        "which runs to delete? name them, or select them with --where experiment=NAME\n"
        "run 'xlm runs rm --help' for examples");
  }
  finish_removals(global.runs);
  RunTable runs = open_runs(global);
  const std::set<std::string> ids = choose_runs(runs, options.runs, options.where, global);
  for (const std::string& id : ids) {
    if (!has_live_worker(global.runs / id)) continue;
    throw Error(fmt::format("{} is running; nothing was removed\nstop it first: xlm runs stop {}", id, id));
  }
  for (const std::string& name : line_names(global.runs)) {
    const TryLine line(global.runs, name);
    const std::string first = line.tries().empty() ? "" : line.tries().front().base();
    for (const auto& [id, what] : {std::pair(line.best(), "best"), std::pair(first, "first base")}) {
      if (!ids.contains(id)) continue;
      throw Error(fmt::format("{} is the {} of the line {}; nothing was removed\nto give the line up, remove {}", id,
                              what, name, line.folder().string()));
    }
  }
  if (!options.yes) {
    throw UsageError(fmt::format("this would delete the folders of {}: {}\nadd --yes to delete them",
                                 counted(ids.size(), "run"), join({ids.begin(), ids.end()}, ", ")));
  }
  for (const std::string& id : ids) {
    if (fs::exists(global.runs / id)) remove_run_folder(global.runs / id);
    runs.store().remove(id);
    if (!global.json) print(fmt::format("removed {}\n", id));
  }
  if (global.json) print(json_text(Json{{"removed", ids}}));
  return kDone;
}

void add_list_format(CLI::App& app, ListOptions& options) {
  app.add_option("--format", options.format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
}

std::function<int()> declare_runs_ls(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ListOptions>();
  add_where(app, options->where);
  app.add_option("--columns", options->columns, "Show these columns of the store")
      ->allow_extra_args(false)
      ->type_name(kColumnList);
  app.add_option("--sort", options->sort, "Sort by this column, smallest first (default: newest first)")
      ->type_name("COLUMN");
  app.add_flag("--reverse", options->reverse, "Reverse the order");
  app.add_flag("--all", options->all, "In JSON: all that is known of each run, not a list's columns");
  app.add_option("--limit", options->limit,
                 "Show only the first N; 0: all (default: all, on a terminal as many as fit)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40).description(""))
      ->type_name("N");
  add_list_format(app, *options);
  app.footer(
      "Examples:\n"
      "  xlm runs ls\n"
      "  xlm runs ls --where experiment=spans --where status=failed,diverged\n"
      "  xlm runs ls --where 'experiment=\"spans,v2\"'\n"
      "  xlm runs ls --sort test.bpc --limit 10\n"
      "  xlm runs ls --columns model.span,model.span_type,seed,test.bpc,flops_per_token --format csv");
  return [options, &global] { return list(*options, global); };
}

std::function<int()> declare_runs_cost(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ListOptions>();
  add_where(app, options->where);
  add_list_format(app, *options);
  app.footer(
      "Hours are those of all threads or GPUs that a worker held. A quantity that no run knows is left out.\n\n"
      "Examples:\n"
      "  xlm runs cost\n"
      "  xlm runs cost --where experiment=spans --format csv");
  return [options, &global] { return list_costs(*options, global); };
}

std::function<int()> declare_runs_show(CLI::App& app, const GlobalOptions& global) {
  const auto run = std::make_shared<std::string>();
  app.add_option("RUN", *run, "Run id, the beginning of one or of its hash, or a run folder")->required();
  app.footer("Example:\n  xlm runs show adaptive-span-text8-3fa9c1d240b7e115");
  return [run, &global] { return show_run(*run, global); };
}

std::function<int()> declare_runs_sync(CLI::App& app, const GlobalOptions& global) {
  const auto rebuild = std::make_shared<bool>(false);
  app.add_flag("--rebuild", *rebuild, "Rebuild the store from the run folders alone");
  app.footer(
      "Every command that reads the store does this first.\n\nExamples:\n  xlm runs sync\n"
      "  xlm runs sync --rebuild");
  return [rebuild, &global] { return sync(*rebuild, global); };
}

std::function<int()> declare_runs_sql(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<SqlOptions>();
  app.add_option("SQL", options->sql, "One SELECT statement")->required();
  app.add_option("--format", options->format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
  app.footer(
      "docs/store.md lists tables and views. The store is read-only here.\n\n"
      "Examples:\n"
      "  xlm runs sql \"SELECT run_id, test_bpc FROM results ORDER BY test_bpc LIMIT 10\"\n"
      "  xlm runs sql \"SELECT model, data, runs, test_bpc FROM seeds\" --format csv");
  return [options, &global] { return sql(*options, global); };
}

std::function<int()> declare_runs_rm(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<RemoveOptions>();
  app.add_option("RUN", options->runs, kRunNames);
  add_where(app, options->where, "All");
  app.add_flag("--yes", options->yes, "Delete them");
  app.footer(
      "Without --yes it lists the runs and deletes nothing.\n\n"
      "Examples:\n  xlm runs rm adaptive-span-text8-3fa9c1d240b7e115 --yes\n"
      "  xlm runs rm --where experiment=spans --where status=failed,diverged");
  return [options, &global] { return remove(*options, global); };
}

constexpr std::array<Command, 18> kRunsCommands{{
    {"ls", "List runs, newest first", declare_runs_ls},
    {"show", "All about one run: configuration, states, evaluations, spans, checkpoints", declare_runs_show},
    {"sync", "Update the store from the run folders", declare_runs_sync},
    {"sql", "Query the store with SQL, read-only", declare_runs_sql},
    {"stop", "Ask workers on any machine to save and stop", declare_runs_stop},
    {"watch", "Show the live state of a sweep's runs", declare_runs_watch},
    {"cost", "Show what runs cost, one by one and in all", declare_runs_cost},
    {"log", "Show what lines of tries remember (xlm try)", declare_runs_log},
    {"diff", "Show two runs side by side, only what differs", declare_runs_diff},
    {"tag", "Give runs a tag, or take it away", declare_runs_tag},
    {"note", "Write a note about runs", declare_runs_note},
    {"mark", "Mark runs as bad: they are left out of tables and figures", declare_runs_mark},
    {"reread", "Read the numbers of programs again, as their file says now", declare_runs_reread},
    {"export", "Export runs, series and evaluations: CSV, JSON, Parquet, TensorBoard", declare_runs_export},
    {"import", "Take in runs of wandb, mlflow, trackio, TensorBoard, CSV, …", declare_runs_import},
    {"merge", "Take in the runs of another folder or of an archive", declare_runs_merge},
    {"pack", "Pack runs into one archive, with checksums", declare_runs_pack},
    {"rm", "Delete runs with their folders", declare_runs_rm},
}};

}  // namespace

std::function<int()> declare_runs(CLI::App& app, const GlobalOptions& global) {
  std::vector<std::pair<CLI::App*, std::function<int()>>> choices;
  app.require_subcommand(1);
  for (const Command& command : kRunsCommands) {
    CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
    choices.emplace_back(sub, command.declare(*sub, global));
  }
  app.footer(
      "'xlm runs COMMAND --help' explains each.\n\nExamples:\n  xlm runs ls --where status=done\n"
      "  xlm runs show adaptive-span-text8-3fa9\n  xlm runs sql \"SELECT * FROM results\"");
  return [choices] {
    const auto chosen = std::ranges::find_if(choices, [](const auto& choice) { return choice.first->parsed(); });
    return chosen->second();
  };
}

}  // namespace xlm
