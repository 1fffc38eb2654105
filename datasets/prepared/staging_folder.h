// A prepared folder under construction: one process at a time makes it, beside its final place.
#pragma once

#include "base/files.h"

namespace xlm {

/// Makes ".NAME.preparing" beside `target` and holds ".NAME.lock", so that two processes never make the same folder.
/// Destroyed without `commit`, it leaves nothing; what a killed process left is removed by the next.
class StagingFolder {
 public:
  /// Throws UsageError when another process is at work on the same folder, DataError or ResourceError when the folder
  /// cannot be made.
  explicit StagingFolder(fs::path target);
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  ~StagingFolder();

  /// Removes what a killed process left beside `target`, unless somebody is at work there or nobody may write.
  static void remove_left(const fs::path& target);

  const fs::path& path() const { return path_; }

  /// Moves the folder to its place; an old one there is replaced in one step, and removed afterwards.
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
