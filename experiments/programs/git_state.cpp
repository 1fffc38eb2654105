// What git says about a folder.
#include "experiments/programs/git_state.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr const char* kAllTracked = "or name the code in program.code";

/// Without what a hook or an alias has set for another repository, without locks, and without programs that the
/// repository names.
CommandResult run_git(const fs::path& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"/usr/bin/env",
                                 "-u",
                                 "GIT_DIR",
                                 "-u",
                                 "GIT_WORK_TREE",
                                 "-u",
                                 "GIT_INDEX_FILE",
                                 "-u",
                                 "GIT_PREFIX",
                                 "LC_ALL=C",
                                 "git",
                                 "--no-optional-locks",
                                 "-C",
                                 folder.string(),
                                 "-c",
                                 "core.fsmonitor=false",
                                 "-c",
                                 "core.quotePath=off"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_command(words);
}

bool is_below_repository(const fs::path& folder) {
  std::error_code ignored;
  for (fs::path at = fs::weakly_canonical(folder, ignored); at.has_relative_path(); at = at.parent_path()) {
    if (fs::exists(at / ".git", ignored)) return true;
  }
  return false;
}

bool is_in_work_tree(const fs::path& folder) {
  const CommandResult inside = run_git(folder, {"rev-parse", "--is-inside-work-tree"});
  if (inside.code == 0) return trim(inside.out) == "true";
  if (!is_below_repository(folder)) return false;
  if (inside.code == kNoProgram) {
    throw UsageError(
        fmt::format("{} is in a git repository, and there is no git here that says what it tracks\n"
                    "install git, {}",
                    folder.string(), kAllTracked));
  }
  throw UsageError(fmt::format("git does not say what it tracks in {}: {}\nmend that, {}", folder.string(),
                               trim(inside.err), kAllTracked));
}

std::vector<std::string> git_list(const fs::path& folder, const std::vector<std::string>& arguments) {
  const CommandResult result = run_git(folder, arguments);
  if (result.code != 0) {
    throw UsageError(fmt::format("git does not say what it tracks in {}: {}\nmend that, {}", folder.string(),
                                 result.code > 128 ? "it did not end in time" : trim(result.err), kAllTracked));
  }
  std::vector<std::string> paths = split(result.out, '\0');
  paths.erase(std::remove(paths.begin(), paths.end(), ""), paths.end());
  return paths;
}

std::string git_line(const fs::path& folder, const std::vector<std::string>& arguments) {
  const CommandResult result = run_git(folder, arguments);
  return result.code == 0 ? std::string(trim(result.out)) : "";
}

}  // namespace

std::optional<TrackedFiles> tracked_files(const fs::path& folder) {
  if (!is_in_work_tree(folder)) return std::nullopt;
  TrackedFiles files;
  for (const std::string& path : git_list(folder, {"ls-files", "-z", "--cached"})) {
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(folder / path, ignored))) {
      files.paths.push_back(path);
      continue;
    }
    // A submodule: a repository, or an empty folder.
    const bool checked_out = fs::exists(folder / path / ".git", ignored);
    const std::optional<TrackedFiles> inner = checked_out ? tracked_files(folder / path) : std::nullopt;
    if (!inner) files.missing_submodules.push_back(path);
    if (!inner) continue;
    const auto add = [&path](const std::vector<std::string>& from, std::vector<std::string>& to) {
      for (const std::string& name : from) to.push_back(path + "/" + name);
    };
    add(inner->paths, files.paths);
    add(inner->untracked, files.untracked);
    add(inner->missing_submodules, files.missing_submodules);
  }
  const std::vector<std::string> others = git_list(folder, {"ls-files", "-z", "--others", "--exclude-standard"});
  files.untracked.insert(files.untracked.end(), others.begin(), others.end());
  return files;
}

Json git_facts(const fs::path& folder, std::size_t limit) {
  Json facts = Json::object();
  const std::string commit = git_line(folder, {"rev-parse", "--verify", "HEAD"});
  if (commit.empty()) return facts;
  facts["commit"] = commit;
  if (const std::string branch = git_line(folder, {"symbolic-ref", "--short", "-q", "HEAD"}); !branch.empty()) {
    facts["branch"] = repaired_utf8(branch);
  }
  if (const std::string origin = git_line(folder, {"config", "--get", "remote.origin.url"}); !origin.empty()) {
    facts["repository"] = repaired_utf8(without_logins(origin));
  }
  const CommandResult changes =
      run_git(folder, {"diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--", "."});
  if (changes.code != 0) return facts;
  facts["dirty"] = !changes.out.empty();
  if (changes.out.empty()) return facts;
  std::string diff = changes.out;
  if (diff.size() > limit) {
    facts["diff_bytes"] = diff.size();
    const std::size_t line_end = diff.rfind('\n', limit == 0 ? 0 : limit - 1);
    diff.resize(line_end == std::string::npos ? 0 : line_end + 1);
    if (diff.size() > limit) diff.clear();
  }
  facts["diff"] = repaired_utf8(diff);
  return facts;
}

}  // namespace xlm
