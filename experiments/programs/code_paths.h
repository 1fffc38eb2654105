// Which files of a folder are the code of a program.
#pragma once

#include <string>
#include <vector>

#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// Paths below the folder with '/', sorted: files and links that are there. Adds what the user should know to `notes`.
/// Throws UsageError as read_code does for what is named or tracked.
std::vector<std::string> code_paths(const CodeRequest& request, std::vector<std::string>& notes);

/// A pattern of CodeRequest behind this sign names files that are no code.
inline constexpr char kNoCode = '!';

/// `paths` below `folder` without what is no code of the program: files that a pattern with kNoCode fits, and recipes
/// of xlm (YAML files that describe a program's run or a sweep), unless a pattern or the command names them.
std::vector<std::string> without_others(const CodeRequest& request, const fs::path& folder,
                                        std::vector<std::string> paths);

/// Whether a path below a folder fits a pattern: * and ? stand for any characters but '/', ** for any folders. A
/// pattern that fits a folder fits all that is below it.
bool fits_pattern(const std::string& path, const std::string& pattern);

/// What is never code: caches of Python, and the folders of git, of virtual environments and of tools.
bool is_never_code(const fs::path& path);

}  // namespace xlm
