// xlm runs stop: asks the workers of runs to save and stop.
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "cmd/results_store.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/work_list.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "results/run_folder/imported.h"
#include "results/store/run_list.h"

namespace xlm {
namespace {

struct Stopped {
  std::vector<std::string> asked;    // running
  std::vector<std::string> waiting;  // will not start
  std::vector<std::string> ended;    // ended before
};

std::set<std::string> selected(const std::vector<std::string>& names, const std::vector<std::string>& where,
                               const GlobalOptions& global) {
  RunTable runs = open_runs(global);
  std::set<std::string> ids;
  for (const std::string& name : names) ids.insert(find_run(runs, name, global));
  if (where.empty()) return ids;
  for (const std::size_t row : newest_first(runs, parse_filters(where))) ids.insert(runs.id(row));
  return ids;
}

void stop_one(const fs::path& folder, Stopped& stopped) {
  const std::string id = folder.filename().string();
  const bool works = has_live_worker(folder);
  const Run run = read_live_run(folder);
  if (!works && (has_ended(run.status) || run.param(kImportedSource) != nullptr)) {
    stopped.ended.push_back(id);
    return;
  }
  request_stop(folder);
  (works ? stopped.asked : stopped.waiting).push_back(id);
}

/// Stops the named runs and those that meet all of `where`. One of the two may be empty, not both.
int stop_runs(const std::vector<std::string>& names, const std::vector<std::string>& where,
              const GlobalOptions& global) {
  if (names.empty() && where.empty()) {
    throw UsageError(
        "which runs to stop? name them, or select them with --where experiment=NAME\n"
        "run 'xlm runs stop --help' for examples");
  }
  Stopped stopped;
  for (const std::string& id : selected(names, where, global)) {
    if (fs::exists(global.runs / id)) stop_one(global.runs / id, stopped);
  }
  for (const WorkList& list : finished_lists(global.runs)) cancel_waiting_workers(list.runs, list.name);
  if (global.json) {
    print(json_text({{"asked", stopped.asked}, {"waiting", stopped.waiting}, {"ended", stopped.ended}}));
    return kDone;
  }
  for (const std::string& id : stopped.asked) print(fmt::format("{}: asked to save and stop\n", id));
  for (const std::string& id : stopped.waiting) print(fmt::format("{}: will not start\n", id));
  for (const std::string& id : stopped.ended) print(fmt::format("{}: has ended already\n", id));
  if (stopped.asked.empty() && stopped.waiting.empty()) say("there is no run to stop\n");
  return kDone;
}

}  // namespace

std::function<int()> declare_runs_stop(CLI::App& app, const GlobalOptions& global) {
  struct StopOptions {
    std::vector<std::string> runs;
    std::vector<std::string> where;
  };
  const auto options = std::make_shared<StopOptions>();
  app.add_option("RUN", options->runs, kRunNames);
  add_where(app, options->where, "All");
  app.footer(
      "A running run stops at its next step, with a checkpoint; a waiting run does not start.\n"
      "Both resume when they are submitted again (xlm sweep, xlm train).\n\n"
      "Examples:\n  xlm runs stop adaptive-span-text8-3fa9c1d240b7e115\n"
      "  xlm runs stop --where experiment=spans --where model.span=8192");
  return [options, &global] { return stop_runs(options->runs, options->where, global); };
}

}  // namespace xlm
