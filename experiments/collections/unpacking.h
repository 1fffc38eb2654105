// Archives of runs: unpacking them, and writing them with a list of what every file must hash to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The list of hashes in an archive, as sha256sum writes and checks it.
inline constexpr const char* kSumsName = "SHA256SUMS";

struct Unpacked {
  bool whole = true;              // false: it was told to stop
  std::vector<fs::path> skipped;  // links and the like in the archive: what they led to is not in it
};

/// Unpacks an archive into an existing folder, hidden files too. Throws DataError where the archive is damaged, or
/// where files do not fit its list of hashes.
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

/// Writes files and the list of their hashes as an archive, whole or not at all: tar, with the compression that its
/// name ends in (.tar, .tar.gz, .tar.xz, .tar.zst). Throws UsageError for another name, and DataError for a file that
/// an archive cannot name.
PackReport pack(const std::vector<PackedFile>& files, const fs::path& archive);

}  // namespace xlm
