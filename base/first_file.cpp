// Writes a file unless another process was first.
#include "base/first_file.h"

#include <unistd.h>

#include <cerrno>
#include <random>

#include <fmt/format.h>

namespace xlm {

bool write_first(const fs::path& path, std::string_view content) {
  if (fs::exists(path)) return false;
  std::random_device random;
  // The name of an unfinished file (see is_unfinished_name), which others remove after a kill.
  const fs::path own = folder_of(path) / fmt::format(".{}.{:08x}", path.filename().string(), random());
  write_file(own, content);
  // Unlike a rename, a link never replaces a file. Over NFS too, only one of several succeeds.
  int error_number = ::link(own.c_str(), path.c_str()) == 0 ? 0 : errno;
  if ((error_number == EPERM || error_number == EOPNOTSUPP) && !fs::exists(path)) {  // a file system without links
    error_number = ::rename(own.c_str(), path.c_str()) == 0 ? 0 : errno;
  }
  ::unlink(own.c_str());
  if (error_number == EEXIST || error_number == EPERM || error_number == EOPNOTSUPP) return false;
  if (error_number != 0) throw_file_error("write", path, error_number);
  sync_folder(folder_of(path));
  return true;
}

}  // namespace xlm
