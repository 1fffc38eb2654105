// Sees when a program has written a checkpoint.
#include "experiments/worker/checkpoint_watch.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "base/lookup.h"

namespace xlm {
namespace {

/// What of a folder, or of a link in it, could not be read.
struct Unread {
  fs::path path;
  int error_number = 0;  // 0: nothing
};

/// Looks at each file below a folder, also behind links, but not behind links to folders that contain them.
class FileWalk {
 public:
  explicit FileWalk(std::function<bool(const fs::directory_entry& file)> use) : use_(std::move(use)) {}

  /// Calls `use` with each file until that returns false. A folder may change meanwhile: what is gone is passed over.
  void walk(const fs::path& folder) {
    const auto is_here = [&folder](const fs::path& one) {
      std::error_code gone;
      return fs::equivalent(one, folder, gone);
    };
    if (is_ended_ || std::ranges::any_of(above_, is_here)) return;
    above_.push_back(folder);
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && !is_ended_ && entry != end;
         entry.increment(error)) {
      look_at(*entry);
    }
    above_.pop_back();
    note(folder, error);
  }

  const Unread& unread() const { return unread_; }

 private:
  void look_at(const fs::directory_entry& entry) {
    std::error_code error;
    const fs::file_status status = entry.status(error);
    if (fs::is_directory(status)) {
      walk(entry.path());
    } else if (fs::is_regular_file(status)) {
      is_ended_ = !use_(entry);
    } else {
      note(entry.path(), error);
    }
  }

  /// A link without a target is not nothing: a disk may be missing.
  void note(const fs::path& path, const std::error_code& error) {
    std::error_code ignored;
    const bool gone = error == std::errc::no_such_file_or_directory && !fs::is_symlink(path, ignored);
    if (error && !gone && unread_.error_number == 0) unread_ = {path, error.value()};
  }

  std::function<bool(const fs::directory_entry& file)> use_;
  std::vector<fs::path> above_;
  Unread unread_;
  bool is_ended_ = false;
};

}  // namespace

bool has_files(const fs::path& folder) {
  bool any = false;
  FileWalk files([&any](const fs::directory_entry& /*file*/) {
    any = true;
    return false;
  });
  files.walk(folder);
  if (!any && files.unread().error_number != 0) {
    throw_file_error("read", files.unread().path, files.unread().error_number);
  }
  return any;
}

CheckpointWatch::CheckpointWatch(fs::path folder) : folder_(std::move(folder)), last_(sight_of(folder_)) {}

CheckpointWatch::Sight CheckpointWatch::sight_of(const fs::path& folder) {
  Sight sight;
  FileWalk files([&sight](const fs::directory_entry& entry) {
    std::error_code gone;
    const std::uintmax_t bytes = entry.file_size(gone);
    if (gone) return true;
    const fs::file_time_type time = entry.last_write_time(gone);
    if (gone) return true;
    sight[entry.path()] = {bytes, time};
    return true;
  });
  files.walk(folder);
  return sight;
}

bool CheckpointWatch::look(const std::function<std::int64_t()>& step, bool is_ended) {
  Sight sight = sight_of(folder_);
  const bool changed = sight != last_;
  last_ = std::move(sight);
  if (changed) {
    ++changes_;
    step_ = step();
  }
  if (changes_ == 0 || (changed && !is_ended && changes_ < kMaxChanges)) return false;
  changes_ = 0;
  return !last_.empty();
}

fs::path CheckpointWatch::file() const {
  const auto newest =
      std::ranges::max_element(last_, [](const auto& a, const auto& b) { return a.second.time < b.second.time; });
  return newest == last_.end() ? fs::path() : newest->first;
}

void CheckpointWatch::sync() {
  std::set<fs::path> folders;
  for (const auto& [file, state] : last_) {
    const FileState* const known = find_in(synced_, file);
    if (known != nullptr && *known == state) continue;
    sync_file(file);
    for (fs::path above = file.parent_path();; above = above.parent_path()) {
      if (!folders.insert(above).second || above == folder_ || !above.has_relative_path()) break;
    }
  }
  for (const fs::path& folder : folders) {
    if (fs::exists(folder)) sync_folder(folder);
  }
  synced_ = last_;
}

}  // namespace xlm
