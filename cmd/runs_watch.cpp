// xlm runs watch: the state of a sweep, from its run folders alone, or runs and their curves in a browser.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/secret.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/results_store.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/sweep_watch.h"
#include "experiments/sweeps/recipe.h"
#include "results/exhibits/exhibits.h"
#include "results/live/http_server.h"
#include "results/live/live_page.h"
#include "results/live/live_runs.h"
#include "results/store/run_list.h"
#include "results/store/unmet_condition.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

struct WatchCommand {
  std::vector<std::string> sweep;  // its file and overrides; empty: runs of the store
  std::string profile;
  std::vector<std::string> where;
  bool once = false;
  bool serve = false;     // as a page for a browser
  std::int64_t port = 0;  // of that page; 0: any free one
};

std::vector<SweepRun> runs_of_sweep(const WatchCommand& command, const GlobalOptions& global) {
  const std::vector<std::string> overrides(command.sweep.begin() + 1, command.sweep.end());
  const Recipe recipe = recipe_of(read_configuration(command.sweep.front(), command.profile, overrides), overrides);
  return plan_sweep(recipe, global.runs, false, {.choose = choose_in_store(global)});
}

/// Rows of every experiment with an unfinished run, and unfinished runs without an experiment.
std::vector<std::size_t> rows_with_work(RunTable& runs) {
  const std::vector<std::size_t> open = runs.select(parse_filters({"status=queued,running,stale,preempted"}));
  std::set<std::size_t> rows(open.begin(), open.end());
  Filter filter{.column = "experiment", .values = {}};
  for (const std::string& experiment : runs.texts_in(open, "experiment")) {
    if (!experiment.empty()) filter.values.emplace_back(Value(experiment));
  }
  const std::vector<std::size_t> members = runs.select({filter});
  rows.insert(members.begin(), members.end());
  return {rows.begin(), rows.end()};
}

/// A run of the store as one of a sweep: only its folder is known. `keys` are those that distinguish the runs.
SweepRun known_run(RunTable& runs, std::size_t row, const std::vector<std::string>& keys, const fs::path& folder) {
  SweepRun run;
  run.planned.paths.folder = folder;
  run.planned.options.train.steps =
      static_cast<std::int64_t>(as_number(runs.column_or_nothing("train.steps")[row]).value_or(0));
  for (const std::string& key : keys) {
    run.point.emplace_back(key, make_scalar(short_text(runs.column(key)[row]), "the store"));
  }
  try {
    run.evaluations = read_run(folder).wanted;
  } catch (const DataError&) {
    // A damaged folder: look_at reports it.
  }
  look_at(run, false);
  return run;
}

std::vector<SweepRun> runs_of_store(const WatchCommand& command, const GlobalOptions& global) {
  RunTable runs = open_runs(global);
  const std::vector<Filter> filters = parse_filters(command.where);
  std::vector<std::size_t> rows = filters.empty() ? rows_with_work(runs) : newest_first(runs, filters);
  if (rows.empty() && !filters.empty()) throw DataError(unmet_condition(runs, filters));
  rows = sorted_by(runs, std::move(rows), "created", false);
  std::vector<std::string> keys = differing_keys(runs, rows);
  std::erase_if(keys, [](const std::string& key) { return key.starts_with(kSettingPrefix); });
  std::vector<SweepRun> found;
  for (const std::size_t row : rows) {
    const fs::path folder = global.runs / runs.id(row);
    if (fs::exists(folder)) found.push_back(known_run(runs, row, keys, folder));
  }
  return found;
}

/// The names of the work lists that contain some of these runs.
std::vector<std::string> names_of_lists(const std::vector<SweepRun>& runs, const fs::path& folder) {
  std::set<std::string> ids;
  for (const SweepRun& run : runs) ids.insert(run.id());
  std::vector<std::string> names;
  for (const WorkList& list : work_lists(folder)) {
    const auto is_here = [&](const SweepRun& run) { return ids.contains(run.id()); };
    if (std::ranges::any_of(list.items, is_here)) names.push_back(list.name);
  }
  return names;
}

ExitCode watch_code(const std::vector<SweepRun>& runs) {
  for (SweepRun run : runs) {
    look_at(run, false);
    if (run.status == RunStatus::kDiverged || run.status == RunStatus::kFailed) return kFailed;
  }
  return kDone;
}

constexpr double kStopSeconds = 0.1;  // between questions whether to stop
constexpr double kLookSeconds = 2;    // between looks at run folders
constexpr double kRestShare = 4;      // a slow file system rests so many times as long as a look takes

/// The conditions that the page begins with: those of the command, or the experiment of its sweep.
std::string first_conditions(const WatchCommand& command) {
  parse_filters(command.where);  // complains of wrong ones
  if (command.sweep.empty()) return join(command.where, ", ");
  const std::vector<std::string> overrides(command.sweep.begin() + 1, command.sweep.end());
  const std::string experiment =
      recipe_experiment(read_configuration(command.sweep.front(), command.profile, overrides));
  if (experiment.empty()) return "";
  return Filter{.column = "experiment", .values = {Value(experiment)}}.text();
}

std::string name_of_this_machine() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "HOST";
}

