// Which files of a folder are the code of a program.
#include "experiments/programs/code_paths.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/recipe_keys.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "experiments/programs/git_state.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxFiles = 20000;             // of a folder that is walked
constexpr std::size_t kNamed = 5;                    // names in a message
constexpr std::uintmax_t kMaxRecipeBytes = 1000000;  // a larger YAML file is data

using Parts = std::vector<std::string>;

bool fits_parts(const Parts& path, std::size_t at, const Parts& pattern, std::size_t part) {
  if (part == pattern.size()) return true;  // all of the path, or a folder above it
  if (at == path.size()) return false;
  if (pattern[part] != "**") {
    const bool fits =
        pattern[part] == path[at] || ::fnmatch(pattern[part].c_str(), path[at].c_str(), FNM_NOESCAPE) == 0;
    return fits && fits_parts(path, at + 1, pattern, part + 1);
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

std::string names_of(const std::vector<std::string>& names) { return printable(some_listed(names, kNamed, "others")); }

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
  if (!parts.empty() && !pattern.starts_with('/') && std::ranges::count(parts, "..") == 0) return;
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
                    "below the folder, which program.folder names from the current one",
                    pattern, request.folder.string()));
  }
  return found;
}

/// The files that look like code, one behind the other, but for large ones.
std::string text_of_code(const fs::path& folder, const std::vector<std::string>& paths) {
  constexpr std::uintmax_t kMaxCode = 1 << 20;
  std::string text;
  for (const std::string& path : paths) {
    std::error_code error;
    if (looks_like_code(path) && fs::file_size(folder / path, error) <= kMaxCode) text += read_file(folder / path);
  }
  return text;
}

/// Files of settings that git ignores, in folders of files that it tracks.
std::vector<std::string> ignored_settings(const fs::path& folder, const std::vector<std::string>& tracked,
                                          const std::vector<std::string>& untracked) {
  constexpr std::array<std::string_view, 4> kEndings{".json", ".yaml", ".yml", ".toml"};
  std::set<std::string> known(tracked.begin(), tracked.end());
  known.insert(untracked.begin(), untracked.end());
  std::set<fs::path> folders;
  for (const std::string& path : tracked) folders.insert(fs::path(path).parent_path());
  std::vector<std::string> found;
  for (const fs::path& below : folders) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder / below, error)) {
      const std::string path = (below / entry.path().filename()).string();
      const bool is_setting = contains(kEndings, entry.path().extension());
      if (is_setting && !known.contains(path) && entry.is_regular_file(error)) found.push_back(path);
    }
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::string> files_of_git(const CodeRequest& request, const TrackedFiles& tracked,
                                      std::vector<std::string>& notes) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const std::string& path : tracked.paths) {
    if (fs::symlink_status(request.folder / path, ignored).type() != fs::file_type::not_found) found.push_back(path);
  }
  std::vector<std::string> left_out;
  std::optional<std::string> text;  // of the code
  const auto is_named = [&](const std::string& path) {
    if (!text) text = text_of_code(request.folder, found);
    return text->find(fs::path(path).filename().string()) != std::string::npos;
  };
  const auto may_be_meant = [&](const std::string& path) {  // and no copy of the code below a folder of runs
    if (path.find("/.programs/") != std::string::npos) return false;
    return looks_like_code(path) || (path.ends_with(".json") && is_named(path));
  };
  std::copy_if(tracked.untracked.begin(), tracked.untracked.end(), std::back_inserter(left_out), may_be_meant);
  for (std::string& path : ignored_settings(request.folder, found, tracked.untracked)) {
    if (is_named(path)) left_out.push_back(std::move(path));
  }
  std::vector<std::string> of_untracked;
  left_out = without_others(request, request.folder, std::move(left_out), false, of_untracked);
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

