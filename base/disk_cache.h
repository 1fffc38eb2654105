// Files of what can be computed again, kept for the next process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"

namespace xlm {

/// The user's folder for files of one kind that can be made again: ~/.cache/xlm/KIND, or below XDG_CACHE_HOME. Empty if
/// the user has neither.
fs::path user_cache(const char* kind);

/// A folder of values by key. Several processes may use it at once: a value is whole or absent. Only its owner may
/// write what is kept, whatever the umask allows a group, because it may be code.
class DiskCache {
 public:
  /// An empty path keeps nothing.
  explicit DiskCache(fs::path folder) : folder_(std::move(folder)) {}

  /// `key`: a hash of all that the value follows from, as a file name. Nullopt also for a file that is damaged or
  /// unreadable, or that other users could change or have made. The last is said once on standard error.
  std::optional<std::string> find(const std::string& key) const;

  /// Has no effect where nothing can be written, or where other users could change it.
  void keep(const std::string& key, std::string_view value) const;

 private:
  fs::path folder_;
};

}  // namespace xlm
