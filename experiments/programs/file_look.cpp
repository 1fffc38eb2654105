// Looking at a growing file.
#include "experiments/programs/file_look.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

namespace xlm {

FileLook::FileLook(fs::path path) : path_(std::move(path)) {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) return;
  descriptor_.reset(open_regular(path_, O_RDONLY, "read"));
  if (::fstat(descriptor_.get(), &status) != 0) throw_file_error("read", path_, errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
  mark_ =
      fmt::format("{} {} {} {} {}", status.st_dev, status.st_ino, size_, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string FileLook::read(std::uint64_t offset, std::size_t bytes) const {
  std::string content(bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t count =
        ::pread(descriptor_.get(), content.data() + filled, bytes - filled, static_cast<off_t>(offset + filled));
    if (count == 0) break;
    if (count > 0) filled += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) throw_file_error("read", path_, errno);
  }
  content.resize(filled);
  return content;
}

}  // namespace xlm
