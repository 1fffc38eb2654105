// A prepared folder under construction: one process at a time makes it, next to its final place.
#pragma once

#include "base/files.h"

namespace xlm {

/// Makes ".NAME.preparing" next to `target` and holds ".NAME.lock", so that two processes never make the same folder.
/// Without `commit` it leaves nothing; the next process removes what a killed one left.
class StagingFolder {
 public:
  /// Throws UsageError if another process makes the same folder, DataError or ResourceError if the folder cannot be
  /// made.
  explicit StagingFolder(fs::path target);
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  ~StagingFolder();

  /// Removes what a killed process left next to `target`, unless another process is using it or the folder is
  /// read-only.
  static void remove_left(const fs::path& target);

  const fs::path& path() const { return path_; }

  /// Moves the folder to its place; replaces an old one in one step, and then removes it.
  void commit();

 private:
  bool try_lock();
  void release();

  fs::path target_;
  fs::path path_;
  fs::path lock_file_;
  int lock_ = -1;
};

}  // namespace xlm
