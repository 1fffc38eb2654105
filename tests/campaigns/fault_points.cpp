// A library to preload into a program: it counts the calls that change files, and makes one of them fail.
//   XLM_FAULT=kill@7       the process is killed instead of its 7th such call
//   XLM_FAULT=killed@7     … just after it
//   XLM_FAULT=later@7      … two milliseconds after it, at any place
//   XLM_FAULT=enospc@7     the disk is full for the 7th call and every later one that needs room
//   XLM_FAULT=eio@7        the 7th call fails as on a broken disk
//   XLM_FAULT=short@7      the 7th call, if it writes, writes half of its bytes
//   XLM_FAULT_LOG=FILE     a line "NUMBER CALL PATH" for every such call
//   XLM_LOOK_LOG=FILE      a line "CALL PATH" for every call that opens a file to read it, or looks at a file or folder
//   XLM_CLOCK_AHEAD=SECONDS  the wall clock of this process is so much ahead (negative: behind)
// Only calls on regular files and folders below XLM_FAULT_FOLDER count.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <string_view>

namespace {

enum class Fault { kNone, kKill, kKilled, kLater, kFull, kBroken, kShort };

struct Plan {
  Fault fault = Fault::kNone;
  long at = 0;
  std::string folder;
  int log = -1;
  int looks = -1;
};

/// The log that a variable names, opened without the functions below; -1: none.
int open_log(const char* variable) {
  const char* path = std::getenv(variable);
  if (path == nullptr) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

const Plan& plan() {
  static const Plan made = [] {
    Plan result;
    const char* folder = std::getenv("XLM_FAULT_FOLDER");
    if (folder != nullptr) result.folder = folder;
    result.log = open_log("XLM_FAULT_LOG");
    result.looks = open_log("XLM_LOOK_LOG");
    const char* text = std::getenv("XLM_FAULT");
    if (text == nullptr) return result;
    const std::string_view order = text;
    const std::string_view name = order.substr(0, order.find('@'));
    result.fault = name == "kill"     ? Fault::kKill
                   : name == "killed" ? Fault::kKilled
                   : name == "later"  ? Fault::kLater
                   : name == "enospc" ? Fault::kFull
                   : name == "eio"    ? Fault::kBroken
                   : name == "short"  ? Fault::kShort
                                      : Fault::kNone;
    result.at = std::atol(text + name.size() + 1);
    return result;
  }();
  return made;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string absolute(int folder, const char* path) {
  if (path[0] == '/') return path;
  std::array<char, 4096> base{};
  const std::string link = folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(folder);
  const ssize_t bytes = ::readlink(link.c_str(), base.data(), base.size());
  return std::string(base.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0) + "/" + path;
}

/// The path of a regular file; empty for anything else.
std::string file_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))) return "";
  std::array<char, 4096> path{};
  const ssize_t bytes = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path.data(), path.size());
  return std::string(path.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
}

bool is_counted(const std::string& path) {
  const std::string& folder = plan().folder;
  return !folder.empty() && path.compare(0, folder.size(), folder) == 0;
}

void kill_later() {
  struct sigevent event {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t timer{};
  const struct itimerspec soon {
    {}, { 0, 2'000'000 }
  };
  if (::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) ::timer_settime(timer, 0, &soon, nullptr);
}

/// The fault of one call. Destroyed after the call, so that a process can be killed just then.
class Point {
 public:
  Point(const char* call, const std::string& path, bool needs_room) {
    const int kept = errno;
    const Plan& faults = plan();
    if (is_counted(path)) {
      static std::atomic<long> count{0};
      const long number = ++count;
      if (faults.log >= 0) {
        const std::string line = std::to_string(number) + " " + call + " " + path + "\n";
        ::syscall(SYS_write, faults.log, line.data(), line.size());
      }
      here_ = number == faults.at;
      fails_ = here_ && (faults.fault == Fault::kFull || faults.fault == Fault::kBroken);
      fails_ = fails_ || (faults.fault == Fault::kFull && needs_room && number > faults.at);
      if (here_ && faults.fault == Fault::kKill) ::kill(::getpid(), SIGKILL);
    }
    errno = kept;
  }
  Point(const Point&) = delete;
  Point& operator=(const Point&) = delete;
  ~Point() {
    if (here_ && plan().fault == Fault::kKilled) ::kill(::getpid(), SIGKILL);
    if (here_ && plan().fault == Fault::kLater) kill_later();
  }

  /// Whether the call must not be made; errno is then set.
  bool fails() const {
    if (fails_) errno = plan().fault == Fault::kFull ? ENOSPC : EIO;
    return fails_;
  }
  std::size_t bytes(std::size_t asked) const {
    return here_ && plan().fault == Fault::kShort && asked > 1 ? asked / 2 : asked;
  }

 private:
  bool here_ = false;
  bool fails_ = false;
};

/// A call that changes nothing.
void look(const char* call, int folder, const char* path) {
  if (plan().looks < 0) return;
  const int kept = errno;
  if (const std::string whole = absolute(folder, path); is_counted(whole)) {
    const std::string line = std::string(call) + " " + whole + "\n";
    ::syscall(SYS_write, plan().looks, line.data(), line.size());
  }
  errno = kept;
}

bool changes(int flags) { return (flags & (O_CREAT | O_TRUNC)) != 0; }

}  // namespace

