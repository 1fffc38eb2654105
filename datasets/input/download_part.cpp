// The received part of a file that is fetched.
#include "datasets/input/download_part.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file_lock.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxTagBytes = 1000;

fs::path sibling(const fs::path& target, std::string_view ending) {
  return target.parent_path() / fmt::format(".{}.{}", target.filename().string(), ending);
}

/// Opens a file by its own name only: another user may own the target of a link.
Descriptor open_own(const fs::path& path, int flags) {
  Descriptor descriptor(::open(path.c_str(), flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kNewFileMode));
  if (!descriptor.is_open() && errno != ELOOP && errno != ENXIO) throw_file_error("create", path, errno);
  struct stat status {};
  if (descriptor.is_open() && ::fstat(descriptor.get(), &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_nlink <= 1) {
    return descriptor;
  }
  throw DataError(fmt::format("{} is a link or not a file, and is not written to\nremove it: rm {}", path.string(),
                              shell_word(path.string())));
}

}  // namespace

PartFile::PartFile(const fs::path& target) : path_(path_of(target)), tag_file_(sibling(target, "tag")) {
  do {
    descriptor_ = open_own(path_, O_RDWR);
    if (try_lock_file(descriptor_.get()) != LockResult::kHeld) {
      throw UsageError(fmt::format("another process is fetching {}\nwait until it has finished", target.string()));
    }
  } while (status().st_nlink == 0);  // the process that held it has just removed it
}

fs::path PartFile::path_of(const fs::path& target) { return sibling(target, "part"); }

std::uint64_t PartFile::size() const { return removed_ ? 0 : static_cast<std::uint64_t>(status().st_size); }

std::string PartFile::tag() const {
  const Descriptor descriptor(::open(tag_file_.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.is_open()) return "";
  std::string tag(kMaxTagBytes, '\0');
  tag.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(descriptor.get(), tag.data(), tag.size()))));
  return first_line(tag);
}

void PartFile::restart(const std::string& tag) {
  if (::ftruncate(descriptor_.get(), 0) != 0) throw_file_error("write", path_, errno);
  remove_tag();
  if (tag.empty() || tag.size() > kMaxTagBytes) return;
  const Descriptor descriptor = open_own(tag_file_, O_WRONLY | O_EXCL);
  if (::write(descriptor.get(), tag.data(), tag.size()) != static_cast<ssize_t>(tag.size())) {
    throw_file_error("write", tag_file_, errno);
  }
}

void PartFile::append(const char* bytes, std::size_t count) {
  if (::lseek(descriptor_.get(), 0, SEEK_END) < 0) throw_file_error("write", path_, errno);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_.get(), bytes, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_file_error("write", path_, errno);
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

void PartFile::move_to(const fs::path& target) {
  if (::fsync(descriptor_.get()) != 0) throw_file_error("write", path_, errno);
  if (::rename(path_.c_str(), target.c_str()) != 0) throw_file_error("create", target, errno);
  sync_folder(folder_of(target));
  remove_tag();
}

void PartFile::remove() {
  ::unlink(path_.c_str());
  remove_tag();
  removed_ = true;
}

struct stat PartFile::status() const {
  struct stat status {};
  if (::fstat(descriptor_.get(), &status) != 0) throw_file_error("read", path_, errno);
  return status;
}

void PartFile::remove_tag() const { ::unlink(tag_file_.c_str()); }

}  // namespace xlm
