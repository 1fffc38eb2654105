// Copies and removes the files of a run folder.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// Whether a folder holds a run: a configuration and a journal.
bool is_run_folder(const fs::path& folder);

/// Whether a name is that of a run in a folder of runs: MODEL-DATASET-HASH, with 16 digits, or 8 of earlier programs.
/// Other names may belong to other files there, or be options.
bool is_run_name(const std::string& name);

/// The files of a run, sorted, as paths within its folder. Leaves out temporary ones: locks, requests to stop,
/// unfinished files. Follows links. Throws DataError for a link that leads nowhere or back, and for what is neither a
/// file nor a folder. No file is left out without a message.
std::vector<fs::path> run_files(const fs::path& folder);

/// Whether a file of a model's run, given as above, was added by a user: the program writes none of this name.
bool is_users_file(const fs::path& relative);

/// Whether a run is that of a user's program, as it was submitted. Throws DataError if its environment is damaged.
bool has_program(const fs::path& run);

/// Whether a file of a program's run, given as above, is its output or what it resumes with.
bool is_programs_file(const fs::path& relative);

/// Whether a run folder is a link or contains links. Then it cannot be moved as it is.
bool has_links(const fs::path& folder);

struct CopySettings {
  /// The models and checkpoints of a model's run, which never change, become hard links if the file system has them.
  /// Not for a program's run: a program may write its files again in place.
  bool link = false;
  std::function<bool()> should_stop;  // asked while copying large files
};

/// Copies files of a run, given as above, into an existing folder. They are on the disk afterwards. Returns false if it
/// was told to stop.
bool copy_run_files(const fs::path& from, const std::vector<fs::path>& files, const fs::path& to,
                    const CopySettings& settings);

/// Removes temporary files from an unpacked run folder: the workers that held its locks do not run there.
void remove_temporary_files(const fs::path& folder);

/// Removes the rest of run folders whose removal was killed. Elsewhere than in a folder of runs, only those that
/// `is_name` accepts as names of runs.
void finish_removals(const fs::path& runs, bool (*is_name)(const std::string& name) = nullptr);

/// Removes a run folder, or the link to one. Throws RunLockedError if a worker has the run. Holds the lock and renames
/// the folder first, so a half-removed folder is no run.
void remove_run_folder(const fs::path& folder);

}  // namespace xlm
