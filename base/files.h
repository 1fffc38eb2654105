// Files that are whole or absent: atomic writing, mapping for reading, and errors that name the file and the cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/descriptor.h"

namespace xlm {

namespace fs = std::filesystem;

/// Throws for a failed system call on `path`: ResourceError for a full disk or exhausted memory, DataError for a
/// missing or unreadable file, Error otherwise. `action` is a verb: "read", "write", "create".
[[noreturn]] void throw_file_error(std::string_view action, const fs::path& path, int error_number);

/// Opens a regular file with the flags of open(2), for this process alone. Throws DataError for a file that cannot be
/// opened, and for a pipe, a device or a socket: these may have any name in a folder, and their other end is never
/// waited for. Nothing is written through a link that another user laid. Every reader and appender uses this function.
/// Only a file that a user names may be something else; read_argument opens it.
int open_regular(const fs::path& path, int flags, std::string_view action);

/// The whole file as bytes. Throws DataError when it is missing or longer than `limit` bytes.
std::string read_file(const fs::path& path, std::uintmax_t limit = std::uintmax_t{1} << 32);

/// Writes `content` by an AtomicFile: a reader sees the old or the new file.
void write_file(const fs::path& path, std::string_view content);

/// Creates `path` and its parents. Throws with the name of the folder that cannot be created.
void create_folders(const fs::path& path);

constexpr unsigned kNewFileMode = 0666;  // minus the umask: a group may share folders

/// The target of a path's links, which need not exist. A file that this process has open ("/dev/stdout") is its own
/// target.
fs::path behind_links(fs::path path);

/// The folder that holds `path`; "." for a bare name.
fs::path folder_of(const fs::path& path);

/// What lies in a folder, in the order of the names; what could be read until an error.
std::vector<fs::directory_entry> entries_in(const fs::path& folder, std::error_code& error);
/// The same; nothing if there is no such folder, or if it cannot be read.
std::vector<fs::directory_entry> entries_in(const fs::path& folder);
/// The same of a folder and of those below it.
std::vector<fs::directory_entry> entries_below(const fs::path& folder);

/// Makes the entries of `folder` (renames, new files) durable.
void sync_folder(const fs::path& folder);
/// Makes the bytes of a file durable, if it is still there.
void sync_file(const fs::path& file);

/// A file under construction. Bytes go to a temporary file next to `path`; `commit` gives it its name, whole and
/// durable. Without `commit` it leaves nothing. A symbolic link of this user's or root's stays, and its target is
/// written. A device, a pipe with
/// a reader, and a file that this process has open ("/dev/stdout") are written directly. Removes what killed processes
/// left of the same file.
class AtomicFile {
 public:
  explicit AtomicFile(fs::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t size() const { return size_; }
  void commit() { finish(true); }
  /// The same for a file that is read and removed by this process: a crash of the system may lose it.
  void commit_for_now() { finish(false); }

 private:
  void finish(bool durable);
  void flush();

  fs::path path_;
  fs::path temporary_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;  // of the temporary file; of `path_` itself if there is none
};

/// Whether a temporary file or folder has not changed for minutes: its process is gone, or hangs.
bool is_left_behind(const fs::path& path);

/// Whether a name is temporary, ".NAME.0123abcd", as an AtomicFile or a StagedFolder makes it.
bool is_unfinished_name(const std::string& name);

/// Removes what AtomicFiles of killed processes left in a folder and below it.
void remove_unfinished_files(const fs::path& folder);

/// A file opened for appending whole lines, each written by one system call. A line that cannot be written whole is
/// taken back; one that another process left without its end is ended first.
class AppendFile {
 public:
  explicit AppendFile(fs::path path);

  /// Appends `line` and a line end; `durable` also fsyncs.
  void append(std::string_view line, bool durable = false);
  /// The same for a file that other processes may replace while they hold an AppendPause: waits for its end, and
  /// appends to the file that then has the name. Throws DataError if there is none any more.
  void append_shared(std::string_view line, bool durable = false);
  /// Makes all appended lines durable.
  void sync();
  /// False if the file was removed or replaced: no process will read what was appended.
  bool is_at_its_name() const;

 private:
  void open(int flags);
  bool is_replaced() const;
  bool is_torn() const;
  void take_back(std::size_t bytes) const;

  fs::path path_;
  Descriptor descriptor_;
};

/// While it lives, append_shared does not append to the file: for processes that replace or remove it. Has no effect if
/// the file does not exist, or if its file system has no locks.
class AppendPause {
 public:
  explicit AppendPause(const fs::path& path);

 private:
  Descriptor descriptor_;
};

/// A regular file read from front to back, for data that is too large to hold.
class InputFile {
 public:
  /// Throws DataError if the file is missing, unreadable or not regular.
  explicit InputFile(fs::path path);

  /// So many bytes into `buffer`; fewer, and then 0, at the end.
  std::size_t read(char* buffer, std::size_t bytes);
  std::uint64_t size() const { return size_; }

 private:
  fs::path path_;
  std::uint64_t size_ = 0;
  Descriptor descriptor_;
};

/// A read-only memory map of a whole file. An empty file maps to an empty view.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  /// The first `bytes` bytes need not stay in memory; they are read from the file again if they are needed.
  void release(std::size_t bytes) const;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace xlm
