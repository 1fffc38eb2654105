// The id by which the processes of a run join. A process that knows it can join, too, so it travels through a file that
// only this user can read and write.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/api/interface.h"

namespace xlm {

/// The file of the first process. It is removed with this object.
class GroupIdFile {
 public:
  /// Creates the file in a folder where the processes meet. Throws Error if anything has its name already.
  GroupIdFile(const fs::path& meeting, std::string_view id);
  GroupIdFile(const GroupIdFile&) = delete;
  GroupIdFile& operator=(const GroupIdFile&) = delete;
  ~GroupIdFile();

 private:
  fs::path path_;
};

/// The id, of so many bytes, that the first process has left. Waits for it. Throws LostProcessError if it does not come
/// within `patience`, if another process has ended, or if all are to stop; Error for a file that others may have
/// written.
std::string await_group_id(const Processes& self, std::size_t bytes);

}  // namespace xlm
