// Archives of runs: unpacking them, and writing them with a list of what every file must hash to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The list of hashes in an archive, as sha256sum writes and checks it.
inline constexpr const char* kSumsName = "SHA256SUMS";

/// Unpacks an archive into an existing folder. Throws DataError where it is damaged, or where files do not fit its list
/// of hashes.
void unpack(const fs::path& archive, const fs::path& folder);

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
/// name ends in (.tar, .tar.gz, .tar.xz, .tar.zst). Throws UsageError for another name.
PackReport pack(const std::vector<PackedFile>& files, const fs::path& archive);

}  // namespace xlm
