// Runs as they are now, their workers asked for.
#pragma once

#include <cstdint>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// A run with its true state: running only where a live worker is at it, otherwise stale.
Run read_live_run(const fs::path& folder);

/// Step of the newest checkpoint, or 0.
std::int64_t checkpoint_step(const Run& run);

}  // namespace xlm
