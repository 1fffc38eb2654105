// The id by which the processes of a run join.
#include "core/parallel/group_id.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

constexpr const char* kGroupId = "group-id";
constexpr std::chrono::milliseconds kIdPoll{10};

/// Whether only this user can have written an open file. A second name of it may be one of another folder.
bool is_private(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == ::geteuid() && (status.st_mode & (S_IRWXG | S_IRWXO)) == 0 &&
         status.st_nlink == 1;
}

/// The content of the file once it is complete.
std::optional<std::string> group_id_at(const fs::path& path, std::size_t bytes) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) throw_file_error("read", path, errno);
  std::string id(bytes, '\0');
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  const ssize_t count = known ? ::read(descriptor, id.data(), id.size()) : 0;
  ::close(descriptor);
  if (known && is_private(status)) return count == std::ssize(id) ? std::optional(id) : std::nullopt;
  throw Error(
      fmt::format("{} is no file that this user alone can read and write: the processes of this run do not join by it\n"
                  "another user writes into the run's folder: see `ls -l`",
                  path.string()));
}

}  // namespace

GroupIdFile::GroupIdFile(const fs::path& meeting, std::string_view id) : path_(meeting / kGroupId) {
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) throw_file_error("create", path_, errno);
  const bool written = ::write(descriptor, id.data(), id.size()) == std::ssize(id);
  const int error = written ? 0 : errno;
  ::close(descriptor);
  if (written) return;
  ::unlink(path_.c_str());
  throw_file_error("write", path_, error);
}

GroupIdFile::~GroupIdFile() { ::unlink(path_.c_str()); }

std::string await_group_id(const Processes& self, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(self.patience * 1000));
  while (true) {
    if (std::optional<std::string> id = group_id_at(self.meeting / kGroupId, bytes)) return *id;
    const std::string who = fmt::format("process {} of {} did not meet the others", self.rank + 1, self.count);
    if (self.is_to_leave()) throw LostProcessError(who + ": one of them has ended, or was asked to stop");
    if (Clock::now() > end) {
      throw LostProcessError(fmt::format("{}: the first one did not come within {:g} s", who, self.patience));
    }
    std::this_thread::sleep_for(kIdPoll);
  }
}

}  // namespace xlm
