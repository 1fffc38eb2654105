// The checkpoints of a run as files, and the one that another run begins with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/files.h"
#include "core/api/checkpoint_files.h"

namespace xlm {

/// The steps of which a run folder has a checkpoint, rising. A file that has its name is whole. Throws DataError if the
/// folder is there and cannot be read.
std::vector<std::int64_t> checkpoint_steps(const fs::path& run);

/// Whether anything lies in a run's folder for checkpoints, where a program keeps what it resumes with.
bool has_saved_files(const fs::path& run);

/// The file of one of the steps.
fs::path checkpoint_file(const fs::path& run, std::int64_t step);

/// What training had spent up to a checkpoint, counted from the very beginning.
struct SpentBudget {
  double flops = 0;
  double seconds = 0;
};

/// nullopt if the checkpoint does not say it, or is damaged.
std::optional<SpentBudget> spent_up_to(const fs::path& checkpoint);

/// Makes `file`, a checkpoint of `step` of another run, the start of `run`: as a hard link if the file system has them,
/// otherwise as a copy. So the other run may remove it. Throws DataError if it is gone.
void bring_start(const fs::path& file, const fs::path& run);

/// Gives `run` the best weights that `other` had found up to `step`, if it has them.
void bring_best_weights(const fs::path& other, std::int64_t step, const fs::path& run);

/// Copies what a program has saved in its folder for checkpoints, durably. No links: it may change its files.
void copy_checkpoints(const fs::path& from, const fs::path& run);

/// Whether a run folder has what training begins or resumes with.
bool has_start(const fs::path& run);

}  // namespace xlm
