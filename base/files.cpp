// Files that are whole or absent.
#include "base/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/error.h"
#include "base/file_lock.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;

/// Writes everything, retrying interrupted and partial writes.
void write_fully(int descriptor, const char* data, std::size_t bytes, const fs::path& path) {
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, data, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_file_error("write", path, errno);
    data += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

/// The errno of open(2) for a socket and for a pipe without a reader; here for all that is neither a regular file nor a
/// folder.
constexpr int kNotRegular = ENXIO;

/// Opens without waiting for the other end. Waits for another process's lease on the file, as a file server takes one:
/// the kernel revokes it within its lease-break-time of 45 s.
int open_at_once(const fs::path& path, int flags) {
  constexpr int kLooks = 600;
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  const bool writes = (flags & O_ACCMODE) != O_RDONLY;
  for (int look = 0;; ++look) {
    const bool follows = !writes || (fs::is_symlink(path) && !is_link_of_another(path));
    const int descriptor =
        ::open(path.c_str(), flags | (follows ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, kNewFileMode);
    if (descriptor >= 0 || errno != EWOULDBLOCK || look == kLooks) return descriptor;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

/// The descriptor; -1 with errno if there is no regular file, or if it cannot be opened.
int try_open_regular(const fs::path& path, int flags) {
  const int descriptor = open_at_once(path, flags);
  if (descriptor < 0) return descriptor;
  struct stat status {};
  const int failure = ::fstat(descriptor, &status) != 0 ? errno
                      : S_ISDIR(status.st_mode)         ? EISDIR
                      : S_ISREG(status.st_mode)         ? 0
                                                        : kNotRegular;
  if (failure == 0) return descriptor;
  ::close(descriptor);
  errno = failure;
  return -1;
}

std::uint64_t size_of(int descriptor, const fs::path& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_file_error("read", path, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

/// The number of the open file called "/dev/fd/3" or "/proc/self/fd/3"; -1 for any other path.
int open_file_at(const fs::path& path) {
  std::int64_t number = -1;
  if (!parse_integer(path.filename().string(), number)) return -1;
  std::error_code error;
  const fs::path open_files = fs::canonical("/proc/self/fd", error);
  return !error && fs::canonical(folder_of(path), error) == open_files ? static_cast<int>(number) : -1;
}

/// How the names of temporary files of a file begin. A file system takes 255 bytes, with the number behind it.
std::string temporary_prefix(const fs::path& path) {
  constexpr std::size_t kLongest = 245;
  return fmt::format(".{}.", path.filename().string().substr(0, kLongest));
}

/// Removes temporary files that killed processes left of the same file.
void remove_left_beside(const fs::path& path) {
  const std::string prefix = temporary_prefix(path);
  for (const fs::directory_entry& entry : entries_in(folder_of(path))) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    const bool left = name.starts_with(prefix) && is_unfinished_name(name) && is_left_behind(entry.path());
    if (left) fs::remove(entry.path(), ignored);
  }
}

/// Makes a temporary file ".NAME.NUMBER" (a random number) next to `path`, open for writing. mkstemp would ignore the
/// umask and deny others access.
std::pair<int, fs::path> create_beside(const fs::path& path) {
  std::random_device random;
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    fs::path file = folder_of(path) / fmt::format("{}{:08x}", temporary_prefix(path), random());
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kNewFileMode);
    if (descriptor >= 0) return {descriptor, std::move(file)};
    if (errno != EEXIST) break;
  }
  throw_file_error("write", path, errno);
}

}  // namespace

void throw_file_error(std::string_view action, const fs::path& path, int error_number) {
  const bool foreign = error_number == ELOOP && is_link_of_another(path);
  const std::string cause = error_number == kNotRegular ? "it is not a regular file"
                            : foreign                   ? "it is a link that another user laid\nremove it"
                                                        : std::strerror(error_number);
  const std::string message = fmt::format("cannot {} {}: {}", action, path.string(), cause);
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      throw ResourceError(message + "\nfree some space or choose another folder, then run the same command again");
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      throw ResourceError(message);
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case EACCES:
    case EPERM:
    case EROFS:
    case EIO:
    case ENAMETOOLONG:
    case ELOOP:
    case kNotRegular:
      throw DataError(message);
    default:
      throw Error(message);
  }
}

int open_regular(const fs::path& path, int flags, std::string_view action) {
  const int descriptor = try_open_regular(path, flags);
  if (descriptor < 0) throw_file_error(action, path, errno);
  return descriptor;
}

std::string read_file(const fs::path& path, std::uintmax_t limit) {
  InputFile file(path);
  if (file.size() > limit) {
    throw DataError(fmt::format("{} has {} bytes; the limit is {}", path.string(), file.size(), limit));
  }
  std::string content(static_cast<std::size_t>(file.size()), '\0');
  content.resize(file.read(content.data(), content.size()));  // it may have been truncated meanwhile
  return content;
}

void write_file(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

void create_folders(const fs::path& path) {
  constexpr int kLooks = 30;
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  std::error_code error;
  for (int look = 0; look < kLooks; ++look) {
    fs::create_directories(path, error);
    // A client of a network file system may not yet see what another one has just made.
    if (error != std::errc::file_exists || fs::exists(path)) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  if (error) throw_file_error("create the folder", path, error.value());
}

fs::path behind_links(fs::path path) {
  constexpr int kMaxLinks = 40;
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, error)) && open_file_at(path) < 0; ++links) {
    if (links == kMaxLinks || is_link_of_another(path)) throw_file_error("write", path, ELOOP);
    const fs::path target = fs::read_symlink(path, error);
    if (error) throw_file_error("read the link", path, error.value());
    path = target.is_absolute() ? target : folder_of(path) / target;
  }
  return path;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

namespace {

template <class Iterator>
std::vector<fs::directory_entry> sorted_entries(const fs::path& folder, std::error_code& error) {
  std::vector<fs::directory_entry> entries;
  for (Iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) entries.push_back(*entry);
  // As bytes: comparing paths part by part takes longer than reading a folder of many runs.
  std::ranges::sort(entries, {},
                    [](const fs::directory_entry& entry) -> const std::string& { return entry.path().native(); });
  return entries;
}

void sync_path(const fs::path& path, const Descriptor& descriptor) {
  // Some network file systems have no fsync for folders. The rename is atomic there all the same.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) throw_file_error("sync", path, errno);
}

}  // namespace

std::vector<fs::directory_entry> entries_in(const fs::path& folder, std::error_code& error) {
  return sorted_entries<fs::directory_iterator>(folder, error);
}

std::vector<fs::directory_entry> entries_in(const fs::path& folder) {
  std::error_code ignored;
  return entries_in(folder, ignored);
}

std::vector<fs::directory_entry> entries_below(const fs::path& folder) {
  std::error_code ignored;
  return sorted_entries<fs::recursive_directory_iterator>(folder, ignored);
}

void sync_folder(const fs::path& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) throw_file_error("open the folder", folder, errno);
  sync_path(folder, descriptor);
}

