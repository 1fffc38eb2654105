// Which files of a folder are the code of a program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// Paths below the folder with '/', sorted: files and links that are there. Adds what the user should know to `notes`.
/// Throws UsageError as read_code does for what is named or tracked.
std::vector<std::string> code_paths(const CodeRequest& request, std::vector<std::string>& notes);

/// A pattern of CodeRequest behind this sign names files that are no code.
inline constexpr char kNoCode = '!';

/// Whether nothing says which files of the folder are code, neither patterns nor git: all of them are looked at.
bool is_whole_folder(const CodeRequest& request);

/// `paths` below `folder` without what is no code of the program: files that a pattern with kNoCode fits, and recipes
/// of xlm (YAML files with a recipe's keys alone that describe a program's run or a sweep), and of a whole folder
/// pictures, pages, notes and logs, by their endings; unless a pattern or the command names them.
/// Notes what may be a recipe or a file of the program.
std::vector<std::string> without_others(const CodeRequest& request, const fs::path& folder,
                                        std::vector<std::string> paths, bool whole_folder,
                                        std::vector<std::string>& notes);

/// Whether a file is code or a configuration by its name.
bool looks_like_code(const std::string& path);

/// A file in the folder of the code that a word of a command names.
struct PathInWord {
  std::string path;          // below the folder
  std::string before;        // what stands before the name: "--config="
  bool is_absolute = false;  // the name
  bool is_winding = false;   // the name has a ".."
};

/// The file of `folder` that a word names, or what follows its "=": "--config=configs/a.yaml".
std::optional<PathInWord> path_in_word(const std::string& word, const fs::path& folder);

/// Whether a path below a folder fits a pattern: * and ? stand for any characters but '/', ** for any folders. A
/// pattern that fits a folder fits all that is below it.
bool fits_pattern(const std::string& path, const std::string& pattern);

/// What is never code: caches of Python, and the folders of git, of virtual environments, of tools and of runs.
bool is_never_code(const fs::path& path);

}  // namespace xlm
