// Merges lines of tries.
#include "experiments/collections/line_merge.h"

#include "experiments/runs/run_lock.h"

namespace xlm {
namespace {

constexpr const char* kLines = "lines";
constexpr const char* kJournal = "journal.jsonl";

std::string line_text_at(const fs::path& file) { return fs::exists(file) ? read_file(file) : ""; }

}  // namespace

std::vector<fs::path> line_files(const fs::path& runs) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& line : entries_in(runs / kLines)) {
    std::error_code ignored;
    const fs::path journal = line.path() / kJournal;
    if (fs::is_directory(line.symlink_status(ignored)) && fs::is_regular_file(fs::symlink_status(journal, ignored))) {
      found.push_back(journal.lexically_relative(runs));
    }
  }
  return found;
}

std::vector<MergedRecord> merge_lines(const fs::path& from, const fs::path& runs, bool dry_run) {
  std::error_code ignored;
  if (fs::equivalent(from, runs, ignored)) return {};
  std::vector<MergedRecord> changed;
  for (const fs::path& file : line_files(from)) {
    const std::string name = file.parent_path().filename().string();
    const std::string there = read_file(from / file);
    if (line_text_at(runs / file).starts_with(there)) continue;
    if (!dry_run) create_folders((runs / file).parent_path());
    const auto lock = dry_run ? nullptr : std::make_unique<RunLock>((runs / file).parent_path());
    const std::string here = line_text_at(runs / file);
    if (!there.starts_with(here)) {
      changed.push_back({"line", name, "it went on in both places, and the one here stays", true});
      continue;
    }
    if (!dry_run) write_file(runs / file, there);
    changed.push_back({"line", name, here.empty() ? "added" : "it has gone on there"});
  }
  return changed;
}

}  // namespace xlm
