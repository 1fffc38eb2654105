// Which files of a folder are the code of a program.
#include "experiments/programs/code_paths.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "experiments/programs/git_state.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxFiles = 20000;             // of a folder that is walked
constexpr std::size_t kNamed = 5;                    // names in a message
constexpr std::uintmax_t kMaxRecipeBytes = 1000000;  // a larger YAML file is data

/// * stands for any characters, ? for one. What the last star takes grows until the rest fits.
bool fits_name(std::string_view name, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t part = 0;
  std::size_t star = std::string_view::npos;
  std::size_t behind_star = 0;  // in the name: where the rest of the pattern is tried
  while (at < name.size()) {
    if (part < pattern.size() && pattern[part] == '*') {
      star = part++;
      behind_star = at;
    } else if (part < pattern.size() && (pattern[part] == '?' || pattern[part] == name[at])) {
      ++at;
      ++part;
    } else if (star != std::string_view::npos) {
      at = ++behind_star;
      part = star + 1;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', part) == std::string_view::npos;
}

using Parts = std::vector<std::string>;

bool fits_parts(const Parts& path, std::size_t at, const Parts& pattern, std::size_t part) {
  if (part == pattern.size()) return true;  // all of the path, or a folder above it
  if (at == path.size()) return false;
  if (pattern[part] != "**") {
    return fits_name(path[at], pattern[part]) && fits_parts(path, at + 1, pattern, part + 1);
  }
  for (std::size_t next = at; next < path.size(); ++next) {
    if (fits_parts(path, next, pattern, part + 1)) return true;
  }
  return false;
}

/// Without "." and empty parts.
Parts parts_of(const std::string& path) {
  Parts parts;
  for (const std::string& part : split(path, '/')) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  return parts;
}

std::string names_of(const std::vector<std::string>& names) {
  std::vector<std::string> first(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kNamed)));
  std::string text = printable(join(first, ", "));
  if (names.size() > kNamed) text += fmt::format(" and {} others", names.size() - kNamed);
  return text;
}

/// Files and links below a folder, but what is never code.
std::vector<std::string> walked_files(const CodeRequest& request) {
  std::set<fs::path> excluded;
  std::error_code error;
  for (const fs::path& folder : request.exclude) excluded.insert(fs::weakly_canonical(folder, error));
  const fs::path root = fs::canonical(request.folder, error);
  std::vector<std::string> files;
  fs::recursive_directory_iterator entry(root, error);
  if (error) throw_file_error("read the folder", request.folder, error.value());
  while (entry != fs::recursive_directory_iterator()) {
    const fs::path& path = entry->path();
    const fs::file_type type = entry->symlink_status(error).type();
    if (type == fs::file_type::directory && (is_never_code(path) || excluded.count(path) > 0)) {
      entry.disable_recursion_pending();
    } else if ((type == fs::file_type::regular || type == fs::file_type::symlink) && !is_never_code(path)) {
      files.push_back(path.lexically_relative(root).generic_string());
    }
    if (files.size() > kMaxFiles) {
      throw UsageError(
          fmt::format("{} has more than {} files\nname those that are the program's code in program.code, "
                      "or make the folder a git repository",
                      request.folder.string(), kMaxFiles));
    }
    entry.increment(error);
    if (error) throw_file_error("read the folder", path, error.value());
  }
  return files;
}

/// Patterns that name code, and those behind a "!", which name what is none.
struct Patterns {
  std::vector<std::string> code;
  std::vector<std::string> others;
};

void check_form(const CodeRequest& request, const std::string& pattern, bool names_code) {
  const Parts parts = parts_of(pattern);
  if (!parts.empty() && !pattern.starts_with('/') && std::count(parts.begin(), parts.end(), "..") == 0) return;
  throw UsageError(
      fmt::format("program.code: {}{}: it names no files below {}\nuse a path or pattern that begins there, "
                  "such as *.py, src or **/*.py",
                  names_code ? "" : "!", pattern, request.folder.string()));
}

Patterns sorted_patterns(const std::vector<std::string>& given) {
  Patterns patterns;
  for (const std::string& pattern : given) {
    if (pattern.starts_with(kNoCode)) {
      patterns.others.push_back(pattern.substr(1));
    } else {
      patterns.code.push_back(pattern);
    }
  }
  return patterns;
}

std::vector<std::string> named_files(const CodeRequest& request, const std::vector<std::string>& patterns) {
  const std::vector<std::string> all = walked_files(request);
  std::vector<std::string> found;
  for (const std::string& pattern : patterns) {
    check_form(request, pattern, true);
    const Parts parts = parts_of(pattern);
    const std::size_t before = found.size();
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const std::string& path) { return fits_parts(parts_of(path), 0, parts, 0); });
    if (found.size() > before) continue;
    throw UsageError(
        fmt::format("program.code: {} fits no file in {}\n* stands for a part of one name; **/*.py are all "
                    "below the folder",
                    pattern, request.folder.string()));
  }
  return found;
}

