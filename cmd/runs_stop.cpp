// xlm runs stop: asks the workers of runs to save and stop.
#include "cmd/runs_stop.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/launchers/launcher.h"
#include "experiments/launchers/work_list.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/stop_request.h"
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
  Store store = open_store(global);
  RunTable runs(store);
  std::set<std::string> ids;
  for (const std::string& name : names) ids.insert(find_run(runs, name, global));
  if (where.empty()) return ids;
  for (const std::size_t row : newest_first(runs, parse_filters(where))) ids.insert(runs.id(row));
  return ids;
}

void stop_one(const fs::path& folder, Stopped& stopped) {
  const std::string id = folder.filename().string();
  const bool works = has_live_worker(folder);
  if (!works && has_ended(read_live_run(folder).status)) {
    stopped.ended.push_back(id);
    return;
  }
  request_stop(folder);
  (works ? stopped.asked : stopped.waiting).push_back(id);
}

}  // namespace

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
  for (const WorkList& list : finished_lists(global.runs)) cancel_waiting_workers(list.name);
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

}  // namespace xlm
