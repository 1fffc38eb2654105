// The files of a run folder, as they are copied.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// Whether a folder holds a run: its configuration and its journal.
bool is_run_folder(const fs::path& folder);

/// Whether a folder of runs may have a run of this name, as ids are: MODEL-DATASET-HASH, with 16 digits or, of earlier
/// programs, 8. Any other name could be that of something else there, or an option.
bool is_run_name(const std::string& name);

/// The files of a run, as paths within its folder, sorted: all but those of the moment (locks, requests to stop, what
/// is under construction). Links are followed. Throws DataError for one that leads nowhere or back, and for what is
/// neither a file nor a folder: nothing is left out without a word.
std::vector<fs::path> run_files(const fs::path& folder);

/// Whether a file of a run, given as above, is none that the program writes: its user keeps it there.
bool is_users_file(const fs::path& relative);

/// Whether a run folder is a link or holds one: then it cannot be moved as it is.
bool has_links(const fs::path& folder);

/// The step of a checkpoint, which its name says (step-000000100.safetensors); -1: the file is none.
std::int64_t step_of_checkpoint(const fs::path& file);

struct CopySettings {
  bool link = false;                  // models and checkpoints, which nobody changes, become further names of the same
                                      // files where the file system allows it
  std::function<bool()> should_stop;  // asked within large files
};

/// Copies files of a run, given as above, into an existing folder; they are on the disk afterwards. False where it was
/// told to stop.
bool copy_run_files(const fs::path& from, const std::vector<fs::path>& files, const fs::path& to,
                    const CopySettings& settings);

/// Marks the lock of that token as released, in a folder that was moved while this process held it.
void release_moved_lock(const fs::path& folder, std::int64_t token);

/// Removes what is of the moment from an unpacked run folder: no worker that held its locks runs there.
void remove_files_of_the_moment(const fs::path& folder);

/// Removes what is left of run folders whose removal was killed, in a folder of runs; elsewhere only where `is_name`
/// says that a run may have been called so.
void finish_removals(const fs::path& runs, bool (*is_name)(const std::string& name) = nullptr);

/// Removes a run folder; of a link to one the link. It is renamed first, so that what is half removed is no run, and
/// its lock is held until then: throws RunLockedError where a worker has it.
void remove_run_folder(const fs::path& folder);

}  // namespace xlm
