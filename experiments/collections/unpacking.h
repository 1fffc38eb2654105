// Archives of runs: unpacks them, and writes them with a list of every file's hash.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The list of hashes in an archive, for sha256sum.
inline constexpr const char* kSumsName = "SHA256SUMS";

struct Unpacked {
  bool whole = true;              // false: it was told to stop
  std::vector<fs::path> skipped;  // links and the like in the archive; their targets are not in it
};

/// Unpacks an archive into an existing folder, hidden files too. Throws DataError if the archive is damaged, or if
/// files do not match its list of hashes.
Unpacked unpack(const fs::path& archive, const fs::path& folder, const std::function<bool()>& should_stop);

struct PackedFile {
  fs::path file;
  std::string name;  // in the archive
};

struct PackReport {
  std::int64_t files = 0;
  std::uint64_t bytes = 0;   // of the files
  std::uint64_t packed = 0;  // of the archive
};

/// Writes files and the list of their hashes as an archive, whole or not at all. Its name's ending gives the
/// compression (.tar, .tar.gz, .tar.xz, .tar.zst). Throws UsageError for another ending, and DataError for a file that
/// an archive cannot name.
PackReport pack(const std::vector<PackedFile>& files, const fs::path& archive);

}  // namespace xlm
