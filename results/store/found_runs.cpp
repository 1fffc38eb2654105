// Which run folders there are.
#include "results/store/found_runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include <spdlog/spdlog.h>

#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

/// What lies in the folder of runs, looked at from there: the kernel need not walk down to it again for every run.
class RunsFolder {
 public:
  explicit RunsFolder(const fs::path& path) : path_(path), entries_(::opendir(path.c_str()), ::closedir) {
    if (!entries_) throw_file_error("read the folder of runs", path_, errno);
  }

  /// The next name; null at the end.
  const char* next() {
    errno = 0;
    const dirent* entry = ::readdir(entries_.get());
    if (entry == nullptr && errno != 0) throw_file_error("read the folder of runs", path_, errno);
    return entry == nullptr ? nullptr : entry->d_name;
  }

  /// Nothing if the folder of that name cannot be looked into; errno says why.
  std::optional<JournalStamp> stamp_of(const std::string& name) const {
    struct ::stat status {};
    const std::string journal = name + journal_;
    if (look_at(journal, status)) {
      if (!is_readable(journal, status)) return std::nullopt;
      return JournalStamp{static_cast<std::int64_t>(status.st_size), time_of(status)};
    }
    if (errno == ENOTDIR) return JournalStamp{};
    if (errno != ENOENT) return std::nullopt;
    return look_at(name + config_, status) ? JournalStamp{-1, time_of(status)} : JournalStamp{};
  }

 private:
  bool look_at(const std::string& file, struct ::stat& status) const {
    return ::fstatat(::dirfd(entries_.get()), file.c_str(), &status, 0) == 0;
  }

  /// Whose file it is may read it where its mode says so, which spares asking.
  bool is_readable(const std::string& file, const struct ::stat& status) const {
    const bool own = status.st_uid == ::geteuid() && (status.st_mode & S_IRUSR) != 0;
    return own || ::faccessat(::dirfd(entries_.get()), file.c_str(), R_OK, 0) == 0;
  }

  static std::int64_t time_of(const struct ::stat& status) {
    return static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  }

  fs::path path_;
  std::string journal_ = "/" + RunPaths{}.journal().string();  // below a run folder
  std::string config_ = "/" + RunPaths{}.config().string();
  std::unique_ptr<DIR, int (*)(DIR*)> entries_;
};

}  // namespace

FoundRuns find_runs(const fs::path& runs) {
  RunsFolder folder(runs);
  FoundRuns found;
  while (const char* entry = folder.next()) {
    if (entry[0] == '.') continue;
    std::string name = entry;
    const std::optional<JournalStamp> stamp = folder.stamp_of(name);
    if (!stamp) {
      spdlog::warn("{} cannot be looked into: {}; what the store knows of it is kept", (runs / name).string(),
                   std::strerror(errno));
      found.unreadable.push_back(std::move(name));
    } else if (*stamp != JournalStamp{}) {
      found.readable.emplace_back(std::move(name), *stamp);
    }
  }
  return found;
}

}  // namespace xlm
