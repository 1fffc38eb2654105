// Reads and writes the runs of a sweep as a list.
#include "experiments/launchers/work_list.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/submission.h"
#include "experiments/runs/wanted_evaluations.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr std::size_t kNameDigits = 8;

Json entry_of(const SweepRun& run) {
  const RunOptions& options = run.planned.options;
  Json entry = {{"id", run.id()}, {"device", options.device}, {"steps", options.train.steps}};
  if (options.train.processes > 1) entry["processes"] = options.train.processes;
  if (!run.setting.empty()) entry["setting"] = run.setting;
  if (!run.source.empty()) entry["source"] = run.source;
  if (run.round > 0) entry["round"] = run.round;
  if (run.trial > 0) entry["trial"] = run.trial;
  return entry;
}

SweepRun item_of(const Json& entry, const fs::path& runs) {
  const std::string id = entry.at("id").get<std::string>();
  if (id.empty() || id.find('/') != std::string::npos) throw Json::other_error::create(501, "no run id", &entry);
  SweepRun run;
  run.planned.paths.folder = runs / id;
  run.planned.options.device = entry.at("device").get<std::string>();
  run.planned.options.train.steps = entry.at("steps").get<std::int64_t>();
  run.planned.options.train.processes = entry.value("processes", std::int64_t{1});
  run.setting = entry.value("setting", "");
  run.source = entry.value("source", "");
  run.round = entry.value("round", std::int64_t{0});
  run.trial = entry.value("trial", std::int64_t{0});
  return run;
}

bool is_to_be_tried_again(const SweepRun& run) {
  return run.action == SweepAction::kRun && (run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged);
}

/// Queues a run again if it failed. Holds its lock, so that no worker begins it meanwhile.
void queue_again(const SweepRun& run) {
  const fs::path& folder = run.planned.paths.folder;
  try {
    const RunLock lock(folder);
    if (read_run(folder).status == RunStatus::kDone) return;
    Journal(run.planned.paths.journal(), nullptr, lock.token()).append("state", {{"state", "queued"}}, true);
  } catch (const RunLockedError&) {
    // A worker has taken it.
  }
}

bool is_asked_to_stop(const SweepRun& run) { return is_stop_requested(run.planned.paths.folder); }

bool is_left_to_take(const SweepRun& run) {
  if (is_asked_to_stop(run)) return false;
  SweepRun now = run;
  look_at(now, false);
  return now.action == SweepAction::kRun && now.status != RunStatus::kFailed && now.status != RunStatus::kPruned;
}

}  // namespace

WorkList make_work_list(const std::string& experiment, const fs::path& runs, std::vector<SweepRun> items) {
  const fs::path absolute = fs::absolute(runs).lexically_normal();
  Sha256 hash;
  hash.update(absolute.string());
  for (const SweepRun& run : items) {
    if (run.round <= 1) hash.update("\n" + run.id());
  }
  const std::string name = name_from_title(experiment);
  return {.name = fmt::format("{}-{}", name.empty() ? "sweep" : name, hash.finish().substr(0, kNameDigits)),
          .runs = absolute,
          .items = std::move(items)};
}

void write_work_list(const WorkList& list) {
  Json runs = Json::array();
  for (const SweepRun& run : list.items) runs.push_back(entry_of(run));
  create_folders(list.folder());
  Json content = {{"cores", list.cores}, {"anyway", list.anyway}, {"runs", std::move(runs)}};
  if (list.runs_per_gpu > 0) content["runs_per_gpu"] = list.runs_per_gpu;
  if (list.early_stopping) {
    const EarlyStopping& rule = *list.early_stopping;
    content["early_stopping"] = {{"measure", rule.measure}, {"rungs", rule.rungs}, {"keep", rule.keep}};
    if (rule.higher) content["early_stopping"]["higher"] = true;
  }
  if (list.growth) {
    const ListGrowth& growth = *list.growth;
    content["growth"] = {
        {"configuration", growth.configuration}, {"source", growth.source}, {"folder", growth.folder.string()}};
    content["growth"]["mark"] = own_mark(growth.text());
  }
  write_file(list.file(), json_text(content));
}

WorkList read_work_list(const fs::path& file) {
  const Json content = read_json(file);
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  WorkList list{
      .name = folder.filename().string(), .runs = folder.parent_path().parent_path(), .items = {}, .from_file = true};
  try {
    list.cores = content.at("cores").get<std::int64_t>();
    list.anyway = content.at("anyway").get<bool>();
    list.runs_per_gpu = content.value("runs_per_gpu", std::int64_t{0});
    if (content.contains("early_stopping")) {
      const Json& rule = content["early_stopping"];
      list.early_stopping =
          EarlyStopping{rule.at("measure").get<std::string>(), rule.at("rungs").get<std::vector<std::int64_t>>(),
                        rule.at("keep").get<double>(), rule.value("higher", false)};
    }
    if (content.contains("growth")) {
      const Json& growth = content["growth"];
      list.growth = ListGrowth{growth.at("configuration").get<std::string>(), growth.at("source").get<std::string>(),
                               growth.at("folder").get<std::string>(), growth.value("mark", "")};
    }
    for (const Json& entry : content.at("runs")) list.items.push_back(item_of(entry, list.runs));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is no list of runs: {}\nto write one: xlm sweep FILE --launcher manual",
                                file.string(), reason_of(error)));
  }
  return list;
}

void submit_runs(const WorkList& list) {
  remove_unfinished_submissions(list.runs);
  for (const SweepRun& run : list.items) {
    submit(run.planned);
    want(run.planned.paths, run.evaluations);
  }
}

void queue_failed_runs(const WorkList& list) {
  for (const SweepRun& run : list.items) {
    if (is_to_be_tried_again(run)) queue_again(run);
  }
}

std::vector<WorkList> work_lists(const fs::path& runs) {
  std::vector<WorkList> lists;
  for (const fs::directory_entry& entry : entries_in(runs / ".workers")) {
    const fs::path file = entry.path() / "work.json";
    if (!fs::exists(file)) continue;
    try {
      lists.push_back(read_work_list(file));
    } catch (const DataError&) {
      // A damaged list counts as absent; the workers that read it report it.
    }
  }
  return lists;
}

std::vector<WorkList> finished_lists(const fs::path& runs) {
  std::vector<WorkList> lists = work_lists(runs);
  std::erase_if(lists, [](const WorkList& list) {
    const bool is_left = std::ranges::any_of(list.items, is_left_to_take);
    const bool grows = list.growth && std::ranges::none_of(list.items, is_asked_to_stop);
    return is_left || grows;  // a list that grows ends by its workers, or where a user stops one of its runs
  });
  return lists;
}

}  // namespace xlm
