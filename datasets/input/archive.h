// The files inside an input: a plain file is one, an archive holds any number. Nothing is ever unpacked to disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"

namespace xlm {

/// The bytes that an archive of `packed` bytes may unpack to where nobody says: a thousand times its size, but at least
/// 1 GB and at most 1 TB.
std::uint64_t usual_most_unpacked(std::uint64_t packed);

enum class HiddenEntries { kPassedOver, kTaken };

struct ArchiveOptions {
  HiddenEntries hidden = HiddenEntries::kPassedOver;
  /// Told of every entry that is not handed out, but of folders: "hidden files" or "links in archives", and its name.
  std::function<void(const std::string& kind, const std::string& entry)> pass_over{};
  std::string how_to_get_more = "raise --max-unpacked";  // what the user can do at the bound
};

/// Reads a plain file, a compressed one (gzip, bzip2, xz, Zstandard), a zip archive, or a tar archive (compressed or
/// not), entry by entry, with bounded memory. What a file is shows in its first bytes, not in its name; a name that
/// promises an archive must keep the promise.
class ArchiveReader {
 public:
  /// `max_unpacked` bounds the bytes that an archive may unpack to; 0: usual_most_unpacked. Throws DataError for a
  /// missing, empty, truncated or corrupt file.
  explicit ArchiveReader(const fs::path& file, std::int64_t max_unpacked = 0, const ArchiveOptions& options = {});
  ~ArchiveReader();

  /// Moves to the next regular file and returns its name ("" where the input is one file, compressed or not); nothing
  /// at the end. Folders and links are skipped, and hidden files and what macOS adds ("__MACOSX") unless they are to be
  /// taken. Throws DataError for an entry whose name is absolute or climbs out with "..".
  std::optional<std::string> next();

  /// Up to `bytes` bytes of the present entry; 0 at its end. Throws DataError naming file and entry when it is
  /// truncated or corrupt, or when the bound is passed.
  std::size_t read(char* buffer, std::size_t bytes);

  /// Whether the file is an archive or compressed.
  bool packed() const { return packed_; }

  /// Bytes of the file itself that have been read, for progress.
  std::uint64_t consumed() const;

 private:
  class Entries;
  class SingleFile;
  class ZipEntries;
  class TarEntries;

  std::string source_;
  std::string how_to_get_more_;
  std::unique_ptr<Entries> entries_;
  bool packed_ = false;
  std::uint64_t limit_ = 0;
  std::uint64_t unpacked_ = 0;
  std::string entry_;
  bool begun_ = false;  // of the entry at hand something was read
};

/// True for a name that starts with '.' or lies in such a folder, or in "__MACOSX".
bool is_hidden_name(const std::string& relative_path);

}  // namespace xlm
