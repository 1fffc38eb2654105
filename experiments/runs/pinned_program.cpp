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

void copy_file_to(const fs::path& from, const fs::path& to) {
  std::error_code error;
  create_folders(to.parent_path());
  fs::copy_file(from, to, error);
  if (error) throw_file_error("copy the program to", to, error.value());
}

}  // namespace

fs::path pin_program(const ProgramFiles& program, const fs::path& runs) {
  const std::vector<fs::path> files = files_of(program);
  Sha256 hash;
  for (const fs::path& file : files) hash.update(fmt::format("{} {}\n", file.filename().string(), sha256_file(file)));
  const fs::path target = fs::absolute(runs) / ".programs" / hash.finish().substr(0, 16);
  fs::path executable = target / "bin" / program.executable.filename();
  if (fs::exists(executable)) return executable;

  const StagedFolder copy(target, ".new");
  copy_file_to(files.front(), copy.path() / "bin" / files.front().filename());
  for (std::size_t i = 1; i < files.size(); ++i) copy_file_to(files[i], copy.path() / "lib" / files[i].filename());
  copy.move_into_place();  // unless another sweep was faster, with the same files
  return executable;
}

}  // namespace xlm
