// A copy of the program for a sweep's workers.
#include "experiments/worker/pinned_program.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/disk_cache.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/staged_folder.h"
#include "experiments/runs/file_copy.h"

namespace xlm {
namespace {

/// The executable first, then the shared libraries in the folder of core's.
std::vector<fs::path> files_of(const ProgramFiles& program) {
  std::vector<fs::path> files{program.executable};
  for (const fs::directory_entry& entry : entries_in(program.core_library.parent_path())) {
    const bool library = entry.path().filename().string().find(".so") != std::string::npos;
    if (library && entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

void copy_file_to(const fs::path& from, const fs::path& to) {
  create_folders(to.parent_path());
  copy_whole_file(from, to);
  fs::permissions(to, fs::perms::group_write | fs::perms::others_write, fs::perm_options::remove);
}

std::string hash_of(const std::vector<fs::path>& files) {
  Sha256 hash;
  for (const fs::path& file : files) hash.update(fmt::format("{} {}\n", file.filename().string(), sha256_file(file)));
  return hash.finish().substr(0, 16);
}

/// Where the copies of these files belong in a folder.
std::vector<fs::path> places_in(const fs::path& folder, const std::vector<fs::path>& files) {
  std::vector<fs::path> places;
  for (const fs::path& file : files) places.push_back(folder / (places.empty() ? "bin" : "lib") / file.filename());
  return places;
}

/// Whether a folder holds copies that have this hash, which others cannot change, and nothing else: the program would
/// open any other library that lies there.
bool is_whole(const fs::path& folder, const std::vector<fs::path>& files, const std::string& hash) {
  const std::vector<fs::path> places = places_in(folder, files);
  std::size_t found = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::file_type type = entry->symlink_status().type();
    const bool is_file = type == fs::file_type::regular;
    if ((!is_file && type != fs::file_type::directory) || !is_closed_to_others(entry->path())) return false;
    if (is_file && !contains(places, entry->path())) return false;
    found += is_file ? 1 : 0;
  }
  return !error && found == places.size() && hash_of(places) == hash;
}

/// Whether this user may write in a folder, which need not be there yet.
bool can_write(fs::path folder) {
  while (::access(folder.c_str(), F_OK) != 0 && folder.has_relative_path()) folder = folder.parent_path();
  return ::access(folder.c_str(), W_OK | X_OK) == 0;
}

fs::path folder_of_copies(const fs::path& runs, Machines machines) {
  std::vector<fs::path> folders{fs::absolute(runs) / ".programs"};
  if (const fs::path cache = user_cache("programs"); !cache.empty()) folders.push_back(cache);
  std::error_code ignored;
  const fs::path temporary = fs::temp_directory_path(ignored);
  if (machines == Machines::kThisOne) {
    folders.push_back(temporary / fmt::format("xlm-{}", ::geteuid()) / "programs");
  }
  const auto found = std::ranges::find_if(
      folders, [](const fs::path& folder) { return is_closed_to_others(folder) && can_write(folder); });
  if (found != folders.end()) return *found;
  throw UsageError(
      fmt::format("workers need a copy of the program that no other user can change, and others may write in {} or "
                  "above it\nset XDG_CACHE_HOME to a folder of your own, which every machine of the sweep sees",
                  fs::absolute(runs).string()));
}

}  // namespace

fs::path pinned_place(const ProgramFiles& program, const fs::path& runs, Machines machines) {
  if (program.is_portable) return program.executable;
  return folder_of_copies(runs, machines) / hash_of(files_of(program)) / "bin" / program.executable.filename();
}

fs::path pin_program(const ProgramFiles& program, const fs::path& runs, Machines machines) {
  if (program.is_portable) return program.executable;
  const OwnerWrites unshared;
  const std::vector<fs::path> files = files_of(program);
  fs::path executable = pinned_place(program, runs, machines);
  const fs::path target = executable.parent_path().parent_path();
  const std::string hash = target.filename().string();
  if (is_whole(target, files, hash)) return executable;

  constexpr const char* kPrefix = ".new";
  remove_left_folders(target.parent_path(), kPrefix);
  const StagedFolder copy(target, kPrefix);
  const std::vector<fs::path> places = places_in(copy.path(), files);
  for (std::size_t i = 0; i < files.size(); ++i) copy_file_to(files[i], places[i]);
  // Another sweep may have been faster, with the same files; what is not whole was damaged.
  if (!copy.move_into_place() && !is_whole(target, files, hash)) replace_folder(copy.path(), target);
  if (!is_whole(target, files, hash)) {
    throw Error(fmt::format("the copy of the program in {} was changed while it was made", target.string()));
  }
  return executable;
}

}  // namespace xlm
