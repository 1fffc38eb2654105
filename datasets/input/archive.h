// The files inside an input: a plain file is one, an archive has any number. Nothing is unpacked to disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>

#include "base/files.h"

namespace xlm {

/// The default bound on the bytes that an archive of `packed` bytes may unpack to: a thousand times its size, but at
/// least 1 GB and at most 1 TB.
std::uint64_t usual_most_unpacked(std::uint64_t packed);

enum class HiddenEntries { kPassedOver, kTaken };

struct ArchiveOptions {
  HiddenEntries hidden = HiddenEntries::kPassedOver;
  /// Called for every skipped entry but folders: "hidden files" or "links in archives", and its name.
  std::function<void(const std::string& kind, const std::string& entry)> pass_over{};
  std::string how_to_get_more = "raise --max-unpacked";  // what the user can do at the bound
};

/// Reads a plain file, a compressed one (gzip, bzip2, xz, Zstandard), a zip archive, or a tar archive (compressed or
/// not), entry by entry, with bounded memory. The first bytes decide what a file is, not its name; but a file with an
/// archive's name must be one.
class ArchiveReader {
 public:
  /// `max_unpacked` bounds the bytes that an archive may unpack to; 0: usual_most_unpacked. Throws DataError if the
  /// file is missing, empty, truncated or corrupt.
  explicit ArchiveReader(const fs::path& file, std::int64_t max_unpacked = 0, const ArchiveOptions& options = {});
  ~ArchiveReader();

  /// Moves to the next regular file and returns its name ("" if the input is one file, compressed or not); nullopt at
  /// the end. Skips folders and links, and hidden files and macOS's additions ("__MACOSX") unless the options keep
  /// them. Throws DataError if a name is absolute or leaves the archive with "..", or comes twice.
  std::optional<std::string> next();

  /// Up to `bytes` bytes of the current entry; 0 at its end. Throws DataError with file and entry if it is truncated or
  /// corrupt, or beyond the bound.
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
  std::unordered_set<std::size_t> names_;  // hashes of the entries so far
  bool begun_ = false;                     // the current entry was read in part
};

/// Whether a name starts with '.' or is in such a folder, or in "__MACOSX".
bool is_hidden_name(const std::string& relative_path);

}  // namespace xlm
