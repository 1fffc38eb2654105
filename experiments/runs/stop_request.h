// A request to stop one run, wherever its worker is: a file in the run folder that the worker looks for.
#pragma once

#include "base/files.h"

namespace xlm {

/// Asks the run's worker to save and stop, and every worker to leave the run alone until it is submitted again.
void request_stop(const fs::path& run_folder);

bool is_stop_requested(const fs::path& run_folder);

/// Takes the request back, where there is one.
void withdraw_stop(const fs::path& run_folder);

}  // namespace xlm
