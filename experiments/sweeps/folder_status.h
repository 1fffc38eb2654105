// The status of a run's folder, which may be missing, damaged, or left to the workers of another sweep's list.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/files.h"
#include "experiments/sweeps/folder_status.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

struct FolderStatus {
  std::optional<RunStatus> recorded;  // in the journal; none: there is no folder, or it is damaged
  bool is_damaged = false;

  bool is_absent() const { return !recorded && !is_damaged; }
  bool operator==(RunStatus status) const { return recorded == status; }
  bool operator==(const FolderStatus&) const = default;
};

/// Reads it, with the state of the run's worker.
FolderStatus status_of_folder(const fs::path& folder);

/// The status as a word; a run without a folder is "new".
std::string_view name_of(const FolderStatus& status);

/// The ids of all runs on the lists of a folder of runs (see experiments/launchers/work_list.h). A damaged list counts
/// as empty.
std::set<std::string> listed_runs(const fs::path& runs);

/// Whether a run without a worker is left for workers that have it on a list. It is if it is queued, if it was stopped
/// but not by a user, or if its worker is gone.
bool is_left_for_others(const fs::path& run_folder, const FolderStatus& status, const std::set<std::string>& listed);

}  // namespace xlm
