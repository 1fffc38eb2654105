// What git says about a folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

struct TrackedFiles {
  std::vector<std::string> paths;               // below the folder, also of submodules that are checked out
  std::vector<std::string> untracked;           // files that are neither tracked nor ignored
  std::vector<std::string> missing_submodules;  // that are not checked out
};

/// What git tracks in a folder, in its order; also files that are deleted. Returns nullopt if the folder is in no
/// repository. Throws UsageError if git is missing or refuses, with its words.
std::optional<TrackedFiles> tracked_files(const fs::path& folder);

constexpr std::size_t kMaxDiffBytes = 1000000;

/// For environment.json: {"commit", "branch", "repository", "dirty", "diff"}, as far as they are known; "diff" is the
/// text of the changes below the folder since the commit. If it has more than `limit` bytes it is cut at the end of a
/// line, and "diff_bytes" says how many it has. An empty object if the folder is in no repository, or git is missing or
/// refuses. The repository's address comes without names and passwords.
Json git_facts(const fs::path& folder, std::size_t limit = kMaxDiffBytes);

}  // namespace xlm
