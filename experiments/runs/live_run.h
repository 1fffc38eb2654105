// Runs with their current state. It depends on whether their workers are alive.
#pragma once

#include <cstdint>
#include <optional>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// Reads a run with its current state. A started run without a live worker is stale, not running.
Run read_live_run(const fs::path& folder);

/// Throws DataError if the run was imported: it can neither be resumed nor sampled from.
void refuse_imported(const Run& run);

/// Step of the newest checkpoint, or 0.
std::int64_t checkpoint_step(const Run& run);

/// Whether a program has left a checkpoint that no worker saw: it was killed together with its worker.
bool has_unseen_checkpoint(const Run& run);

/// Rows of a batch that an attempt at the run computes at once at most. The configuration and the memory found so far
/// limit them, and so does what the attempt has `chosen` itself; 0: nothing.
std::int64_t rows_at_once(const Run& run, std::int64_t chosen = 0);

/// For a run that ran out of memory: at most half of rows_at_once, and a divisor of the batch. Only rounding changes
/// (docs/models.md#micro-batches). Returns nullopt if the attempt computed one row at a time.
std::optional<std::int64_t> fewer_rows(const Run& run, std::int64_t chosen = 0);

}  // namespace xlm
