// Merges the records of searches.
#include "experiments/collections/search_merge.h"

#include <algorithm>
#include <map>
#include <optional>

#include <re2/re2.h>

#include "base/error.h"
#include "base/first_file.h"
#include "base/json.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr const char* kSearches = ".searches";

/// The number in "trial-12.json"; nullopt for another name.
std::optional<std::int64_t> trial_of(const std::string& name) {
  static const RE2 form(R"(trial-(0|[1-9]\d*)\.json)");
  std::int64_t trial = 0;
  return RE2::FullMatch(name, form, &trial) ? std::optional(trial) : std::nullopt;
}

/// Adds one file. Both are compared as JSON: what they say counts, not how it is written.
void merge_trial(const fs::path& from, const fs::path& to, std::int64_t trial, bool dry_run, MergedSearch& search) {
  Json theirs;
  try {
    theirs = read_json_object(from);
    if (!theirs.at("setting").is_array()) throw DataError("it has no setting");
  } catch (const std::exception&) {
    search.damaged.push_back(from.string());
    return;
  }
  if (!fs::exists(to)) {
    ++search.added;
    if (dry_run) return;
    create_folders(to.parent_path());
    if (write_first(to, json_text(theirs))) return;
    --search.added;  // another process was first
  }
  try {
    if (read_json_object(to) == theirs) return;
  } catch (const DataError&) {
    // The search itself says that the file here is damaged, and how to mend it.
  }
  search.differing.push_back(trial);
}

}  // namespace

std::vector<fs::path> search_files(const fs::path& runs) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& search : entries_in(runs / kSearches)) {
    std::error_code ignored;
    if (!fs::is_directory(search.symlink_status(ignored))) continue;
    for (const fs::directory_entry& file : entries_in(search.path())) {
      const bool regular = fs::is_regular_file(file.symlink_status());
      if (regular && trial_of(file.path().filename().string())) found.push_back(file.path().lexically_relative(runs));
    }
  }
  return found;
}

std::vector<MergedSearch> merge_searches(const fs::path& from, const fs::path& runs, bool dry_run) {
  std::error_code ignored;
  if (fs::equivalent(from, runs, ignored)) return {};
  std::map<std::string, MergedSearch> searches;
  for (const fs::path& file : search_files(from)) {
    const std::string name = file.parent_path().filename().string();
    MergedSearch& search = searches.try_emplace(name, MergedSearch{.name = name}).first->second;
    merge_trial(from / file, runs / file, *trial_of(file.filename().string()), dry_run, search);
  }
  std::vector<MergedSearch> changed;
  for (auto& [name, search] : searches) {
    std::ranges::sort(search.differing);
    const bool is_news = search.added > 0 || !search.differing.empty() || !search.damaged.empty();
    if (is_news) changed.push_back(std::move(search));
  }
  return changed;
}

}  // namespace xlm