bool looks_like_code(const std::string& path) {
  static const std::set<std::string> endings{".py", ".pyi",  ".pyx",  ".sh",  ".c",   ".cc", ".cpp",
                                             ".h",  ".hpp",  ".cu",   ".cuh", ".jl",  ".R",  ".lua",
                                             ".rs", ".toml", ".yaml", ".yml", ".cfg", ".ini"};
  return endings.count(fs::path(path).extension().string()) > 0;
}

std::vector<std::string> files_of_git(const CodeRequest& request, const TrackedFiles& tracked,
                                      std::vector<std::string>& notes) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& path : tracked.paths) {
    if (fs::symlink_status(request.folder / path, ignored).type() != fs::file_type::not_found) found.push_back(path);
  }
  std::vector<std::string> left_out;
  std::copy_if(tracked.untracked.begin(), tracked.untracked.end(), std::back_inserter(left_out), looks_like_code);
  left_out = without_others(request, request.folder, std::move(left_out));
  if (found.empty()) {
    throw UsageError(fmt::format("git tracks no file in {}\ngit add the program's code, or name it in program.code",
                                 request.folder.string()));
  }
  if (!left_out.empty()) {
    notes.push_back(
        fmt::format("not in the copy of the code, as git does not track {}: {}\nif the program needs them: "
                    "git add",
                    left_out.size() == 1 ? "it" : "them", names_of(left_out)));
  }
  for (const std::string& submodule : tracked.missing_submodules) {
    notes.push_back(
        fmt::format("not in the copy of the code, as it is not checked out: the submodule {}\n"
                    "git submodule update --init",
                    submodule));
  }
  return found;
}

/// A path below the folder that a word names, or what follows its "=": "--config=configs/a.yaml".
std::optional<std::string> path_in_word(const std::string& word, const fs::path& folder) {
  for (const std::string& text :
       {word, word.substr(word.find('=') == std::string::npos ? word.size() : word.find('=') + 1)}) {
    if (text.empty() || (text.find('/') == std::string::npos && text.find('.') == std::string::npos)) continue;
    std::error_code ignored;
    const fs::path named = text.front() == '/' ? fs::path(text) : folder / text;
    if (!fs::is_regular_file(named, ignored)) continue;
    const fs::path below = named.lexically_normal().lexically_relative(folder.lexically_normal());
    if (!below.empty() && *below.begin() != "..") return below.generic_string();
  }
  return std::nullopt;
}

/// Whether a file may be a recipe by its name and size.
bool may_be_recipe(const fs::path& path) {
  const std::string ending = path.extension().string();
  std::error_code error;
  if ((ending != ".yaml" && ending != ".yml") || !fs::is_regular_file(fs::symlink_status(path, error))) return false;
  return fs::file_size(path, error) <= kMaxRecipeBytes && !error;
}

/// Whether YAML tells `xlm` what to do: it describes a program's run, or a sweep.
bool describes_runs(const Yaml& tree) {
  if (!tree.is_map()) return false;
  const Yaml* program = tree.find("program");
  if (program != nullptr && program->is_map() && program->find("command") != nullptr) return true;
  const Yaml* sweep = tree.find("sweep");
  constexpr std::array<const char*, 4> kKinds{"grid", "zip", "random", "search"};
  return sweep != nullptr && sweep->is_map() &&
         std::any_of(kKinds.begin(), kKinds.end(), [&](const char* kind) { return sweep->find(kind) != nullptr; });
}

bool is_recipe(const fs::path& path) {
  if (!may_be_recipe(path)) return false;
  try {
    return describes_runs(read_yaml(path));
  } catch (const Error&) {
    return false;  // another program's YAML, or see damage_of_recipe
  }
}

/// What is wrong with a file that looks like a recipe but cannot be read as one; empty: nothing.
std::string damage_of_recipe(const fs::path& path) {
  if (!may_be_recipe(path)) return "";
  try {
    read_yaml(path);
    return "";
  } catch (const Error& error) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) return "";
    for (const std::string& line : split(read_file(path), '\n')) {
      if (line.starts_with("program:") || line.starts_with("sweep:")) return first_line(error.what());
    }
    return "";
  }
}

/// Files that the patterns of the code or the command name themselves.
std::set<std::string> named_by(const CodeRequest& request, const fs::path& folder, const Patterns& patterns) {
  std::set<std::string> named(patterns.code.begin(), patterns.code.end());
  for (const std::string& word : request.words) {
    if (const std::optional<std::string> path = path_in_word(word, fs::absolute(folder))) named.insert(*path);
  }
  return named;
}

