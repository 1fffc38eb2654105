// Sees when a program has written a checkpoint.
#include "experiments/worker/checkpoint_watch.h"

#include <system_error>
#include <utility>

namespace xlm {
namespace {

/// Calls `use` with each file until it returns false. A folder may change meanwhile.
template <class Use>
void each_file(const fs::path& folder, Use use) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone) && !gone && !use(*entry)) return;
  }
}

}  // namespace

bool has_files(const fs::path& folder) {
  bool any = false;
  each_file(folder, [&](const fs::directory_entry& /*entry*/) {
    any = true;
    return false;
  });
  return any;
}

CheckpointWatch::CheckpointWatch(fs::path folder) : folder_(std::move(folder)), last_(sight_of(folder_)) {}

CheckpointWatch::Sight CheckpointWatch::sight_of(const fs::path& folder) {
  Sight sight;
  each_file(folder, [&](const fs::directory_entry& entry) {
    std::error_code gone;
    const std::uintmax_t bytes = entry.file_size(gone);
    if (gone) return true;
    const fs::file_time_type time = entry.last_write_time(gone);
    if (gone) return true;
    ++sight.files;
    sight.bytes += bytes;
    if (sight.file.empty() || time > sight.newest) {
      sight.newest = time;
      sight.file = entry.path();
    }
    return true;
  });
  return sight;
}

bool CheckpointWatch::look(const std::function<std::int64_t()>& step, bool is_ended) {
  Sight sight = sight_of(folder_);
  const bool changed = !(sight == last_);
  last_ = std::move(sight);
  if (changed && (changes_++ == 0 || is_ended)) step_ = step();
  if (changes_ == 0 || (changed && !is_ended && changes_ < kMaxChanges)) return false;
  changes_ = 0;
  return last_.files > 0;
}

}  // namespace xlm
