// The files of a run folder, as they are copied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// Whether a folder holds a run: its configuration and its journal.
bool is_run_folder(const fs::path& folder);

/// The files of a run, as paths within its folder, sorted: all but locks, requests to stop, and what is under
/// construction.
std::vector<fs::path> run_files(const fs::path& folder);

/// The step of a checkpoint, which its name says (step-000000100.safetensors); -1: the file is none.
std::int64_t step_of_checkpoint(const fs::path& file);

/// Copies files of a run, given as above, into an existing folder; they are on the disk afterwards. With `link` models
/// and checkpoints, which nobody changes, become further names of the same files where the file system allows it.
void copy_run_files(const fs::path& from, const std::vector<fs::path>& files, const fs::path& to, bool link);

/// Marks the lock of that token as released, in a folder that was moved while this process held it.
void release_moved_lock(const fs::path& folder, std::int64_t token);

/// Removes what is left of run folders whose removal was killed, in a folder of runs.
void finish_removals(const fs::path& runs);

/// Removes a run folder. It is renamed first, so that what is half removed is no run.
void remove_run_folder(const fs::path& folder);

}  // namespace xlm
