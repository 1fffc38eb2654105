// A file that a command line names.
#include "base/argument_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

constexpr std::size_t kPartBytes = std::size_t{1} << 20;

/// A pipe that lies in a folder, not one of a shell's own.
bool is_named_pipe(int descriptor) {
  struct stat status {};
  struct statfs system {};
  return ::fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) && ::fstatfs(descriptor, &system) == 0 &&
         system.f_type != PIPEFS_MAGIC;
}

/// Whether something is written to a pipe, or was, in the next seconds.
bool has_writer(int descriptor) {
  constexpr int kPatienceMilliseconds = 3000;
  struct pollfd wanted {
    .fd = descriptor, .events = POLLIN, .revents = 0
  };
  return ::poll(&wanted, 1, kPatienceMilliseconds) > 0;
}

}  // namespace

std::string read_argument(const fs::path& path, std::uintmax_t limit) {
  const std::string name = path == "-" ? "standard input" : path.string();
  // Not waited for: a named pipe to which nothing writes would never be opened.
  const Descriptor file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const int descriptor = file.get();
  if (!file.is_open()) throw_file_error("read", name, errno);
  if (path != "-") {
    if (is_named_pipe(descriptor) && !has_writer(descriptor)) {
      throw DataError(fmt::format("no process writes to the pipe {}\nstart the writer first", name));
    }
    ::fcntl(descriptor, F_SETFL, ::fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
  }
  std::string content;
  std::string part(kPartBytes, '\0');
  while (content.size() <= limit) {
    const ssize_t bytes = ::read(descriptor, part.data(), part.size());
    if (bytes == 0) break;
    if (bytes > 0) content.append(part, 0, static_cast<std::size_t>(bytes));
    if (bytes < 0 && errno != EINTR) throw_file_error("read", name, errno);
  }
  if (content.size() > limit) throw DataError(fmt::format("{} has more than {} bytes, which are read", name, limit));
  return content;
}

std::string expand_home(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe)
  if (home == nullptr || *home == '\0') {
    const passwd* user = ::getpwuid(::getuid());  // NOLINT(concurrency-mt-unsafe)
    home = user == nullptr ? nullptr : user->pw_dir;
  }
  return home == nullptr ? path : home + path.substr(1);
}

}  // namespace xlm