void print_address(const std::string& address, int port, const GlobalOptions& global) {
  if (global.json) return print(Json{{"address", address}, {"port", port}}.dump() + "\n");
  print(address + "\n");
  if (global.quiet) return;
  say(
      fmt::format("open it in a browser on this machine; Ctrl-C ends it\n"
                  "from another machine: ssh -N -L {0}:{1}:{0} {2}, and open the same address there\n",
                  port, kLoopback, name_of_this_machine()));
}

/// Looks at the run folders again and again until a signal asks to stop.
void follow_folders(LiveRuns& runs) {
  double next = monotonic_seconds() + kLookSeconds;
  while (!stop_requested()) {
    sleep_seconds(kStopSeconds);
    const double began = monotonic_seconds();
    if (began < next) continue;
    runs.refresh();
    const double ended = monotonic_seconds();
    next = ended + std::max(kLookSeconds, kRestShare * (ended - began));
  }
}

/// Serves the live page until a signal asks to stop. Prints its address once it answers.
int serve_runs(const WatchCommand& command, const GlobalOptions& global) {
  if (command.once) throw UsageError("--once shows the state and exits: it does not go with --serve");
  const std::string where = first_conditions(command);
  LiveRuns runs([&global] { return open_store(global); });
  if (!global.verbose) spdlog::set_level(spdlog::level::err);  // later looks would repeat their warnings
  const LivePage page(runs, {.token = fresh_secret(),
                             .title = "Runs in " + fs::absolute(global.runs).lexically_normal().string(),
                             .where = where});
  install_stop_handlers();
  const std::unique_ptr<HttpServer> server =
      serve_http(static_cast<int>(command.port), [&page](const HttpRequest& request) { return page.answer(request); });
  const std::string address = fmt::format("http://{}:{}{}", kLoopback, server->port(), page.path());
  print_address(address, server->port(), global);
  follow_folders(runs);
  return kStopped;
}

/// Shows the runs of a sweep, those that meet conditions, or those of every experiment with unfinished runs.
int watch_runs(const WatchCommand& command, const GlobalOptions& global) {
  if (!command.sweep.empty() && !command.where.empty()) {
    throw UsageError("--where selects runs of any sweep: name a sweep's file or conditions, not both");
  }
  if (command.serve) return serve_runs(command, global);
  if (command.port != 0) throw UsageError("--port is that of the page of --serve: add --serve");
  const std::vector<SweepRun> runs =
      command.sweep.empty() ? runs_of_store(command, global) : runs_of_sweep(command, global);
  const bool once = command.once || global.json;
  if (runs.empty() && !global.json) {
    say("there is no unfinished run to watch; --where experiment=NAME shows finished ones\n");
    return kDone;
  }
  WatchSettings settings{.should_stop = stop_requested, .stay = true, .elapsed = false};
  const std::vector<std::string> lists = names_of_lists(runs, global.runs);
  if (!lists.empty()) settings.workers = [&, lists] { return status_of_workers(fs::absolute(global.runs), lists); };
  Terminal terminal = global.standard_output;
  if (!once && !global.quiet) {
    settings.screen = stdout;
    settings.terminal = terminal;
  }
  terminal.height = std::numeric_limits<int>::max();  // show every line: the text stays on the screen
  if (global.json) {
    print(json_text(SweepWatch(runs, settings).json()));
    return kDone;
  }
  if (once) {
    print(SweepWatch(runs, settings).text(terminal));
    return kDone;
  }
  install_stop_handlers();
  LaunchReport report;
  std::string last;
  {
    SweepWatch watch(runs, settings);
    report = watch.run();
    last = watch.text(terminal);
  }
  print(last);
  return report.interrupted ? kStopped : watch_code(runs);
}

}  // namespace

std::function<int()> declare_runs_watch(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<WatchCommand>();
  app.add_option("SWEEP", command->sweep, "A sweep's file, and KEY=VALUE as for xlm sweep")->transform(recipe_file);
  app.add_option("--profile", command->profile, "Profile of the file to apply")->type_name("NAME");
  add_where(app, command->where, "All");
  app.add_flag("--once", command->once, "Show the state once and exit (so does --json)");
  app.add_flag("--serve", command->serve, "Serve a page with runs and their curves to a browser on this machine");
  app.add_option("--port", command->port, "Port of that page (default: any free one)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{65535}).description(""))
      ->type_name("N");
  app.footer(
      "Shows runs on any machine: the state comes from their folders, and from their queue if there is one. Without\n"
      "arguments: every experiment with unfinished runs. Watching changes nothing, and Ctrl-C stops only the\n"
      "watching.\n\n"
      "--serve prints the address of a page that follows all runs: filter and sort them, lay curves over each other,\n"
      "save them as a file. Only this machine can connect, and only who knows the address sees anything. To see it\n"
      "from your own machine, forward its port, and open the same address there:\n"
      "  ssh -N -L 8080:127.0.0.1:8080 HOST       after `xlm runs watch --serve --port 8080` on HOST\n\n"
      "Exit code: 0 all runs done (or --once), 1 some failed or diverged, 75 stopped watching.\n\n"
      "Examples:\n  xlm runs watch spans.yaml\n  xlm runs watch --where experiment=spans --once\n"
      "  xlm runs watch --serve\n  xlm runs watch --serve --port 8080 --where status=running");
  return [command, &global] { return watch_runs(*command, global); };
}

}  // namespace xlm
