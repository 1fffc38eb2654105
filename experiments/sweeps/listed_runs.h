// The runs that workers may yet take from lists that other sweeps have left for them.
#pragma once

#include <set>
#include <string>

#include "base/files.h"

namespace xlm {

/// The ids of all runs on the lists of a folder of runs (see experiments/launchers/work_list.h). A damaged list has
/// none.
std::set<std::string> listed_runs(const fs::path& runs);

/// Whether a run that nobody is at work on is left for workers who have it on a list: it is queued, was stopped by
/// somebody else than a user, or its worker is gone. `status` in words, as status_of_source() says it.
bool is_left_for_others(const fs::path& run_folder, const std::string& status, const std::set<std::string>& listed);

}  // namespace xlm
