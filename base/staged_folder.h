// A folder under construction: made beside its final place under another name, and moved there whole.
#pragma once

#include <string>

#include "base/files.h"

namespace xlm {

/// An empty folder beside `target`, removed with everything in it unless it was moved into place. What is put in it
/// appears at `target` in one step or not at all.
class StagedFolder {
 public:
  /// Makes "PREFIX.NUMBER" (a random one) in the folder of `target`, which is made where it is missing. Throws
  /// DataError or ResourceError when it cannot be made.
  StagedFolder(fs::path target, const std::string& prefix);
  StagedFolder(const StagedFolder&) = delete;
  StagedFolder& operator=(const StagedFolder&) = delete;
  ~StagedFolder();

  const fs::path& path() const { return path_; }

  /// Moves the folder to its place and makes that durable; false when something is there already.
  bool move_into_place() const;

 private:
  fs::path target_;
  fs::path path_;
  int lock_ = -1;  // held as long as this lives, so that others know
};

/// Removes what killed processes left of staged folders of that prefix in a folder. Reads the whole folder: whoever
/// makes many folders in one does so once.
void remove_left_folders(const fs::path& parent, const std::string& prefix);

/// Moves `from` to `to`, which is on the same file system, and makes that durable. An old folder at `to`, or a link to
/// one, is exchanged in one step: it then lies at `from`. Throws DataError or ResourceError.
void replace_folder(const fs::path& from, const fs::path& to);

}  // namespace xlm