void sync_file(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open() && errno == ENOENT) return;
  if (!descriptor.is_open()) throw_file_error("sync", file, errno);
  sync_path(file, descriptor);
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) throw_file_error("write", path_, EISDIR);
  path_ = behind_links(path_);
  if (const int number = open_file_at(path_); number >= 0) {  // the process that opened it decides about its content
    descriptor_ = ::fcntl(number, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) throw_file_error("write", path_, errno);
  } else if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open_at_once(path_, O_WRONLY);
    if (descriptor_ < 0 && errno == ENXIO) {
      throw DataError(fmt::format("cannot write {}: no process reads from it", path_.string()));
    }
    if (descriptor_ < 0) throw_file_error("write", path_, errno);
    ::fcntl(descriptor_, F_SETFL, 0);  // waits for a slow reader
  } else {
    remove_left_beside(path_);
    std::tie(descriptor_, temporary_) = create_beside(path_);
  }
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  size_ += bytes;
  const bool is_copied = bytes <= kBufferBytes / 16;
  if (!is_copied || buffer_.size() + bytes > kBufferBytes) flush();
  if (is_copied) {
    buffer_.append(static_cast<const char*>(data), bytes);
  } else {
    write_fully(descriptor_, static_cast<const char*>(data), bytes, path_);
  }
}

void AtomicFile::flush() {
  write_fully(descriptor_, buffer_.data(), buffer_.size(), path_);
  buffer_.clear();
}

