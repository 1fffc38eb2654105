// Files that are whole or absent: atomic writing, mapping for reading, and errors that name the file and the cause.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace xlm {

namespace fs = std::filesystem;

/// Throws for a failed system call on `path`: ResourceError for a full disk or exhausted memory, DataError for a
/// missing or unreadable file, Error otherwise. `action` is a verb: "read", "write", "create".
[[noreturn]] void throw_file_error(std::string_view action, const fs::path& path, int error_number);

/// Opens a regular file with the flags of open(2), for this process alone. In a folder a pipe, a device or a socket may
/// have any name: throws DataError for one, as for any file that cannot be opened, and never waits for its other end.
/// All that reads a file or appends to it opens it by this function. Only a file that a user names may be something
/// else, and is opened elsewhere.
int open_regular(const fs::path& path, int flags, std::string_view action);

/// The whole file as bytes. Throws DataError when it is missing or longer than `limit` bytes.
std::string read_file(const fs::path& path, std::uintmax_t limit = std::uintmax_t{1} << 32);

/// Writes `content` by an AtomicFile: a reader sees the old or the new file.
void write_file(const fs::path& path, std::string_view content);

/// Creates `path` and its parents. Throws naming the folder that cannot be made.
void create_folders(const fs::path& path);

constexpr unsigned kNewFileMode = 0666;  // less what the umask takes away: a group may share folders

/// What a path leads to, which need not exist. A file that this process has open ("/dev/stdout") is its own end.
fs::path behind_links(fs::path path);

/// The folder that holds `path`; "." for a bare name.
fs::path folder_of(const fs::path& path);

/// Makes the entries of `folder` (renames, new files) durable.
void sync_folder(const fs::path& folder);

/// A file under construction: bytes go to a temporary name beside `path`, and `commit` makes it appear, whole and
/// durable, under its own. Destroyed without `commit`, it leaves nothing. A symbolic link stays, and what it leads to
/// is written; a device, a pipe that is read, and a file that this process has open ("/dev/stdout") are written
/// through. What killed processes left of the same file is removed.
class AtomicFile {
 public:
  explicit AtomicFile(fs::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  void flush();

  fs::path path_;
  fs::path temporary_;
  std::string buffer_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;  // of the temporary file; of `path_` itself where there is none
};

/// Whether a file or folder under a temporary name has been let alone for minutes: whoever made it is gone, or hangs.
bool is_left_behind(const fs::path& path);

/// Whether a file or folder has a name under which something is made, ".NAME.0123abcd": of an AtomicFile or a
/// StagedFolder.
bool is_unfinished_name(const std::string& name);

/// Removes what AtomicFiles of killed processes left in a folder and in those below it.
void remove_unfinished_files(const fs::path& folder);

/// A file opened for appending whole lines, each written by one system call.
class AppendFile {
 public:
  explicit AppendFile(fs::path path);
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  /// Appends `line` and a line end; `durable` also fsyncs.
  void append(std::string_view line, bool durable = false);
  /// The same to a file in whose place others put another one while they hold an AppendPause: waits for its end, and
  /// appends to the file that has the name then. Throws DataError where there is none any more.
  void append_shared(std::string_view line, bool durable = false);
  /// What was appended so far is on the disk when this returns.
  void sync();
  /// False where the file was removed, or another one has its name: nobody will read what was appended.
  bool is_at_its_name() const;

 private:
  void open(int flags);
  bool is_replaced() const;

  fs::path path_;
  int descriptor_ = -1;
  bool cut_ = false;  // the last line may not be whole: the disk was full
};

/// As long as it lives, nobody appends to the file by append_shared: for who replaces or removes it. Where there is no
/// such file, or a file system without locks, nobody waits.
class AppendPause {
 public:
  explicit AppendPause(const fs::path& path);
  AppendPause(const AppendPause&) = delete;
  AppendPause& operator=(const AppendPause&) = delete;
  ~AppendPause();

 private:
  int descriptor_ = -1;
};

/// A regular file read from front to back, for data that is too large to hold.
class InputFile {
 public:
  /// Throws DataError when it is missing, unreadable, or no regular file.
  explicit InputFile(fs::path path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Up to `bytes` bytes into `buffer`; 0 at the end.
  std::size_t read(char* buffer, std::size_t bytes);
  std::uint64_t size() const { return size_; }

 private:
  fs::path path_;
  std::uint64_t size_ = 0;
  int descriptor_ = -1;
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

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace xlm
