// What Python does when a program starts it: it imports the frozen copy of the program's code instead of the folder
// that was copied, and says which files it takes from elsewhere.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace xlm {

/// Files of code that are in no copy, by their place, with the SHA-256 that they had when they were used.
using OutsideFiles = std::map<std::string, std::string>;

/// The text of experiments/programs/import_hook.py.
std::string_view import_hook();

/// Lays the hook into `work`, the copy of the code in `folder`, for the processes that get `environment`. The user's
/// own PYTHONPATH and sitecustomize stay in effect. What does not start Python is not concerned.
void lay_import_hook(const fs::path& folder, const fs::path& work, std::map<std::string, std::string>& environment);
void remove_import_hook(const fs::path& work);

/// What the hook has reported so far; nullopt if no Python has started with it.
std::optional<OutsideFiles> reported_imports(const fs::path& work);

/// A word of a command for the program in `work`: a file of the copy in place of that in `folder`, if the word (or what
/// follows its "=") names that one by its whole path or through "..".
std::string word_for_copy(const std::string& word, const fs::path& folder, const fs::path& work);

/// Scripts and configurations that words name by their whole path, but those in `inside` and what cannot be read.
OutsideFiles named_outside(const std::vector<std::string>& words, const std::vector<fs::path>& inside);

}  // namespace xlm
