// Files of a prepared folder whose hashes were found right, so that large ones are hashed once and not at every start.
#pragma once

#include <string>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// What was found right stands in the folder's .verified.json, with the size and the time of the last change that a
/// file had then. Where nobody may write that, files are hashed every time.
class VerifiedFiles {
 public:
  explicit VerifiedFiles(fs::path folder);

  /// Whether a file of the folder has this SHA-256. It is hashed unless it was before, and has not changed since;
  /// `again` hashes it in any case. Throws DataError where it cannot be read.
  bool has_hash(const std::string& file, const std::string& hash, bool again = false);

  static constexpr const char* kFile = ".verified.json";

 private:
  fs::path folder_;
  Json known_;  // by file: bytes, changed (nanoseconds since 1970), sha256
};

}  // namespace xlm