/// Recipes that cannot be read would be code without a word, and other runs once they are mended.
void note_damaged_recipes(const CodeRequest& request, const std::vector<std::string>& paths,
                          std::vector<std::string>& notes) {
  const std::set<std::string> named = named_by(request, request.folder, sorted_patterns(request.patterns));
  for (const std::string& path : paths) {
    if (named.contains(path)) continue;
    const std::string damage = damage_of_recipe(request.folder / path);
    if (damage.empty()) continue;
    notes.push_back(
        fmt::format("{} counts as code: it looks like a recipe, which would be none, but cannot be read: {}\n"
                    "mend it, or leave it out: program: {{code: [\"!{}\"]}}",
                    path, damage, path));
  }
}

/// Patterns behind "!" are checked as others are, but what they name may not be there yet.
void check_left_out(const CodeRequest& request, const std::vector<std::string>& others,
                    const std::vector<std::string>& paths, std::vector<std::string>& notes) {
  for (const std::string& pattern : others) {
    check_form(request, pattern, false);
    const auto fits = [&](const std::string& path) { return fits_pattern(path, pattern); };
    std::error_code ignored;
    if (std::any_of(paths.begin(), paths.end(), fits) || fs::exists(request.folder / pattern, ignored)) continue;
    notes.push_back(
        fmt::format("program.code: !{} leaves out nothing: it fits no file of {}", pattern, request.folder.string()));
  }
}

void check_words(const CodeRequest& request, const std::vector<std::string>& paths, std::vector<std::string>& notes) {
  const fs::path folder = fs::absolute(request.folder);
  for (const std::string& word : request.words) {
    const std::optional<std::string> path = path_in_word(word, folder);
    if (!path) continue;
    const bool is_code = std::binary_search(paths.begin(), paths.end(), *path);
    const bool is_absolute = word.find(folder.lexically_normal().string()) != std::string::npos;
    if (is_absolute && is_code) {
      notes.push_back(
          fmt::format("{} is named with its whole path: the program uses this file and not its copy, so an edit "
                      "reaches runs that wait\nname it {}",
                      word, *path));
    }
    if (is_absolute || is_code) continue;
    throw UsageError(
        fmt::format("program.command names {}, which is not among the program's code: {}\nThe program runs in a "
                    "copy of its code. For code: git add {}, or name it in program.code. For data: name it "
                    "with its whole path",
                    word, request.patterns.empty() ? "git does not track it" : "no pattern of program.code fits it",
                    shell_word(*path)));
  }
}

}  // namespace

bool fits_pattern(const std::string& path, const std::string& pattern) {
  const Parts parts = parts_of(pattern);
  return !parts.empty() && fits_parts(parts_of(path), 0, parts, 0);
}

bool is_never_code(const fs::path& path) {
  constexpr std::array<std::string_view, 12> kNames{".git",        "__pycache__",        ".mypy_cache", ".pytest_cache",
                                                    ".ruff_cache", ".ipynb_checkpoints", ".tox",        ".nox",
                                                    ".venv",       "node_modules",       ".hg",         ".svn"};
  const std::string name = path.filename().string();
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end() || path.extension() == ".pyc") return true;
  std::error_code ignored;
  return fs::exists(path / "pyvenv.cfg", ignored) || fs::exists(path / "conda-meta", ignored);
}

std::vector<std::string> without_others(const CodeRequest& request, const fs::path& folder,
                                        std::vector<std::string> paths) {
  const Patterns patterns = sorted_patterns(request.patterns);
  const std::set<std::string> named = named_by(request, folder, patterns);
  std::erase_if(paths, [&](const std::string& path) {
    const auto fits = [&path](const std::string& pattern) { return fits_pattern(path, pattern); };
    if (std::any_of(patterns.others.begin(), patterns.others.end(), fits)) return true;
    return !named.contains(path) && is_recipe(folder / path);
  });
  return paths;
}

std::vector<std::string> code_paths(const CodeRequest& request, std::vector<std::string>& notes) {
  std::error_code ignored;
  if (!fs::is_directory(request.folder, ignored)) {
    throw UsageError(fmt::format("the program's folder {} is not there\nname the folder of its code in program.folder",
                                 request.folder.string()));
  }
  std::vector<std::string> paths;
  const Patterns patterns = sorted_patterns(request.patterns);
  if (!patterns.code.empty()) {
    paths = named_files(request, patterns.code);
  } else if (const std::optional<TrackedFiles> tracked = tracked_files(request.folder)) {
    paths = files_of_git(request, *tracked, notes);
  } else {
    paths = walked_files(request);
    if (paths.empty()) throw UsageError(fmt::format("the program's folder {} is empty", request.folder.string()));
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  check_left_out(request, patterns.others, paths, notes);
  paths = without_others(request, request.folder, std::move(paths));
  note_damaged_recipes(request, paths, notes);
  for (const std::string& path : paths) {
    if (repaired_utf8(path) == path) continue;
    throw UsageError(
        fmt::format("{}: the name of this file is not UTF-8\nrename it, or name the code without it in "
                    "program.code",
                    (request.folder / repaired_utf8(path)).string()));
  }
  check_words(request, paths, notes);
  return paths;
}

}  // namespace xlm