extern "C" {

// The declarations are libc's. The real functions are looked up once.
#define NEXT(name) static auto* const real = next<decltype(name)>(#name)

ssize_t write(int descriptor, const void* data, size_t bytes) {
  NEXT(write);
  const Point point("write", file_of(descriptor), true);
  return point.fails() ? -1 : real(descriptor, data, point.bytes(bytes));
}

ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  NEXT(writev);
  const Point point("writev", file_of(descriptor), true);
  return point.fails() ? -1 : real(descriptor, parts, count);
}

ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  NEXT(pwrite);
  const Point point("pwrite", file_of(descriptor), true);
  return point.fails() ? -1 : real(descriptor, data, point.bytes(bytes), offset);
}

ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off64_t offset) {
  NEXT(pwrite64);
  const Point point("pwrite64", file_of(descriptor), true);
  return point.fails() ? -1 : real(descriptor, data, point.bytes(bytes), offset);
}

int fsync(int descriptor) {
  NEXT(fsync);
  const Point point("fsync", file_of(descriptor), false);
  return point.fails() ? -1 : real(descriptor);
}

int fdatasync(int descriptor) {
  NEXT(fdatasync);
  const Point point("fdatasync", file_of(descriptor), false);
  return point.fails() ? -1 : real(descriptor);
}

int ftruncate(int descriptor, off_t bytes) {
  NEXT(ftruncate);
  const Point point("ftruncate", file_of(descriptor), false);
  return point.fails() ? -1 : real(descriptor, bytes);
}

int ftruncate64(int descriptor, off64_t bytes) {
  NEXT(ftruncate64);
  const Point point("ftruncate64", file_of(descriptor), false);
  return point.fails() ? -1 : real(descriptor, bytes);
}

int rename(const char* from, const char* to) {
  NEXT(rename);
  const Point point("rename", absolute(AT_FDCWD, to), true);
  return point.fails() ? -1 : real(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  NEXT(renameat2);
  if (std::getenv("XLM_NO_EXCHANGE") != nullptr && flags != 0) {  // like NFS and other file systems
    errno = EINVAL;
    return -1;
  }
  const Point point("renameat2", absolute(to_folder, to), true);
  return point.fails() ? -1 : real(from_folder, from, to_folder, to, flags);
}

int unlink(const char* path) {
  NEXT(unlink);
  const Point point("unlink", absolute(AT_FDCWD, path), false);
  return point.fails() ? -1 : real(path);
}

int unlinkat(int folder, const char* path, int flags) {
  NEXT(unlinkat);
  const Point point("unlinkat", absolute(folder, path), false);
  return point.fails() ? -1 : real(folder, path, flags);
}

int remove(const char* path) {
  NEXT(remove);
  const Point point("remove", absolute(AT_FDCWD, path), false);
  return point.fails() ? -1 : real(path);
}

int mkdir(const char* path, mode_t mode) {
  NEXT(mkdir);
  const Point point("mkdir", absolute(AT_FDCWD, path), true);
  return point.fails() ? -1 : real(path, mode);
}

int link(const char* from, const char* to) {
  NEXT(link);
  const Point point("link", absolute(AT_FDCWD, to), true);
  return point.fails() ? -1 : real(from, to);
}

int open(const char* path, int flags, ...) {
  NEXT(open);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!changes(flags)) {
    look("open", AT_FDCWD, path);
    return real(path, flags, mode);
  }
  const Point point("open", absolute(AT_FDCWD, path), true);
  return point.fails() ? -1 : real(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  NEXT(open64);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!changes(flags)) {
    look("open64", AT_FDCWD, path);
    return real(path, flags, mode);
  }
  const Point point("open64", absolute(AT_FDCWD, path), true);
  return point.fails() ? -1 : real(path, flags, mode);
}

FILE* fopen(const char* path, const char* mode) {
  NEXT(fopen);
  if (mode[0] == 'r') {
    look("fopen", AT_FDCWD, path);
    return real(path, mode);
  }
  const Point point("fopen", absolute(AT_FDCWD, path), true);
  return point.fails() ? nullptr : real(path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  NEXT(fopen64);
  if (mode[0] == 'r') {
    look("fopen64", AT_FDCWD, path);
    return real(path, mode);
  }
  const Point point("fopen64", absolute(AT_FDCWD, path), true);
  return point.fails() ? nullptr : real(path, mode);
}

int stat(const char* path, struct stat* status) {
  NEXT(stat);
  look("stat", AT_FDCWD, path);
  return real(path, status);
}

int lstat(const char* path, struct stat* status) {
  NEXT(lstat);
  look("lstat", AT_FDCWD, path);
  return real(path, status);
}

int fstatat(int folder, const char* path, struct stat* status, int flags) {
  NEXT(fstatat);
  look("fstatat", folder, path);
  return real(folder, path, status, flags);
}

int access(const char* path, int mode) {
  NEXT(access);
  look("access", AT_FDCWD, path);
  return real(path, mode);
}

DIR* opendir(const char* path) {
  NEXT(opendir);
  look("opendir", AT_FDCWD, path);
  return real(path);
}

int clock_gettime(clockid_t clock, struct timespec* time) {
  NEXT(clock_gettime);
  static const long ahead = [] {
    const char* text = std::getenv("XLM_CLOCK_AHEAD");
    return text == nullptr ? 0L : std::atol(text);
  }();
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME) time->tv_sec += ahead;
  return result;
}

}  // extern "C"