/// Whether a file may be a recipe by its name and size.
bool may_be_recipe(const fs::path& path) {
  const std::string ending = path.extension().string();
  std::error_code error;
  if ((ending != ".yaml" && ending != ".yml") || !fs::is_regular_file(fs::symlink_status(path, error))) return false;
  return fs::file_size(path, error) <= kMaxRecipeBytes && !error;
}

/// Whether all keys of YAML are those of recipes: other programs have files with `sweep`, too.
bool has_recipe_keys(const Yaml& tree) {
  return tree.is_map() && std::ranges::all_of(tree.entries, [](const Yaml::Entry& entry) {
           const std::string_view key = std::string_view(entry.first).substr(0, entry.first.find('.'));
           return contains(kRunKeys, key) || contains(kKeysBesidesRun, key);
         });
}

bool has_command(const Yaml& tree) {
  const Yaml* program = tree.find("program");
  return program != nullptr && program->is_map() && program->find("command") != nullptr;
}

bool has_sweep(const Yaml& tree) {
  const Yaml* sweep = tree.find("sweep");
  constexpr std::array<const char*, 4> kKinds{"grid", "zip", "random", "search"};
  return sweep != nullptr && sweep->is_map() &&
         std::ranges::any_of(kKinds, [&](const char* kind) { return sweep->find(kind) != nullptr; });
}

/// Pictures, pages, notes and logs: programs write them, and read none.
bool is_result_or_note(const std::string& path) {
  constexpr std::array<std::string_view, 9> kEndings{".svg", ".pdf", ".png", ".html", ".tex",
                                                     ".md",  ".log", ".out", ".err"};
  return contains(kEndings, fs::path(path).extension().string());
}

/// Weights, arrays, caches and databases: each run begins with those that lie next to the code.
bool is_state(const std::string& path) {
  constexpr std::array<std::string_view, 17> kEndings{".ckpt",   ".pt",      ".pth",    ".safetensors", ".bin",  ".pkl",
                                                      ".pickle", ".npy",     ".npz",    ".h5",          ".hdf5", ".db",
                                                      ".sqlite", ".msgpack", ".joblib", ".wandb",       ".orbax"};
  const std::string ending = fs::path(path).extension().string();
  return contains(kEndings, ending) || fs::path(path).filename().string().starts_with("events.out.tfevents.");
}

/// Tables and texts are what commands print into files, or what a program reads: then the code, or the command, has
/// their ending in it.
std::set<std::string> endings_of_printed_files(const CodeRequest& request, const fs::path& folder,
                                               const std::vector<std::string>& paths) {
  std::set<std::string> endings{".csv", ".tsv", ".txt", ".json", ".jsonl"};
  const auto forget = [&](const std::string& text) {
    std::erase_if(endings, [&](const std::string& ending) { return text.find(ending) != std::string::npos; });
  };
  for (const std::string& word : request.words) forget(word);
  forget(text_of_code(folder, paths));
  return endings;
}

bool holds_runs(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / ".programs", ignored);
}

/// Whether a path of `folder` lies in a folder of runs, as in copies of code that were made when these counted.
bool is_of_runs(const fs::path& folder, const std::string& path) {
  for (fs::path above = fs::path(path).parent_path(); !above.empty(); above = above.parent_path()) {
    if (holds_runs(folder / above)) return true;
  }
  return false;
}

