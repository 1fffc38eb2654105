// Runs as they are now, their workers asked for.
#pragma once

#include <cstdint>
#include <optional>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// A run with its true state: running only where a live worker is at it, otherwise stale.
Run read_live_run(const fs::path& folder);

/// Step of the newest checkpoint, or 0.
std::int64_t checkpoint_step(const Run& run);

/// Rows of a batch that the next attempt at a run computes at once: all, or as many as its configuration and the memory
/// that it found allow.
std::int64_t rows_at_once(const Run& run);

/// Half as many or fewer, of which a whole number makes the batch, for a run that ran out of memory. They change
/// nothing but rounding (docs/models.md#micro-batches). Nothing where it computes one at a time already.
std::optional<std::int64_t> fewer_rows(const Run& run);

}  // namespace xlm
