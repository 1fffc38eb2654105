// The status of a run's folder.
#include "experiments/sweeps/folder_status.h"

#include "base/error.h"
#include "base/json.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/stop_request.h"

namespace xlm {

FolderStatus status_of_folder(const fs::path& folder) {
  if (!fs::exists(folder)) return {};
  try {
    return {.recorded = read_live_run(folder).status};
  } catch (const Error&) {
    return {.recorded = {}, .is_damaged = true};
  }
}

std::string_view name_of(const FolderStatus& status) {
  if (status.recorded) return name_of(*status.recorded);
  return status.is_damaged ? "damaged" : "new";
}

std::set<std::string> listed_runs(const fs::path& runs) {
  std::set<std::string> ids;
  for (const fs::directory_entry& entry : entries_in(runs / ".workers")) {
    const fs::path file = entry.path() / "work.json";
    if (!fs::exists(file)) continue;
    try {
      const Json list = read_json(file);
      for (const Json& run : list.at("runs")) ids.insert(run.at("id").get<std::string>());
    } catch (const DataError&) {
      // The workers that read the list report it.
    } catch (const Json::exception&) {
      // As above.
    }
  }
  return ids;
}

bool is_left_for_others(const fs::path& run_folder, const FolderStatus& status, const std::set<std::string>& listed) {
  const bool unfinished =
      status == RunStatus::kQueued || status == RunStatus::kPreempted || status == RunStatus::kStale;
  return unfinished && !is_stop_requested(run_folder) && listed.contains(run_folder.filename().string());
}

}  // namespace xlm
