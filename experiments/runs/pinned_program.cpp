// A copy of the program for a sweep's workers.
#include "experiments/runs/pinned_program.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/staged_folder.h"

namespace xlm {
namespace {

/// The executable first, then the shared libraries in the folder of core's.
std::vector<fs::path> files_of(const ProgramFiles& program) {
  std::vector<fs::path> files;
  std::error_code error;
  const fs::path folder = program.core_library.parent_path();
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const bool library = entry->path().filename().string().find(".so") != std::string::npos;
    if (library && entry->is_regular_file()) files.push_back(entry->path());
  }
  std::sort(files.begin(), files.end());
  files.insert(files.begin(), program.executable);
  return files;
}

/// Not fs::copy_file, which calls a full disk an input/output error.
void copy_file_to(const fs::path& from, const fs::path& to) {
  create_folders(to.parent_path());
  InputFile in(from);
  AtomicFile out(to);
  std::string buffer(std::size_t{1} << 20U, '\0');
  while (const std::size_t count = in.read(buffer.data(), buffer.size())) out.write(buffer.data(), count);
  out.commit();
  fs::permissions(to, fs::status(from).permissions());
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

/// Whether a folder holds copies that have this hash.
bool is_whole(const fs::path& folder, const std::vector<fs::path>& files, const std::string& hash) {
  const std::vector<fs::path> places = places_in(folder, files);
  const auto is_there = [](const fs::path& file) { return fs::is_regular_file(file); };
  return std::all_of(places.begin(), places.end(), is_there) && hash_of(places) == hash;
}

}  // namespace

fs::path pinned_place(const ProgramFiles& program, const fs::path& runs) {
  return fs::absolute(runs) / ".programs" / hash_of(files_of(program)) / "bin" / program.executable.filename();
}

fs::path pin_program(const ProgramFiles& program, const fs::path& runs) {
  const std::vector<fs::path> files = files_of(program);
  fs::path executable = pinned_place(program, runs);
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
  return executable;
}

}  // namespace xlm
