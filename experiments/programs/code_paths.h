// Which files of a folder are the code of a program.
#pragma once

#include <string>
#include <vector>

#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// Paths below the folder with '/', sorted: files and links that are there. Adds what the user should know to `notes`.
/// Throws UsageError as read_code does for what is named or tracked.
std::vector<std::string> code_paths(const CodeRequest& request, std::vector<std::string>& notes);

/// Whether a path below a folder fits a pattern: * and ? stand for any characters but '/', ** for any folders. A
/// pattern that fits a folder fits all that is below it.
bool fits_pattern(const std::string& path, const std::string& pattern);

/// What is never code: caches of Python, and the folders of git, of virtual environments and of tools.
bool is_never_code(const fs::path& path);

}  // namespace xlm
