// Taking the runs of another folder in.
#include "experiments/collections/run_merge.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "experiments/collections/journal_merge.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/unpacking.h"
#include "experiments/runs/run_lock.h"

namespace xlm {
namespace {

constexpr int kDepth = 3;  // to which run folders are looked for
constexpr const char* kStagePrefix = ".merge";
constexpr const char* kUnpackPrefix = ".unpacked";

void collect_run_folders(const fs::path& folder, int depth, std::vector<fs::path>& found) {
  if (is_run_folder(folder)) {
    found.push_back(folder);
    return;
  }
  if (depth == 0) return;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const bool hidden = entry->path().filename().string().front() == '.';
    if (!hidden && entry->is_directory(ignored)) collect_run_folders(entry->path(), depth - 1, found);
  }
  if (error) throw_file_error("read the folder", folder, error.value());
}

/// Takes one run in.
class RunMerge {
 public:
  RunMerge(const fs::path& from, const fs::path& runs, const MergeSettings& settings)
      : from_(from), to_(runs / from.filename()), settings_(settings) {}

  MergedRun merge() {
    result_.id = to_.filename().string();
    try {
      if (has_live_worker(from_)) return outcome(MergeOutcome::kRunning, "a worker is at it there");
      const std::string before = journal_mark(from_);
      const bool added = !fs::exists(to_) && add();
      if (!added) take_news();
      if (settings_.dry_run || !is_taken_in()) return result_;
      if (fs::exists(from_) && journal_mark(from_) != before) {
        return outcome(MergeOutcome::kRunning, "it went on there meanwhile: merge again");
      }
      if (settings_.how == MergeHow::kMove && fs::exists(from_)) remove_run_folder(from_);
    } catch (const RunLockedError&) {
      return outcome(MergeOutcome::kRunning, "a worker is at it here");
    } catch (const DataError& error) {
      return outcome(MergeOutcome::kDamaged, first_line(error.what()));
    }
    return result_;
  }

 private:
  MergedRun outcome(MergeOutcome outcome, const std::string& note = "") {
    result_.outcome = outcome;
    result_.note = note;
    return result_;
  }

  /// Whether what is there is here now.
  bool is_taken_in() const {
    return result_.outcome == MergeOutcome::kAdded || result_.outcome == MergeOutcome::kUpdated ||
           result_.outcome == MergeOutcome::kSame;
  }

  /// False where somebody else has put the run here meanwhile.
  bool add() {
    read_run(from_);  // complains of what is damaged
    outcome(MergeOutcome::kAdded);
    if (settings_.dry_run) return true;
    if (settings_.how == MergeHow::kMove && moved_at_once()) return true;
    const StagedFolder staged(to_, kStagePrefix);
    copy_run(from_, staged.path(), settings_.how == MergeHow::kLink);
    return staged.move_into_place();
  }

  /// On the same file system a folder moves in one step.
  bool moved_at_once() const {
    const RunLock lock(from_);
    std::error_code error;
    fs::rename(from_, to_, error);
    if (error) return false;
    sync_folder(folder_of(to_));
    sync_folder(folder_of(from_));
    release_moved_lock(to_, lock.token());
    return true;
  }

  /// The run is in both places. Where something is to be written, it is looked at again under the lock of what is here.
  void take_news() {
    if (has_live_worker(to_)) throw RunLockedError("");
    if (!settings_.dry_run) remove_unfinished_files(to_);  // of a merge that was killed
    JournalVerdict verdict = compare_runs(to_, from_);
    std::optional<RunLock> lock;
    if (!settings_.dry_run && !verdict.text.empty()) {
      lock.emplace(to_);
      verdict = compare_runs(to_, from_);
    }
    judge(verdict);
    const bool has_all_steps =
        verdict.relation == JournalRelation::kSame || verdict.relation == JournalRelation::kShorter;
    if (has_all_steps && verdict.text.empty()) return bring_model();
    if (!lock || verdict.text.empty()) return;
    if (verdict.relation == JournalRelation::kLonger) return replace(verdict.text, lock->token());
    write_file(RunPaths{to_}.journal(), verdict.text);
  }

