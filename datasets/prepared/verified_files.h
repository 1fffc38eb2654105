// Files of a prepared folder whose hashes were verified, so that large files are hashed once and not at every start.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// The folder's .verified.json contains verified files with their size and time of the last change. If it is not
/// writable, files are hashed every time.
class VerifiedFiles {
 public:
  explicit VerifiedFiles(fs::path folder);

  /// Whether a file of the folder has this SHA-256. Hashes it unless it was verified and has not changed since; `again`
  /// always hashes it. Throws DataError if it cannot be read.
  bool has_hash(const std::string& file, const std::string& hash, bool again = false);

  /// Records the hashes of files that this process has just written, and hashed on the way.
  void note(const std::map<std::string, std::string>& hashes);

  /// Another text that follows from a file's content: computed unless it was and the file has not changed since.
  std::string of_file(const std::string& file, const std::string& what, const std::function<std::string()>& compute);

  static constexpr const char* kFile = ".verified.json";

 private:
  void keep() const;

  fs::path folder_;
  Json known_;  // by file: bytes, changed (nanoseconds since 1970), sha256
};

}  // namespace xlm
