// xlm runs: lists, inspects, moves and deletes runs.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "cmd/run_view.h"
#include "cmd/runs_cost.h"
#include "cmd/runs_diff.h"
#include "cmd/runs_export.h"
#include "cmd/runs_merge.h"
#include "cmd/runs_remarks.h"
#include "cmd/runs_reread.h"
#include "cmd/runs_stop.h"
#include "cmd/runs_watch.h"
#include "cmd/sql_view.h"
#include "experiments/collections/run_files.h"
#include "experiments/runs/run_lock.h"
#include "results/run_folder/journal.h"
#include "results/store/run_list.h"
#include "results/store/sql_query.h"
#include "results/store/unmet_condition.h"

namespace xlm {
namespace {

constexpr int kAroundList = 4;  // lines of a terminal besides the runs: title, rule, count, prompt

struct ListOptions {
  std::vector<std::string> where;
  std::vector<std::string> columns;
  std::string sort;
  bool reverse = false;
  std::int64_t limit = -1;  // -1: all, or as many as fit a terminal; 0: all
  std::string format = "text";
};

struct RunsOptions {
  ListOptions list;
  std::string run;
  std::vector<std::string> runs;
  std::vector<std::string> where;
  std::string sql;
  std::string format = "table";
  bool rebuild = false;
  bool yes = false;
  CostCommand cost;
  WatchCommand watch;
  MergeCommand merge;
  PackCommand pack;
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
  if (is_time_column(column)) return iso_time(as_number(value));
  if (const auto* holds = std::get_if<bool>(&value)) return *holds;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::get<std::string>(value);
}

/// Everything about each run, or the columns that the user chose.
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
  Store store = open_store(global);
  RunTable runs(store);
  std::vector<std::size_t> selected = newest_first(runs, filters, options.columns);
  if (!options.sort.empty()) {
    selected = sorted_by(runs, std::move(selected), options.sort, options.reverse);
  } else if (options.reverse) {
    std::reverse(selected.begin(), selected.end());
  }
  const std::size_t all = selected.size();
  const bool json = global.json || options.format == "json";
  const bool text = !json && options.format == "text";
  if (options.limit > 0) {
    selected.resize(std::min(all, static_cast<std::size_t>(options.limit)));
  } else if (options.limit < 0 && text && global.standard_output.is_terminal) {
    const int room = std::max(global.standard_output.height - kAroundList, 10);
    selected.resize(std::min(all, static_cast<std::size_t>(room)));
  }
  if (json) {
    print(list_json(runs, selected, options.columns));
    return kDone;
  }
  if (all == 0 && text) {
    say(runs.size() == 0 ? no_runs_hint(global) : printable(unmet_condition(runs, filters, options.columns)) + "\n");
    return kDone;
  }
  const ListView view{.now = wall_seconds(), .terminal = global.standard_output, .columns = options.columns};
  print(text ? runs_text(runs, selected, view) : runs_table(runs, selected, view, options.format));
  if (selected.size() < all && !global.quiet) {
    say(fmt::format("{} of {} runs; --limit 0 shows all\n", selected.size(), all));
  }
  if (text && !global.quiet) say(columns_without_evaluations(runs, options.columns));
  return kDone;
}

int show_run(const RunsOptions& options, const GlobalOptions& global) {
  Store store = open_store(global);
  RunTable runs(store);
  const std::string id = find_run(runs, options.run, global);
  if (global.json) {
    Json json = RunLister(store).run(id);
    if (fs::exists(global.runs / id)) add_details(read_run(global.runs / id, has_live_worker), json);
    print(json_text(json));
  } else {
    const ListView view{.now = wall_seconds(), .terminal = global.standard_output, .columns = {}};
    const Json children = RunLister(store).run(id).value("children", Json::array());
    print(run_text(read_run(global.runs / id, has_live_worker), children, view));
  }
  return kDone;
}

int sync(const RunsOptions& options, const GlobalOptions& global) {
  if (!fs::exists(global.runs)) {
    throw DataError(fmt::format("there is no folder of runs {}\nname it with --runs DIR", global.runs.string()));
  }
  const SyncOptions settings = sync_options(global);
  const fs::path file = global.store_file();
  const SyncReport report =
      options.rebuild ? Store::rebuild(file, global.runs, settings) : Store(file).sync(global.runs, settings);
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

int sql(const RunsOptions& options, const GlobalOptions& global) {
  const bool kept = fs::exists(global.runs) || fs::exists(global.store_file());
  Store synced = open_store(global);
  Store store = kept ? Store::open_read_only(global.store_file()) : std::move(synced);
  const SqlResult result = run_sql(store, options.sql);
  print(sql_text(result, global.json ? "json" : options.format, global.standard_output));
  return kDone;
}

int remove(const RunsOptions& options, const GlobalOptions& global) {
  if (options.runs.empty() && options.where.empty()) {
    throw UsageError(
        "which runs to delete? name them, or select them with --where experiment=NAME\n"
        "run 'xlm runs rm --help' for examples");
  }
  finish_removals(global.runs);
  Store store = open_store(global);
  RunTable runs(store);
  const std::set<std::string> ids = choose_runs(runs, options.runs, options.where, global);
  for (const std::string& id : ids) {
    if (!has_live_worker(global.runs / id)) continue;
    throw Error(fmt::format("{} is running; nothing was removed\nstop it first: xlm runs stop {}", id, id));
  }
  if (!options.yes) {
    throw UsageError(fmt::format("this would delete the folders of {}: {}\nadd --yes to delete them",
                                 counted(ids.size(), "run"), join({ids.begin(), ids.end()}, ", ")));
  }
  for (const std::string& id : ids) {
    if (fs::exists(global.runs / id)) remove_run_folder(global.runs / id);
    store.remove(id);
    if (!global.json) print(fmt::format("removed {}\n", id));
  }
  if (global.json) print(json_text(Json{{"removed", ids}}));
  return kDone;
}

using Choice = std::function<int(const RunsOptions&, const GlobalOptions&)>;

void declare_list(CLI::App& app, RunsOptions& options) {
  app.add_option("--where", options.list.where, "Only runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--columns", options.list.columns, "Show these columns of the store")
      ->allow_extra_args(false)
      ->type_name(kColumnList);
  app.add_option("--sort", options.list.sort, "Sort by this column, smallest first (default: newest first)")
      ->type_name("COLUMN");
  app.add_flag("--reverse", options.list.reverse, "Reverse the order");
  app.add_option("--limit", options.list.limit,
                 "Show only the first N; 0: all (default: all, on a terminal as many as fit)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40).description(""))
      ->type_name("N");
  app.add_option("--format", options.list.format, "text, markdown, csv or json")
      ->check(CLI::IsMember({"text", "markdown", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
  app.footer(
      "Examples:\n"
      "  xlm runs ls\n"
      "  xlm runs ls --where experiment=spans --where status=failed,diverged\n"
      "  xlm runs ls --where 'experiment=\"spans,v2\"'\n"
      "  xlm runs ls --sort test.bpc --limit 10\n"
      "  xlm runs ls --columns model.span,model.span_type,seed,test.bpc,flops_per_token --format csv");
}

void declare_watch(CLI::App& app, WatchCommand& command) {
  app.add_option("SWEEP", command.sweep, "A sweep's file, and KEY=VALUE as for xlm sweep");
  app.add_option("--profile", command.profile, "Profile of the file to apply")->type_name("NAME");
  app.add_option("--where", command.where, "All runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_flag("--once", command.once, "Show the state once and exit (so does --json)");
  app.add_flag("--serve", command.serve, "Serve a page with runs and their curves to a browser on this machine");
  app.add_option("--port", command.port, "Port of that page (default: any free one)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65535}).description(""))
      ->type_name("N");
  app.footer(
      "Shows runs on any machine: the state comes from their folders, and from Slurm's queue if there is one. Without\n"
      "arguments: every experiment with unfinished runs. Watching changes nothing, and Ctrl-C stops only the\n"
      "watching.\n\n"
      "--serve prints the address of a page that follows all runs: filter and sort them, lay curves over each other,\n"
      "save them as a file. Only this machine can connect, and only who knows the address sees anything. To see it\n"
      "from your own machine, forward its port, and open the same address there:\n"
      "  ssh -N -L 8080:127.0.0.1:8080 HOST       after `xlm runs watch --serve --port 8080` on HOST\n\n"
      "Exit code: 0 all runs done (or --once), 1 some failed or diverged, 75 stopped watching.\n\n"
      "Examples:\n  xlm runs watch spans.yaml\n  xlm runs watch --where experiment=spans --once\n"
      "  xlm runs watch --serve\n  xlm runs watch --serve --port 8080 --where status=running");
}

void declare_merge(CLI::App& app, MergeCommand& command) {
  app.add_option("SOURCE", command.sources, "Folders of runs, run folders, or archives of them (tar, tar.zst, …)")
      ->required();
  app.add_flag("--dry-run", command.dry_run, "Show what would happen to each run; change nothing");
  app.add_flag("--move", command.move, "Remove merged runs from SOURCE");
  app.add_flag("--link", command.link, "Hard-link models and checkpoints instead of copying them");
  app.footer(
      "A run's id is a hash of all that determines its result, so runs from anywhere can be merged, in any order and\n"
      "repeatedly. If both places have a run, the one with more progress is kept. If both are done with different\n"
      "results, that is a conflict and neither changes. Runs with a worker are skipped. More: docs/clusters.md\n\n"
      "Exit code: 0, 1 if there are conflicts or damaged runs, 75 stopped.\n\n"
      "Examples:\n  xlm runs merge /scratch/ada/runs\n  xlm runs merge spans.tar.zst --dry-run\n"
      "  xlm runs merge node1/runs node2/runs --move");
}

void declare_pack(CLI::App& app, PackCommand& command) {
  app.add_option("RUN", command.runs, fmt::format("{} (default: all)", kRunNames));
  app.add_option("--where", command.where, "All runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--out", command.out, "The archive: FILE.tar, .tar.gz, .tar.xz or .tar.zst")
      ->required()
      ->type_name("FILE");
  app.add_flag("--models", command.models, "Include trained models");
  app.add_flag("--checkpoints", command.checkpoints, "Include checkpoints, to resume from");
  app.add_option("--add", command.also, "Include another file, such as a report or the sweep")
      ->allow_extra_args(false)
      ->type_name("FILE");
  app.footer(
      "Configuration, environment, journal and log of every run, and the hashes of all files: `sha256sum -c "
      "SHA256SUMS`\n"
      "verifies an unpacked archive, and `xlm runs merge` imports one.\n\n"
      "Example:\n  xlm report spans.yaml --out report.html\n"
      "  xlm runs pack --where experiment=spans --add report.html --add spans.yaml --out spans.tar.zst");
}

void declare_sql(CLI::App& app, RunsOptions& options) {
  app.add_option("SQL", options.sql, "One SELECT statement")->required();
  app.add_option("--format", options.format, "table, csv or json")
      ->check(CLI::IsMember({"table", "csv", "json"}))
      ->capture_default_str()
      ->type_name("FORMAT");
  app.footer(
      "docs/store.md lists tables and views. The store is read-only here.\n\n"
      "Examples:\n"
      "  xlm runs sql \"SELECT run_id, test_bpc FROM results ORDER BY test_bpc LIMIT 10\"\n"
      "  xlm runs sql \"SELECT model, data, runs, test_bpc FROM seeds\" --format csv");
}

}  // namespace

std::function<int()> declare_runs(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<RunsOptions>();
  std::vector<std::pair<CLI::App*, Choice>> choices;
  app.require_subcommand(1);
  CLI::App* ls = app.add_subcommand("ls", "List runs, newest first");
  declare_list(*ls, *options);
  choices.emplace_back(ls, [](const RunsOptions& o, const GlobalOptions& c) { return list(o.list, c); });

  CLI::App* one =
      app.add_subcommand("show", "All about one run: configuration, states, evaluations, spans, checkpoints");
  one->add_option("RUN", options->run, "Run id, the beginning of one or of its hash, or a run folder")->required();
  one->footer("Example:\n  xlm runs show adaptive-span-text8-3fa9c1d240b7e115");
  choices.emplace_back(one, show_run);

  CLI::App* update = app.add_subcommand("sync", "Update the store from the run folders");
  update->add_flag("--rebuild", options->rebuild, "Rebuild the store from the run folders alone");
  update->footer(
      "Every command that reads the store does this first.\n\nExamples:\n  xlm runs sync\n"
      "  xlm runs sync --rebuild");
  choices.emplace_back(update, sync);

  CLI::App* query = app.add_subcommand("sql", "Query the store with SQL, read-only");
  declare_sql(*query, *options);
  choices.emplace_back(query, sql);

  CLI::App* stop = app.add_subcommand("stop", "Ask workers on any machine to save and stop");
  stop->add_option("RUN", options->runs, kRunNames);
  stop->add_option("--where", options->where, "All runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  stop->footer(
      "A running run stops at its next step, with a checkpoint; a waiting run does not start.\n"
      "Both resume when they are submitted again (xlm sweep, xlm train).\n\n"
      "Examples:\n  xlm runs stop adaptive-span-text8-3fa9c1d240b7e115\n"
      "  xlm runs stop --where experiment=spans --where model.span=8192");
  choices.emplace_back(stop,
                       [](const RunsOptions& o, const GlobalOptions& c) { return stop_runs(o.runs, o.where, c); });

  CLI::App* watch = app.add_subcommand("watch", "Show the live state of a sweep's runs");
  declare_watch(*watch, options->watch);
  choices.emplace_back(watch, [](const RunsOptions& o, const GlobalOptions& c) { return watch_runs(o.watch, c); });
  CLI::App* cost = app.add_subcommand("cost", "Show what runs cost, one by one and in all");
  declare_cost(*cost, options->cost);
  choices.emplace_back(cost, [](const RunsOptions& o, const GlobalOptions& c) { return show_cost(o.cost, c); });
  const auto declare = [&](const char* name, const char* what,
                           std::function<int()> (*declare_on)(CLI::App&, const GlobalOptions&)) {
    CLI::App* sub = app.add_subcommand(name, what);
    choices.emplace_back(sub,
                         [run = declare_on(*sub, global)](const RunsOptions&, const GlobalOptions&) { return run(); });
  };
  declare("diff", "Show two runs side by side, only what differs", declare_runs_diff);
  declare("tag", "Give runs a tag, or take it away", declare_runs_tag);
  declare("note", "Write a note about runs", declare_runs_note);
  declare("mark", "Mark runs as bad: they are left out of tables and figures", declare_runs_mark);
  declare("reread", "Read the numbers of programs again, as their file says now", declare_runs_reread);
  declare("export", "Export runs, series and evaluations: CSV, JSON, Parquet, TensorBoard", declare_runs_export);

  CLI::App* merge = app.add_subcommand("merge", "Import the runs of another folder or of an archive");
  declare_merge(*merge, options->merge);
  choices.emplace_back(merge, [](const RunsOptions& o, const GlobalOptions& c) { return merge_sources(o.merge, c); });

  CLI::App* pack = app.add_subcommand("pack", "Pack runs into one archive, with checksums");
  declare_pack(*pack, options->pack);
  choices.emplace_back(pack, [](const RunsOptions& o, const GlobalOptions& c) { return pack_runs(o.pack, c); });

  CLI::App* rm = app.add_subcommand("rm", "Delete runs with their folders");
  rm->add_option("RUN", options->runs, kRunNames);
  rm->add_option("--where", options->where, "All runs with KEY=VALUE (!=, <, <=, >, >=); all must hold")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  rm->add_flag("--yes", options->yes, "Delete them");
  rm->footer(
      "Without --yes it lists the runs and deletes nothing.\n\n"
      "Examples:\n  xlm runs rm adaptive-span-text8-3fa9c1d240b7e115 --yes\n"
      "  xlm runs rm --where experiment=spans --where status=failed,diverged");
  choices.emplace_back(rm, remove);
  app.footer(
      "'xlm runs COMMAND --help' explains each.\n\nExamples:\n  xlm runs ls --where status=done\n"
      "  xlm runs show adaptive-span-text8-3fa9\n  xlm runs sql \"SELECT * FROM results\"");

  return [options, choices, &global]() -> int {
    for (const auto& [sub, choice] : choices) {
      if (sub->parsed()) return choice(*options, global);
    }
    return kUsage;
  };
}

}  // namespace xlm