  /// What was packed without its model has one when somebody brings it.
  void bring_model() {
    const fs::path model = RunPaths{to_}.model();
    if (fs::exists(model) || !fs::is_directory(RunPaths{from_}.model())) return;
    outcome(MergeOutcome::kUpdated, "its model");
    if (settings_.dry_run) return;
    const RunLock lock(to_);
    remove_left_folders(to_, kStagePrefix);
    const StagedFolder staged(model, kStagePrefix);
    copy_run(RunPaths{from_}.model(), staged.path(), false);
    staged.move_into_place();
  }

  void judge(const JournalVerdict& verdict) {
    switch (verdict.relation) {
      case JournalRelation::kSame:
      case JournalRelation::kShorter:  // with a text: it belongs to more experiments there
        outcome(verdict.text.empty() ? MergeOutcome::kSame : MergeOutcome::kUpdated);
        break;
      case JournalRelation::kLonger:
      case JournalRelation::kUnited:
        outcome(MergeOutcome::kUpdated);
        break;
      case JournalRelation::kDoneTwice:
        outcome(MergeOutcome::kDoneTwice, "done in both places, with the same results");
        break;
      case JournalRelation::kConflicting:
        outcome(MergeOutcome::kConflict, "done in both places, with different results");
        break;
    }
  }

  /// Puts what is there in the place of what is here, in one step.
  void replace(const std::string& journal, std::int64_t token) {
    const StagedFolder staged(to_, kStagePrefix);
    copy_run(from_, staged.path(), settings_.how == MergeHow::kLink);
    write_file(RunPaths{staged.path()}.journal(), journal);
    copy_lock(to_, staged.path(), token);
    replace_folder(staged.path(), to_);
  }

  const fs::path& from_;
  fs::path to_;
  const MergeSettings& settings_;
  MergedRun result_;
};

}  // namespace

std::string_view name_of(MergeOutcome outcome) {
  constexpr std::array<std::string_view, 8> kNames{"added",    "updated", "same",    "done twice",
                                                   "conflict", "running", "damaged", "not looked at"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

std::vector<fs::path> find_run_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  collect_run_folders(fs::absolute(folder).lexically_normal(), kDepth, found);
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return std::pair(a.filename(), a) < std::pair(b.filename(), b);
  });
  return found;
}

std::vector<MergedRun> merge_runs(const std::vector<fs::path>& folders, const fs::path& runs,
                                  const MergeSettings& settings) {
  if (!settings.dry_run) {
    create_folders(runs);
    for (const char* prefix : {kStagePrefix, kUnpackPrefix}) remove_left_folders(runs, prefix);
  }
  std::vector<MergedRun> merged;
  for (const fs::path& folder : folders) {
    if (settings.progress) settings.progress(static_cast<double>(merged.size()), static_cast<double>(folders.size()));
    if (settings.should_stop && settings.should_stop()) {
      merged.push_back({.id = folder.filename().string(), .outcome = MergeOutcome::kUnfinished, .note = ""});
    } else {
      merged.push_back(RunMerge(folder, runs, settings).merge());
    }
  }
  if (settings.progress) settings.progress(static_cast<double>(folders.size()), static_cast<double>(folders.size()));
  return merged;
}

std::vector<MergedRun> merge_archive(const fs::path& archive, const fs::path& runs, const MergeSettings& settings) {
  create_folders(runs);
  const StagedFolder unpacked(runs / "unpacked", kUnpackPrefix);
  unpack(archive, unpacked.path());
  MergeSettings moving = settings;
  moving.how = MergeHow::kMove;  // what was unpacked is nobody's
  return merge_runs(find_run_folders(unpacked.path()), runs, moving);
}

}  // namespace xlm
