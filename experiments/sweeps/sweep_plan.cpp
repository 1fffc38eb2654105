// Plans what a sweep still has to do.
#include "experiments/sweeps/sweep_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_lock.h"
#include "experiments/sweeps/folder_status.h"
#include "experiments/sweeps/point_source.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/search_rounds.h"

namespace xlm {
namespace {

std::string setting_of(const SweepPoint& point) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : point) {
    if (key != "seed") parts.push_back(key + "=" + to_json(value).dump());
  }
  return join(parts, " ");
}

std::string next_start(const Run& run, bool resumes) {
  const std::int64_t checkpoint = checkpoint_step(run);
  if (checkpoint > 0) return "resumes from " + checkpoint_words(checkpoint, is_of_program(run));
  return resumes ? "resumes from a checkpoint of unknown step" : "starts from the beginning";
}

/// A run that is done may lack evaluations.
void look_at_evaluations(SweepRun& planned, const Run& run) {
  planned.action = SweepAction::kSkip;
  planned.reason = is_warning(run.reason) ? "done already; " + run.reason : "done already";
  planned.evaluations_left = missing_evaluations(run, planned.evaluations).size();
  if (planned.evaluations_left == 0) return;
  const bool elsewhere = has_live_worker(run.folder);
  planned.action = elsewhere ? SweepAction::kWait : SweepAction::kRun;
  planned.reason =
      fmt::format("done, {} of {} {}", planned.evaluations_left, counted(planned.evaluations.size(), "evaluation"),
                  elsewhere ? "being made elsewhere" : "missing");
}

/// Why a run outside the sweep cannot be begun from.
std::string why_not_coming(const FolderStatus& status) {
  if (status.is_absent()) return "no other sweep has queued it";
  return status == RunStatus::kDone ? "its model is missing" : fmt::format("its status is {}", name_of(status));
}

/// Plans points of a sweep with the runs that they begin from.
class PointPlanner {
 public:
  PointPlanner(const fs::path& runs, const ChooseValue& choose) : planner_(runs), runs_(runs), choose_(choose) {}

  PlannedRun plan(Yaml configuration) {
    const std::optional<Yaml> source = source_of_point(configuration);
    std::vector<RecordedChoice> choices = choose_values(configuration, choose_);
    PlannedRun run = source ? plan_from(plan(*source), configuration)
                            : planner_.plan(read_run_options(configuration), ModelTense::kFuture);
    run.choices = std::move(choices);
    return run;
  }

  /// A run that others begin from, but that is not of the sweep, must have a model or be on its way to one.
  void check_sources(const std::set<std::string>& sweep) const {
    std::optional<std::set<std::string>> listed;
    for (const auto& [id, where] : sources_) {
      if (sweep.contains(id) || fs::is_directory(RunPaths{runs_ / id}.model())) continue;
      const FolderStatus status = status_of_folder(runs_ / id);
      if (status == RunStatus::kQueued || status == RunStatus::kRunning) continue;
      if (!listed) listed = listed_runs(runs_);
      if (is_left_for_others(runs_ / id, status, *listed)) continue;
      throw UsageError(
          fmt::format("{}: model.init_from asks for a run outside this sweep: {}: {}\n"
                      "add it to the sweep's points, or name an existing run or model",
                      where, id, why_not_coming(status)));
    }
  }

 private:
  PlannedRun plan_from(const PlannedRun& from, const Yaml& configuration) {
    sources_.emplace(from.id(), find_path(configuration, "model.init_from")->where());
    return planner_.plan_after(from, read_run_options(with_source_as_text(configuration)));
  }

  Planner planner_;
  fs::path runs_;
  const ChooseValue& choose_;
  std::map<std::string, std::string> sources_;  // their ids, and where the file asks for them
};

/// The point with what was chosen for it.
SweepPoint with_choices(SweepPoint point, const std::vector<RecordedChoice>& choices) {
  for (auto& [key, value] : point) {
    for (const RecordedChoice& choice : choices) {
      if (choice.key == key && is_best_of(value)) value = yaml_from_json(choice.value, value.where());
    }
  }
  return point;
}