/// Whether a file of the code is a recipe of xlm: it has nothing but a recipe's keys, and describes a program's run or
/// a sweep. Notes what a user may see otherwise.
bool is_recipe(const fs::path& folder, const std::string& path, std::vector<std::string>& notes) {
  if (!may_be_recipe(folder / path)) return false;
  try {
    const Yaml tree = read_yaml(folder / path);
    if (!has_recipe_keys(tree) || (!has_command(tree) && !has_sweep(tree))) return false;
    if (!has_command(tree)) {
      notes.push_back(
          fmt::format("{} is not in the copy of the code, as it reads as a recipe of xlm\n"
                      "if the program reads it, name it in program.code",
                      path));
    }
    return true;
  } catch (const Error& error) {
    std::error_code ignored;
    if (!fs::is_regular_file(folder / path, ignored)) return false;
    const std::string text = "\n" + read_file(folder / path);
    if (text.find("\nprogram:") == std::string::npos && text.find("\nsweep:") == std::string::npos) return false;
    notes.push_back(
        fmt::format("{} counts as code: it looks like a recipe, which would be none, but cannot be read: {}\n"
                    "mend it, or leave it out: program: {{code: [\"!{}\"]}}",
                    path, first_line(error.what()), path));
    return false;
  }
}

/// Files that the patterns of the code or the command name themselves.
std::set<std::string> named_by(const CodeRequest& request, const fs::path& folder, const Patterns& patterns) {
  std::set<std::string> named(patterns.code.begin(), patterns.code.end());
  for (const std::string& word : request.words) {
    if (const std::optional<PathInWord> path = path_in_word(word, fs::absolute(folder))) named.insert(path->path);
  }
  return named;
}

/// Patterns behind "!" are checked as others are, but what they name may not be there yet.
void check_left_out(const CodeRequest& request, const std::vector<std::string>& others,
                    const std::vector<std::string>& paths, std::vector<std::string>& notes) {
  for (const std::string& pattern : others) {
    check_form(request, pattern, false);
    const auto fits = [&](const std::string& path) { return fits_pattern(path, pattern); };
    std::error_code ignored;
    if (std::ranges::any_of(paths, fits) || fs::exists(request.folder / pattern, ignored)) continue;
    notes.push_back(
        fmt::format("program.code: !{} leaves out nothing: it fits no file of {}", pattern, request.folder.string()));
  }
}

void check_words(const CodeRequest& request, const std::vector<std::string>& paths) {
  const fs::path folder = fs::absolute(request.folder);
  for (const std::string& word : request.words) {
    const std::optional<PathInWord> named = path_in_word(word, folder);
    std::error_code ignored;
    if (!named && word.starts_with("../") && looks_like_code(word) && fs::is_regular_file(folder / word, ignored)) {
      throw UsageError(
          fmt::format("program.command names {}, which lies outside of {}\nThe program runs in a copy of that folder. "
                      "Make program.folder one that holds both, or name the file with its whole path",
                      word, request.folder.string()));
    }
    if (!named || named->is_absolute || std::binary_search(paths.begin(), paths.end(), named->path)) continue;
    throw UsageError(
        fmt::format("program.command names {}, which is not among the program's code: {}\nThe program runs in a "
                    "copy of its code. For code: git add {}, or name it in program.code. For data: name it "
                    "with its whole path",
                    word, request.patterns.empty() ? "git does not track it" : "no pattern of program.code fits it",
                    shell_word(named->path)));
  }
}

}  // namespace

bool looks_like_code(const std::string& path) {
  static const std::set<std::string> endings{".py", ".pyi",  ".pyx",  ".sh",  ".c",   ".cc", ".cpp",
                                             ".h",  ".hpp",  ".cu",   ".cuh", ".jl",  ".R",  ".lua",
                                             ".rs", ".toml", ".yaml", ".yml", ".cfg", ".ini"};
  return endings.count(fs::path(path).extension().string()) > 0;
}

std::optional<PathInWord> path_in_word(const std::string& word, const fs::path& folder) {
  for (const std::size_t begin : {std::size_t{0}, word.find('=') + 1}) {
    const std::string text = word.substr(begin);
    if (text.find('/') == std::string::npos && text.find('.') == std::string::npos) continue;
    std::error_code error;
    const fs::path named = folder / text;  // an absolute path replaces the folder
    if (!fs::is_regular_file(named, error)) continue;
    const fs::path place = fs::weakly_canonical(named.parent_path(), error) / named.filename();
    const fs::path below = place.lexically_relative(fs::weakly_canonical(folder, error));
    if (below.empty() || *below.begin() == "..") continue;
    return PathInWord{.path = below.generic_string(),
                      .before = word.substr(0, begin),
                      .is_absolute = text.front() == '/',
                      .is_winding = text.find("..") != std::string::npos};
  }
  return std::nullopt;
}

