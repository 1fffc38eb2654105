// A folder under construction: made next to its final place under another name, and moved there whole.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "base/files.h"

namespace xlm {

/// An empty folder next to `target`. It is removed with its content unless it was moved into place. Its content appears
/// at `target` in one step or not at all.
class StagedFolder {
 public:
  /// Makes "PREFIX.NUMBER" (a random number) in the folder of `target`, which is created if it is missing. Throws
  /// DataError or ResourceError if it cannot be made.
  StagedFolder(fs::path target, const std::string& prefix);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  const fs::path& path() const { return path_; }

  /// Moves the folder to its place, durably; returns false if something is there already.
  bool move_into_place() const;

 private:
  fs::path target_;
  fs::path path_;
  Descriptor lock_;  // held while this lives, so that other processes know
};

/// Removes what killed processes left of staged folders with that prefix. It reads the whole folder, so a process that
/// makes many folders calls it once.
void remove_left_folders(const fs::path& parent, const std::string& prefix);

/// Moves `from` to `to` on the same file system, durably. An old folder at `to`, or a link to one, is exchanged in one
/// step and then lies at `from`. Throws DataError or ResourceError.
void replace_folder(const fs::path& from, const fs::path& to);

}  // namespace xlm
