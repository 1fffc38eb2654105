// Sees when a program has written a checkpoint: files of a folder change, and then stay as they are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "base/files.h"

namespace xlm {

class CheckpointWatch {
 public:
  /// What the folder has now is no new checkpoint.
  explicit CheckpointWatch(fs::path folder);

  /// Looks. Returns whether there is a new checkpoint: files have changed since the last one, and not between this look
  /// and the one before. Where they change at every look, each of kMaxChanges counts; `is_ended`: nothing changes any
  /// more. `step` says the step of the program, and is asked behind the look at the files: a program reports a step
  /// before it saves it, so a checkpoint is never given an earlier step than its own.
  bool look(const std::function<std::int64_t()>& step, bool is_ended = false);

  static constexpr int kMaxChanges = 5;

  /// The newest file of the checkpoint, and the step of its last change: another one may have taken its place
  /// meanwhile.
  fs::path file() const;
  std::int64_t step() const { return step_; }

  /// Makes the checkpoint durable: its files that were not yet, and their folders. Throws ResourceError if the disk is
  /// full.
  void sync();

 private:
  struct FileState {
    std::uintmax_t bytes = 0;
    fs::file_time_type time = fs::file_time_type::min();

    bool operator==(const FileState&) const = default;
  };
  using Sight = std::map<fs::path, FileState>;
  static Sight sight_of(const fs::path& folder);

  fs::path folder_;
  Sight last_;
  Sight synced_;  // by this process
  std::int64_t step_ = 0;
  int changes_ = 0;  // looks in a row at which files had changed, since the last checkpoint
};

/// Whether a folder, which need not exist, holds a file at any depth, or behind a link. Throws DataError if it has none
/// that can be seen, and a part of it cannot be read: a disk may be missing.
bool has_files(const fs::path& folder);

}  // namespace xlm
