// A request to stop one run, whatever machine its worker is on: a file in the run folder that the worker looks for.
#pragma once

#include "base/files.h"

namespace xlm {

/// Asks the run's worker to save and stop. No worker takes the run until it is submitted again.
void request_stop(const fs::path& run_folder);

bool is_stop_requested(const fs::path& run_folder);

/// Removes the request if there is one.
void withdraw_stop(const fs::path& run_folder);

}  // namespace xlm
