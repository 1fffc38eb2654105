// Grows the work list of a search.
#include "experiments/launchers/list_growth.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/yaml.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/sweeps/recipe.h"

namespace xlm {
namespace {

/// The folder to which a configuration's relative paths belong is the current one meanwhile.
class InFolder {
 public:
  explicit InFolder(const fs::path& folder) : before_(fs::current_path()) {
    std::error_code error;
    fs::current_path(folder, error);
    if (error) {
      throw DataError(
          fmt::format("{}: {}; the relative paths of the search belong to it\nmake it visible to this "
                      "machine, or start the sweep from a folder that is",
                      folder.string(), error.message()));
    }
  }
  ~InFolder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;

 private:
  fs::path before_;
};

/// Submits what no worker has submitted yet, and leaves requests to stop as they are.
void submit_new_runs(const WorkList& list) {
  WorkList fresh{.name = list.name, .runs = list.runs, .items = {}};
  for (const SweepRun& run : list.items) {
    if (run.status.is_absent()) fresh.items.push_back(run);
  }
  submit_runs(fresh);
  if (list.from_file) write_work_list(list);
}

bool has_work_left(const SweepRun& run) { return run.is_open() && !is_stop_requested(run.planned.paths.folder); }

bool is_stopped(const LaunchSettings& settings) {
  const bool stops = settings.should_stop && settings.should_stop();
  return stops || (settings.enough_time && !settings.enough_time(0));
}

/// The state of all runs that are left, as text.
std::string states_of(const WorkList& list) {
  std::string states;
  for (SweepRun run : list.items) {
    if (!has_work_left(run)) continue;
    look_at(run, false);
    states += fmt::format("{} {} {}\n", run.id(), name_of(run.status), has_live_worker(run.planned.paths.folder));
  }
  return states;
}

/// Waits while others work, until the states are not those of `before`: only then is it worth asking again.
void wait_for_change(const WorkList& list, const std::string& before, const LaunchSettings& settings) {
  do {
    settings.sleep(settings.elsewhere_seconds);
  } while (!is_stopped(settings) && states_of(list) == before);
}

}  // namespace

std::vector<SweepRun> grown_runs(const WorkList& list) {
  if (list.from_file && list.growth->mark != own_mark(list.growth->text()) && !are_trusted(list.runs)) {
    throw DataError(
        fmt::format("the search in {} is not what you submitted: no runs of it are planned\n"
                    "run the sweep's own file, or trust what others put there: --trust {}",
                    list.file().string(), list.runs.string()));
  }
  const InFolder folder(list.growth->folder);
  const Recipe recipe = recipe_of(parse_yaml(list.growth->configuration, list.growth->source));
  std::vector<SweepRun> runs = plan_sweep(recipe, list.runs, false, {.counts_failed = true, .records = true});
  for (SweepRun& run : runs) {
    if (run.action != SweepAction::kRun || run.status != RunStatus::kFailed) continue;
    run.action = SweepAction::kLeave;  // only a new command tries it again
    run.reason = "failed; only a new command tries it again";
  }
  return runs;
}

Growth grow(WorkList& list, const LaunchSettings& settings, const std::set<std::string>& given_up) {
  if (!list.growth) return Growth::kDone;
  for (;;) {
    if (is_stopped(settings)) return Growth::kStopped;
    const std::string before = states_of(list);  // what changes while it asks counts as a change
    std::vector<SweepRun> runs = grown_runs(list);
    const bool has_grown = runs.size() > list.items.size();
    list.items = std::move(runs);
    if (has_grown) {
      submit_new_runs(list);
      return Growth::kWork;
    }
    bool others_work = false;
    bool is_left = false;
    for (const SweepRun& run : list.items) {
      if (!has_work_left(run) || given_up.contains(run.id())) continue;
      const bool has_worker = has_live_worker(run.planned.paths.folder);
      others_work = others_work || has_worker;
      is_left = is_left || (!has_worker && run.status != RunStatus::kFailed);
    }
    if (settings.attended || (!others_work && !is_left)) return Growth::kDone;
    if (!is_left) {
      wait_for_change(list, before, settings);
      continue;
    }
    settings.sleep(settings.elsewhere_seconds);
    return Growth::kWork;
  }
}

}  // namespace xlm
