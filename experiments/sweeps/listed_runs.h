// The runs that other sweeps have left on lists for their workers.
#pragma once

#include <set>
#include <string>

#include "base/files.h"
#include "experiments/sweeps/folder_status.h"

namespace xlm {

/// The ids of all runs on the lists of a folder of runs (see experiments/launchers/work_list.h). A damaged list counts
/// as empty.
std::set<std::string> listed_runs(const fs::path& runs);

/// Whether a run without a worker is left for workers that have it on a list. It is if it is queued, if it was stopped
/// but not by a user, or if its worker is gone.
bool is_left_for_others(const fs::path& run_folder, const FolderStatus& status, const std::set<std::string>& listed);

}  // namespace xlm
