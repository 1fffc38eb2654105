// Copies the files of a run folder.
#include "experiments/collections/run_files.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/program_paths.h"
#include "experiments/runs/run_checkpoints.h"
#include "experiments/runs/run_lock.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr std::string_view kRemovedSuffix = ".removed";
constexpr std::string_view kReplacedSuffix = ".replaced";  // added by replace_folder
constexpr std::size_t kCopiedBetweenLooks = std::size_t{1}
                                            << 26;  // bytes that are copied until it is asked whether to stop

/// The only rule about files of a run folder that belong to the program and not to the run. All others are copied,
/// hidden ones too.
bool is_temporary(const fs::path& relative) {
  const std::string name = relative.filename().string();
  if (is_unfinished_name(name) || (name.front() == '.' && name.ends_with(kReplacedSuffix))) return true;
  if (relative.has_parent_path()) return false;
  static const RE2 lock(R"(lock\.\d+)");
  return RE2::FullMatch(name, lock) || name == "stop" || name.starts_with(".meeting.");
}

/// Of a model's run.
bool never_changes(const fs::path& relative) {
  const bool may_be = *relative.begin() == "model" || *relative.begin() == "checkpoints";
  return may_be && relative.has_parent_path() && !is_users_file(relative);
}

/// Adds the files below `relative` in `run`. `above` are that folder and its parents, without links.
void collect_files(const fs::path& run, const fs::path& relative, const std::vector<fs::path>& above,
                   std::vector<fs::path>& files) {
  std::error_code error;
  for (fs::directory_iterator entry(run / relative, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = relative / entry->path().filename();
    if (is_temporary(name)) continue;
    std::error_code ignored;
    const bool is_link = entry->is_symlink(ignored);
    const fs::file_status status = entry->status(ignored);
    if (fs::is_regular_file(status)) {
      files.push_back(name);
    } else if (fs::is_directory(status)) {
      std::vector<fs::path> path = above;
      path.push_back(fs::canonical(entry->path(), error));
      if (error) break;
      if (contains(above, path.back())) {
        throw DataError(
            fmt::format("{} is a link to a folder that contains it\nremove the link", entry->path().string()));
      }
      collect_files(run, name, path, files);
    } else if (is_link && !fs::exists(status)) {
      throw DataError(fmt::format("{} is a link whose target is missing\nrestore the target, or remove the link",
                                  entry->path().string()));
    } else if (fs::exists(status)) {
      throw DataError(
          fmt::format("{} is neither a file nor a folder\nmove it out of the run folder", entry->path().string()));
    }
  }
  // Another member of a group runs a program there.
  if (error == std::errc::permission_denied && relative == ProgramPaths{""}.work()) return;
  if (error) throw_file_error("read the folder", run / relative, error.value());
}

/// The lock of a run to be removed. Without a lock if the disk is full: a user removes runs because of that.
std::optional<RunLock> lock_if_there_is_room(const fs::path& folder) {
  try {
    return std::optional<RunLock>(std::in_place, folder);
  } catch (const ResourceError&) {
    return std::nullopt;
  }
}

}  // namespace

bool is_run_folder(const fs::path& folder) {
  const RunPaths paths{folder};
  return fs::is_regular_file(paths.config()) && fs::is_regular_file(paths.journal());
}

bool is_run_name(const std::string& name) {
  static const RE2 form("[a-z0-9_][a-z0-9._-]*-(?:[0-9a-f]{16}|[0-9a-f]{8})");
  return RE2::FullMatch(name, form);
}

std::vector<fs::path> run_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) throw_file_error("read the folder", folder, error.value());
  collect_files(folder, "", {real}, files);
  std::ranges::sort(files);
  return files;
}