fs::path source_folder(const SweepRun& run) { return run.planned.paths.folder.parent_path() / run.source; }

}  // namespace

SourceState source_state(const SweepRun& run) {
  if (run.source.empty()) return SourceState::kReady;
  const fs::path folder = source_folder(run);
  try {
    const RunStatus status = read_live_run(folder).status;
    if (status == RunStatus::kDone) return SourceState::kReady;
    if (has_ended(status)) return SourceState::kLost;
    if (status == RunStatus::kRunning || has_live_worker(folder)) return SourceState::kComing;
  } catch (const Error&) {
    // The folder is missing or damaged: no reason to give the run up.
  }
  return SourceState::kWaiting;
}

FolderStatus status_of_source(const SweepRun& run) { return status_of_folder(source_folder(run)); }

void shuffle_runs(std::vector<SweepRun>& runs) {
  // A run's id ends with a hash of its content.
  const auto hash = [](const SweepRun& run) { return run.id().substr(run.id().rfind('-') + 1); };
  std::ranges::sort(runs, [&](const SweepRun& a, const SweepRun& b) { return hash(a) < hash(b); });
}

namespace {

void look_at_folder(SweepRun& planned, bool retry) {
  const fs::path& folder = planned.planned.paths.folder;
  planned.action = SweepAction::kRun;
  planned.evaluations_left = planned.evaluations.size();
  if (!fs::exists(folder)) {
    planned.status = {};
    planned.reason =
        planned.evaluations.empty() ? "new" : "new, then " + counted(planned.evaluations.size(), "evaluation");
    return;
  }
  Run run;
  try {
    run = read_live_run(folder);
  } catch (const DataError&) {  // a damaged folder must not stop the whole sweep
    planned.status = {.recorded = {}, .is_damaged = true};
    planned.reason = "its config.yaml is missing or damaged and will be written again";
    return;
  }
  planned.status = {.recorded = run.status};
  planned.checkpoint = checkpoint_step(run);
  planned.resumes = planned.checkpoint > 0 || has_unseen_checkpoint(run);
  const std::string next = next_start(run, planned.resumes);
  switch (run.status) {
    case RunStatus::kDone:
      look_at_evaluations(planned, run);
      break;
    case RunStatus::kRunning:
      planned.action = SweepAction::kWait;
      planned.reason =
          fmt::format("running elsewhere (process {} on {})", run.history.back().pid, run.history.back().host);
      break;
    case RunStatus::kDiverged:
      planned.action = retry ? SweepAction::kRun : SweepAction::kLeave;
      planned.reason = retry ? fmt::format("diverged before; {}", next)
                             : fmt::format("diverged, --retry tries it again: {}", first_line(run.reason));
      break;
    case RunStatus::kFailed:
      planned.reason = fmt::format("failed before, {}: {}", next, first_line(run.reason));
      break;
    case RunStatus::kStale:
      planned.reason = fmt::format("its worker is gone, {}", next);
      break;
    case RunStatus::kPreempted:
      planned.reason = fmt::format("preempted, {}", next);
      break;
    case RunStatus::kPruned:
      planned.reason = fmt::format("was pruned, {}", next);
      break;
    case RunStatus::kQueued:
      planned.reason = "queued, not started yet";
      break;
  }
}

}  // namespace

void look_at(SweepRun& planned, bool retry) {
  look_at_folder(planned, retry);
  if (planned.action != SweepAction::kRun || planned.status == RunStatus::kDone) return;
  const SourceState source = source_state(planned);
  if (source == SourceState::kReady) return;
  planned.reason += fmt::format(", once {} is done", planned.source);
  if (source != SourceState::kLost) return;
  planned.reason += fmt::format(", which is {}", name_of(status_of_source(planned)));
}

namespace {

/// Workers plan the later runs of a search by themselves, and could find another winner.
void check_no_choices(const std::vector<SweepRun>& runs) {
  const bool any = std::ranges::any_of(runs, [](const auto& run) { return !run.planned.choices.empty(); });
  if (!any) return;
  throw UsageError(
      "sweep.search cannot be used with best_of: the winner could change while the search goes on\n"
      "give the value itself, or sweep it with `grid`");
}

}  // namespace