void AtomicFile::finish(bool durable) {
  flush();
  if (temporary_.empty()) {
    ::close(std::exchange(descriptor_, -1));
    return;
  }
  if (durable && ::fsync(descriptor_) != 0) throw_file_error("write", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw_file_error("write", path_, errno);
  ::close(std::exchange(descriptor_, -1));
  if (durable) sync_folder(folder_of(path_));
}

bool is_left_behind(const fs::path& path) {
  constexpr auto kLong = std::chrono::minutes(10);
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(path, error);
  return !error && fs::file_time_type::clock::now() - changed > kLong;
}

bool is_unfinished_name(const std::string& name) {
  constexpr std::size_t kDigits = 8;  // as in create_beside
  const std::size_t dot = name.rfind('.');
  return name.front() == '.' && dot > 1 && dot + 1 + kDigits == name.size() &&
         name.find_first_not_of("0123456789abcdef", dot + 1) == std::string::npos;
}

void remove_unfinished_files(const fs::path& folder) {
  for (const fs::directory_entry& entry : entries_below(folder)) {
    std::error_code ignored;
    const bool ours = entry.is_regular_file(ignored) && is_unfinished_name(entry.path().filename().string());
    if (ours && is_left_behind(entry.path())) fs::remove(entry.path(), ignored);
  }
}

AppendFile::AppendFile(fs::path path) : path_(std::move(path)) { open(O_CREAT); }

void AppendFile::open(int flags) {
  descriptor_.reset();
  descriptor_.reset(open_regular(path_, O_RDWR | O_APPEND | flags, "write"));
  if (is_torn()) write_fully(descriptor_.get(), "\n", 1, path_);
}

/// Whether the last line has no end: its writer was killed, or its disk was full.
bool AppendFile::is_torn() const {
  const off_t size = ::lseek(descriptor_.get(), 0, SEEK_END);
  char last = '\n';
  return size > 0 && ::pread(descriptor_.get(), &last, 1, size - 1) == 1 && last != '\n';
}

void AppendFile::append(std::string_view line, bool durable) {
  std::string whole = is_torn() ? "\n" : "";  // other processes append, too
  whole += line;
  whole += '\n';
  std::size_t done = 0;
  while (done < whole.size()) {
    const ssize_t written = ::write(descriptor_.get(), whole.data() + done, whole.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      take_back(done);
      throw_file_error("write", path_, error);
    }
    done += static_cast<std::size_t>(written);
  }
  if (durable) sync();
}

/// Removes the last bytes that this process wrote, unless others have written behind them.
void AppendFile::take_back(std::size_t bytes) const {
  const off_t end = ::lseek(descriptor_.get(), 0, SEEK_CUR);
  struct stat status {};
  if (bytes == 0 || ::fstat(descriptor_.get(), &status) != 0 || status.st_size != end) return;
  [[maybe_unused]] const int result = ::ftruncate(descriptor_.get(), end - static_cast<off_t>(bytes));
}

bool AppendFile::is_replaced() const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor_.get(), &opened) != 0 || opened.st_nlink == 0) return true;
  if (::stat(path_.c_str(), &named) != 0) return false;  // it was moved, but is still the file
  return opened.st_dev != named.st_dev || opened.st_ino != named.st_ino;
}

void AppendFile::append_shared(std::string_view line, bool durable) {
  constexpr int kAttempts = 10;  // some network file systems give a file another number each time
  lock_file(descriptor_.get(), FileLock::kShared);
  for (int attempt = 0; attempt < kAttempts && is_replaced(); ++attempt) {
    open(0);  // a new file would hold nothing of what was there
    lock_file(descriptor_.get(), FileLock::kShared);
  }
  append(line, durable);
  unlock_file(descriptor_.get());
}

void AppendFile::sync() {
  if (::fsync(descriptor_.get()) != 0) throw_file_error("write", path_, errno);
}

bool AppendFile::is_at_its_name() const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor_.get(), &opened) != 0 || opened.st_nlink == 0 || ::stat(path_.c_str(), &named) != 0)
    return false;
  // Some network file systems give a file another number each time: an equal size must suffice there.
  return (opened.st_dev == named.st_dev && opened.st_ino == named.st_ino) || opened.st_size == named.st_size;
}

AppendPause::AppendPause(const fs::path& path) {
  descriptor_.reset(try_open_regular(path, O_RDWR));
  if (descriptor_.is_open()) {
    lock_file(descriptor_.get(), FileLock::kExclusive);
  } else if (errno != ENOENT) {
    throw_file_error("write", path, errno);
  }
}

InputFile::InputFile(fs::path path) : path_(std::move(path)) {
  descriptor_.reset(open_regular(path_, O_RDONLY, "read"));
  size_ = size_of(descriptor_.get(), path_);
}

std::size_t InputFile::read(char* buffer, std::size_t bytes) {
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t count = ::read(descriptor_.get(), buffer + filled, bytes - filled);
    if (count == 0) break;
    if (count > 0) filled += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) throw_file_error("read", path_, errno);
  }
  return filled;
}

MappedFile::MappedFile(const fs::path& path) {
  const Descriptor descriptor(open_regular(path, O_RDONLY, "read"));
  size_ = static_cast<std::size_t>(size_of(descriptor.get(), path));
  if (size_ > 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.get(), 0);
    if (address == MAP_FAILED) throw_file_error("read", path, errno);
    data_ = static_cast<const std::byte*>(address);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

void MappedFile::release(std::size_t bytes) const {
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), std::min(bytes, size_), MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace xlm