bool is_users_file(const fs::path& relative) {
  constexpr std::array<std::string_view, 4> kOfRuns{"config.yaml", "environment.json", "journal.jsonl", "log.txt"};
  constexpr std::array<std::string_view, 7> kOfModels{"config.yaml", "model.safetensors", "vocab.json",
                                                      "merges.txt",  "config.json",       "generation_config.json",
                                                      "README.md"};
  const std::string part = relative.begin()->string();
  const std::string name = relative.lexically_relative(part).string();  // "." for the part itself
  if (name == ".") return !contains(kOfRuns, part);
  if (part == "model") return !contains(kOfModels, name);
  if (part == "checkpoints")
    return name != kBestWeights && name != kStartCheckpoint && name != kStartVocabulary &&
           (name.find('/') != std::string::npos || step_of_checkpoint(relative) < 0);
  return part != "tensorboard" || !name.starts_with("events.");
}

bool has_program(const fs::path& run) {
  const fs::path file = RunPaths{run}.environment();
  if (!fs::exists(file)) return false;
  const Json environment = read_json_object(file);
  const auto contents = environment.find("contents");
  return contents != environment.end() && contents->is_object() && contents->contains("program.folder");
}

bool is_programs_file(const fs::path& relative) {
  const ProgramPaths within{""};
  std::vector<fs::path> parts = within.state();
  parts.insert(parts.end(), {within.output(), within.config()});
  return contains(parts, *relative.begin());
}

bool has_links(const fs::path& folder) {
  if (fs::is_symlink(folder)) return true;
  return std::ranges::any_of(entries_below(folder), [](const fs::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_symlink(ignored);
  });
}

bool copy_run_files(const fs::path& from, const std::vector<fs::path>& files, const fs::path& to,
                    const CopySettings& settings) {
  std::size_t copied = 0;
  for (const fs::path& relative : files) {
    const fs::path target = to / relative;
    create_folders(target.parent_path());
    std::error_code error;
    if (settings.link && never_changes(relative)) {
      fs::create_hard_link(fs::canonical(from / relative, error), target, error);
      if (!error) continue;
    }
    const MappedFile content(from / relative);
    AtomicFile copy(target);
    for (std::size_t at = 0; at < content.size();) {
      const std::size_t bytes = std::min(content.size() - at, kCopiedBetweenLooks - copied % kCopiedBetweenLooks);
      copy.write(content.data() + at, bytes);
      at += bytes;
      copied += bytes;
      if (copied % kCopiedBetweenLooks == 0 && settings.should_stop && settings.should_stop()) return false;
    }
    copy.commit();
  }
  sync_folder(to);
  return true;
}

void remove_temporary_files(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (is_temporary(entry.path().lexically_relative(folder))) found.push_back(entry.path());
  }
  for (const fs::path& path : found) fs::remove_all(path);
}

void finish_removals(const fs::path& runs, bool (*is_name)(const std::string& name)) {
  for (const fs::directory_entry& entry : entries_in(runs)) {
    const std::string name = entry.path().filename().string();
    std::error_code ignored;
    if (name.front() != '.' || !name.ends_with(kRemovedSuffix)) continue;
    const std::string run =
        name.substr(1, std::max(name.size(), kRemovedSuffix.size() + 1) - kRemovedSuffix.size() - 1);
    if (is_name == nullptr || is_name(run)) fs::remove_all(entry.path(), ignored);
  }
}

void remove_run_folder(const fs::path& folder) {
  const std::optional<RunLock> lock = lock_if_there_is_room(folder);
  const fs::path doomed = folder.parent_path() / fmt::format(".{}{}", folder.filename().string(), kRemovedSuffix);
  std::error_code error;
  fs::rename(folder, doomed, error);
  if (error == std::errc::cross_device_link) {  // in an overlay's lower layer: without these two files it is no run
    fs::remove(RunPaths{folder}.journal(), error);
    if (!error) fs::remove(RunPaths{folder}.config(), error);
    if (!error) fs::remove_all(folder, error);
  } else if (!error) {
    sync_folder(folder_of(folder));
    fs::remove_all(doomed, error);
  }
  if (error) throw_file_error("remove", folder, error.value());
}

}  // namespace xlm