std::vector<SweepRun> plan_sweep(const Recipe& recipe, const fs::path& runs, bool retry,
                                 const SweepPlanning& planning) {
  PointPlanner planner(runs, planning.choose);
  SweepEvaluations evaluations(recipe.evaluations);
  std::vector<SweepRun> result;
  std::map<std::string, std::size_t> places;
  SearchRecord record(runs);
  const auto add = [&](const SweepPoint& point) {
    SweepRun run{.point = point, .planned = planner.plan(at_point(recipe.run, point))};
    const auto [place, is_new] = places.emplace(run.id(), result.size());
    if (!is_new) return place->second;
    run.source = run.planned.source_id();
    if (recipe.early_stopping) check_rungs(*recipe.early_stopping, run.planned.options);
    run.evaluations = evaluations.of(run.planned);
    run.point = with_choices(std::move(run.point), run.planned.choices);
    run.setting = setting_of(run.point);
    look_at(run, retry);
    result.push_back(std::move(run));
    return place->second;
  };
  if (recipe.search) {
    plan_rounds(*recipe.search, planning.counts_failed, record, result, add);
    check_no_choices(result);
  } else {
    for (const SweepPoint& point : recipe.points) add(point);
    evaluations.check_conditions();
  }
  std::set<std::string> seen;
  for (const SweepRun& run : result) seen.insert(run.id());
  planner.check_sources(seen);
  const bool any_begins = std::ranges::any_of(result, [](const auto& run) { return !run.source.empty(); });
  if (recipe.early_stopping && any_begins) {
    throw UsageError(
        "sweep.early_stopping cannot be used with runs that begin from runs: a run at a rung has no model\n"
        "use two sweeps: the first with early_stopping, the second beginning from its best run");
  }
  if (recipe.early_stopping) leave_pruned(*recipe.early_stopping, result, !planning.counts_failed);
  if (planning.records && !record.write()) return plan_sweep(recipe, runs, retry, planning);
  return result;
}

std::vector<std::string> choices_in_words(const std::vector<SweepRun>& runs) {
  std::vector<std::string> lines;
  for (const SweepRun& run : runs) {
    for (const RecordedChoice& choice : run.planned.choices) {
      const std::string from =
          choice.runs.empty()
              ? fmt::format("the fallback: no run of {} has chosen it", choice.file)
              : fmt::format("the best of {} by {} ({})", choice.file, choice.by, join(choice.runs, ", "));
      std::string line = fmt::format("{} is {}, {}", choice.key, choice.value.dump(), from);
      if (!contains(lines, line)) lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string shown_value(const SweepPoint& point, const std::string& key) {
  const Yaml* value = value_at(point, key);
  if (value == nullptr) return "";
  return value->is_map() ? to_json(*value).dump() : std::string(trim(to_text(*value)));
}

std::vector<std::string> swept_keys(const std::vector<SweepRun>& runs) {
  std::vector<std::string> keys;
  for (const SweepRun& run : runs) {
    for (const auto& [key, value] : run.point) {
      if (!contains(keys, key)) keys.push_back(key);
    }
  }
  return keys;
}

std::vector<std::string> varied_keys(const std::vector<SweepRun>& runs) {
  std::vector<std::string> keys = swept_keys(runs);
  std::erase_if(keys, [&](const std::string& key) {
    return runs.size() > 1 && std::ranges::all_of(runs, [&](const SweepRun& run) {
             return shown_value(run.point, key) == shown_value(runs.front().point, key);
           });
  });
  return keys;
}

std::string short_title(const std::string& key, const std::vector<std::string>& keys) {
  const auto last = [](const std::string& k) { return k.substr(k.rfind('.') + 1); };  // npos + 1 is 0
  const auto same = [&](const std::string& other) { return last(other) == last(key); };
  return std::ranges::count_if(keys, same) == 1 ? last(key) : key;
}

}  // namespace xlm
