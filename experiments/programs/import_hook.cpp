// What a program takes from outside of the copy of its code.
#include "experiments/programs/import_hook.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/code_paths.h"
#include "experiments/programs/executable.h"

namespace xlm {
namespace {

constexpr const char* kSearchPath = "PYTHONPATH";

fs::path hook_folder(const fs::path& work) { return work / ".xlm"; }
fs::path hook_report(const fs::path& work) { return hook_folder(work) / "imported"; }

}  // namespace

void lay_import_hook(const fs::path& folder, const fs::path& work, std::map<std::string, std::string>& environment) {
  remove_import_hook(work);
  create_folders(hook_folder(work));
  write_file(hook_folder(work) / "sitecustomize.py", import_hook());
  write_file(hook_folder(work) / "folder", fs::absolute(folder).string());
  const std::string own = variable_of(environment, kSearchPath);
  environment[kSearchPath] = hook_folder(work).string() + (own.empty() ? "" : ":" + own);
}

void remove_import_hook(const fs::path& work) {
  std::error_code error;
  fs::remove_all(hook_folder(work), error);
  if (error) throw_file_error("remove", hook_folder(work), error.value());
}

std::optional<OutsideFiles> reported_imports(const fs::path& work) {
  constexpr std::size_t kHashDigits = 64;
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(hook_report(work), ignored))) return std::nullopt;
  OutsideFiles files;
  for (const std::string& line : split(read_file(hook_report(work)), '\n')) {
    if (line.size() < kHashDigits + 2 || line[kHashDigits] != ' ') continue;  // being written, or another's
    files[repaired_utf8(line.substr(kHashDigits + 1))] = line.substr(0, kHashDigits);
  }
  return files;
}

std::string word_for_copy(const std::string& word, const fs::path& folder, const fs::path& work) {
  const std::optional<PathInWord> named = path_in_word(word, folder);
  std::error_code ignored;
  if (!named || (!named->is_absolute && !named->is_winding) || !fs::exists(work / named->path, ignored)) return word;
  return named->before + (work / named->path).string();
}

OutsideFiles named_outside(const std::vector<std::string>& words, const std::vector<fs::path>& inside) {
  OutsideFiles files;
  for (const std::string& word : words) {
    const std::string name = word.substr(word.find("=/") + 1);  // npos + 1 is the beginning
    std::error_code ignored;
    if (!name.starts_with('/') || !looks_like_code(name) || !fs::is_regular_file(name, ignored)) continue;
    const fs::path place = fs::weakly_canonical(name, ignored);
    const bool is_inside = std::ranges::any_of(inside, [&](const fs::path& folder) {
      const fs::path below = place.lexically_relative(fs::weakly_canonical(folder, ignored));
      return !folder.empty() && !below.empty() && *below.begin() != "..";
    });
    try {
      if (!is_inside) files[repaired_utf8(place.string())] = sha256_file(place);
    } catch (const Error&) {
      // The program says it if it needs to read the file.
    }
  }
  return files;
}

}  // namespace xlm