bool fits_pattern(const std::string& path, const std::string& pattern) {
  const Parts parts = parts_of(pattern);
  return !parts.empty() && fits_parts(parts_of(path), 0, parts, 0);
}

bool is_never_code(const fs::path& path) {
  constexpr std::array<std::string_view, 12> kNames{".git",        "__pycache__",        ".mypy_cache", ".pytest_cache",
                                                    ".ruff_cache", ".ipynb_checkpoints", ".tox",        ".nox",
                                                    ".venv",       "node_modules",       ".hg",         ".svn"};
  const std::string name = path.filename().string();
  if (contains(kNames, name) || path.extension() == ".pyc") return true;
  std::error_code ignored;
  return fs::exists(path / "pyvenv.cfg", ignored) || fs::exists(path / "conda-meta", ignored) || holds_runs(path);
}

bool is_whole_folder(const CodeRequest& request) {
  return sorted_patterns(request.patterns).code.empty() && !tracked_files(request.folder);
}

std::vector<std::string> without_others(const CodeRequest& request, const fs::path& folder,
                                        std::vector<std::string> paths, bool whole_folder,
                                        std::vector<std::string>& notes) {
  const Patterns patterns = sorted_patterns(request.patterns);
  const std::set<std::string> named = named_by(request, folder, patterns);
  const std::set<std::string> printed =
      whole_folder ? endings_of_printed_files(request, folder, paths) : std::set<std::string>();
  std::vector<std::string> results;
  std::erase_if(paths, [&](const std::string& path) {
    const auto fits = [&path](const std::string& pattern) { return fits_pattern(path, pattern); };
    if (std::ranges::any_of(patterns.others, fits) || is_of_runs(folder, path)) return true;
    if (named.contains(path)) return false;
    const bool is_result = is_result_or_note(path) || printed.contains(fs::path(path).extension().string());
    if (!whole_folder || !is_result) return is_recipe(folder, path, notes);
    results.push_back(path);
    return true;
  });
  std::vector<std::string> states;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(states),
               [&](const std::string& path) { return whole_folder && !named.contains(path) && is_state(path); });
  if (!states.empty()) {
    notes.push_back(
        fmt::format("copied with the code, so every run finds what an earlier one may have left there: {}\nif that is "
                    "not meant: program: {{code: [\"**\", \"!{}\"]}}",
                    names_of(states), states.front()));
  }
  if (!results.empty()) {
    notes.push_back(fmt::format(
        "these look like results and notes, and do not belong to the code: {}\nif the program reads them: program: "
        "{{code: [\"**\"]}}",
        names_of(results)));
  }
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
  bool whole_folder = false;
  if (!patterns.code.empty()) {
    paths = named_files(request, patterns.code);
  } else if (const std::optional<TrackedFiles> tracked = tracked_files(request.folder)) {
    paths = files_of_git(request, *tracked, notes);
  } else {
    whole_folder = true;
    paths = walked_files(request);
    if (paths.empty()) throw UsageError(fmt::format("the program's folder {} is empty", request.folder.string()));
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  check_left_out(request, patterns.others, paths, notes);
  paths = without_others(request, request.folder, std::move(paths), whole_folder, notes);
  for (const std::string& path : paths) {
    if (repaired_utf8(path) == path) continue;
    throw UsageError(
        fmt::format("{}: the name of this file is not UTF-8\nrename it, or name the code without it in "
                    "program.code",
                    (request.folder / repaired_utf8(path)).string()));
  }
  check_words(request, paths);
  return paths;
}

}  // namespace xlm
