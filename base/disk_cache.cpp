// Values on disk, each behind its hash.
#include "base/disk_cache.h"

#include <mutex>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/terminal.h"

namespace xlm {
namespace {

constexpr std::size_t kHashDigits = 64;

/// Said once by a process, which may look for many values.
void say_that_it_is_foreign(const fs::path& path) {
  static std::once_flag said;
  std::call_once(said, [&path] {
    say(
        fmt::format("note: {} is not used, because another user owns it, or this user namespace does not tell owners "
                    "apart\nremove it, or let XDG_CACHE_HOME name a folder of your own\n",
                    path.string()));
  });
}

}  // namespace

fs::path user_cache(const char* kind) {
  const fs::path named = environment_text("XDG_CACHE_HOME");
  const fs::path home = environment_text("HOME");
  if (named.is_absolute()) return named / "xlm" / kind;
  std::error_code ignored;
  return home.is_absolute() && fs::is_directory(home, ignored) ? home / ".cache" / "xlm" / kind : fs::path();
}

std::optional<std::string> DiskCache::find(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  const fs::path file = folder_ / key;
  try {
    if (!fs::exists(file) || !is_closed_to_others(file)) return std::nullopt;
    for (const fs::path& path : {folder_, file}) {
      if (is_owned_by_this_user(path)) continue;
      say_that_it_is_foreign(path);
      return std::nullopt;
    }
    const std::string content = read_file(file);
    const std::string hash = content.substr(0, kHashDigits);
    std::string value = content.substr(hash.size());
    if (sha256(value) != hash) return std::nullopt;
    return value;
  } catch (const Error&) {
    return std::nullopt;
  } catch (const fs::filesystem_error&) {
    return std::nullopt;
  }
}

void DiskCache::keep(const std::string& key, std::string_view value) const {
  if (folder_.empty()) return;
  const OwnerWrites unshared;
  try {
    if (!is_closed_to_others(folder_)) return;
    create_folders(folder_);
    write_file(folder_ / key, sha256(value).append(value));
  } catch (const Error&) {
    // A full or read-only disk: the next process computes the value again.
  }
}

}  // namespace xlm
