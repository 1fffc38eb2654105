// What git says about a folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// A file that git tracks.
struct TrackedFiles {
  std::vector<std::string> paths;      // below the folder, also of submodules that are checked out
  std::vector<std::string> untracked;  // files that are neither tracked nor ignored
  std::vector<std::string> missing_submodules;
};

/// Returns nullopt if the folder is in no repository. Throws UsageError if git is missing or refuses, with its words.
std::optional<TrackedFiles> tracked_files(const fs::path& folder);

constexpr std::size_t kMaxDiffBytes = 1000000;

/// For environment.json: {"commit", "branch", "repository", "dirty", "diff"}, as far as they are known. "diff" is the
/// text of the changes below the folder since the commit, cut at `limit` bytes, which "diff_cut" then tells with the
/// whole size. Empty if the folder is in no repository. The repository's address comes without names and passwords.
Json git_facts(const fs::path& folder, std::size_t limit = kMaxDiffBytes);

}  // namespace xlm
