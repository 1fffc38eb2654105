// The files of a run folder, as they are copied.
#include "experiments/collections/run_files.h"

#include <algorithm>
#include <cerrno>
#include <fstream>

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr std::string_view kRemovedSuffix = ".removed";

std::string lock_name(std::int64_t token) { return fmt::format("lock.{}", token); }

/// A lock is allowed to be half written, and must not leave anything beside it.
void write_in_place(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::trunc);
  out << text << std::flush;
  if (!out) throw_file_error("write", file, errno);
}

bool belongs_to_the_moment(const fs::path& relative) {
  const std::string name = relative.filename().string();
  const bool here = !relative.has_parent_path();
  return name.front() == '.' || (here && (name.starts_with("lock.") || name == "stop"));
}

bool never_changes(const fs::path& relative) {
  return relative.has_parent_path() && (*relative.begin() == "model" || *relative.begin() == "checkpoints");
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  const RunPaths paths{folder};
  return fs::is_regular_file(paths.config()) && fs::is_regular_file(paths.journal());
}

std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path relative = entry->path().lexically_relative(folder);
    const bool left_out = belongs_to_the_moment(relative);
    std::error_code ignored;
    if (left_out && entry->is_directory(ignored)) entry.disable_recursion_pending();
    if (!left_out && entry->is_regular_file(ignored)) files.push_back(relative);
  }
  if (error) throw_file_error("read the folder", folder, error.value());
  std::sort(files.begin(), files.end());
  return files;
}

std::int64_t step_of_checkpoint(const fs::path& file) {
  constexpr std::string_view kPrefix = "step-";
  const std::string name = file.stem().string();
  std::int64_t step = 0;
  const bool fits = file.extension() == ".safetensors" && name.starts_with(kPrefix) &&
                    parse_integer(name.substr(kPrefix.size()), step) && step >= 0;
  return fits ? step : -1;
}

void copy_run_files(const fs::path& from, const std::vector<fs::path>& files, const fs::path& to, bool link) {
  for (const fs::path& relative : files) {
    const fs::path target = to / relative;
    create_folders(target.parent_path());
    std::error_code error;
    if (link && never_changes(relative)) {
      fs::create_hard_link(from / relative, target, error);
      if (!error) continue;
    }
    const MappedFile content(from / relative);
    AtomicFile copy(target);
    copy.write(content.data(), content.size());
    copy.commit();
  }
  sync_folder(to);
}

void release_moved_lock(const fs::path& folder, std::int64_t token) {
  const fs::path file = folder / lock_name(token);
  if (!fs::exists(file)) return;
  Json content = read_json(file);
  content["released"] = true;
  write_in_place(file, content.dump() + "\n");
}

void finish_removals(const fs::path& runs) {
  std::error_code error;
  for (fs::directory_iterator entry(runs, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (name.front() == '.' && name.ends_with(kRemovedSuffix)) fs::remove_all(entry->path(), ignored);
  }
}

void remove_run_folder(const fs::path& folder) {
  const fs::path doomed = folder.parent_path() / fmt::format(".{}{}", folder.filename().string(), kRemovedSuffix);
  std::error_code error;
  fs::rename(folder, doomed, error);
  if (!error) {
    sync_folder(folder_of(folder));
    fs::remove_all(doomed, error);
  }
  if (error) throw_file_error("remove", folder, error.value());
}

}  // namespace xlm
