// Merges the runs of another folder.
#include "experiments/collections/run_merge.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/json.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "experiments/collections/journal_merge.h"
#include "experiments/collections/line_merge.h"
#include "experiments/collections/run_files.h"
#include "experiments/collections/run_news.h"
#include "experiments/collections/search_merge.h"
#include "experiments/collections/unpacking.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/run_lock.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/runs/submission.h"
#include "results/run_folder/registration.h"

namespace xlm {
namespace {

constexpr int kDepth = 3;  // levels at which run folders are searched
constexpr const char* kStagePrefix = ".merge";
constexpr const char* kUnpackPrefix = ".unpacked";

void collect_run_folders(const fs::path& folder, int depth, std::vector<fs::path>& found) {
  if (is_run_folder(folder)) {
    found.push_back(folder);
    return;
  }
  if (depth == 0) return;
  std::error_code error;
  for (const fs::directory_entry& entry : entries_in(folder, error)) {
    std::error_code ignored;
    const bool hidden = entry.path().filename().string().front() == '.';
    if (!hidden && entry.is_directory(ignored)) collect_run_folders(entry.path(), depth - 1, found);
  }
  if (error) throw_file_error("read the folder", folder, error.value());
}

constexpr int kMergeAttempts = 5;  // for a run whose journal other processes write to meanwhile

bool have_same_bytes(const fs::path& a, const fs::path& b) { return MappedFile(a).text() == MappedFile(b).text(); }

/// Whether two names lead to the same file, but not as two hard links: removing one name removes the other's file.
bool is_the_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && fs::hard_link_count(a, error) == 1;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// Merges one run.
class RunMerge {
 public:
  RunMerge(const fs::path& from, const fs::path& runs, const MergeSettings& settings)
      : from_(from), to_(runs / from.filename()), settings_(settings) {}

  MergedRun merge() {
    result_.id = to_.filename().string();
    if (!is_run_name(result_.id)) {
      result_.id = Json(result_.id).dump(-1, ' ', true, Json::error_handler_t::replace);
      return outcome(MergeOutcome::kDamaged, "it is not named like a run: MODEL-DATASET-HASH");
    }
    try {
      std::error_code ignored;
      if (fs::equivalent(from_, to_, ignored)) return outcome(MergeOutcome::kSame, moves() ? "it is this folder" : "");
      if (lies_in(fs::weakly_canonical(to_), fs::canonical(from_))) {
        return outcome(MergeOutcome::kDamaged, "it contains the folder of runs");
      }
      if (has_live_worker(from_)) return outcome(MergeOutcome::kRunning, "a worker is running it there");
      const std::string before = journal_mark(from_);
      const bool added = !fs::exists(to_) && add();
      if (!added) take_news();
      if (settings_.dry_run || !is_taken_in() || !fs::exists(from_)) return result_;
      if (!added) copy_program_code(read_run(from_), folder_of(to_));
      std::optional<AppendPause> pause;
      if (moves()) pause.emplace(RunPaths{from_}.journal());
      if (journal_mark(from_) != before || (moves() && (has_live_worker(from_) || !is_all_here()))) {
        return outcome(MergeOutcome::kRunning, "it changed there meanwhile: merge again");
      }
      if (moves()) remove_there();
    } catch (const RunLockedError&) {
      return outcome(MergeOutcome::kRunning, "a worker is running it");
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

  /// Whether the run there is now here.
  bool is_taken_in() const {
    return result_.outcome == MergeOutcome::kAdded || result_.outcome == MergeOutcome::kUpdated ||
           result_.outcome == MergeOutcome::kSame;
  }

  /// The same, checked by the files before they are removed there.
  bool is_all_here() const {
    const JournalVerdict verdict = compare_runs(to_, from_);
    return (verdict.relation == JournalRelation::kSame || verdict.relation == JournalRelation::kShorter) &&
           verdict.text.empty() && news_of(from_, to_, false).empty();
  }

  /// Removes the run there if all of it is here. It stays if a sweep still reads it, if files here are those there, or
  /// if a user's file there differs from the one here.
  void remove_there() {
    const RunsInUse in_use(folder_of(from_), RunsInUse::By::kMove);
    if (!in_use.held()) return stays("a sweep is using it");
    if (has_checkpoint_files(from_) && !has_checkpoint_files(to_)) return stays("its checkpoints are not here");
    const fs::path there = fs::canonical(from_);
    for (const fs::path& file : run_files(to_)) {
      if (lies_in(fs::canonical(to_ / file), there)) return stays(file.string() + " here is a link to it");
    }
    for (const fs::path& file : run_files(from_)) {
      if (is_the_same_file(from_ / file, to_ / file)) return stays(file.string() + " is the same file here and there");
      if (is_own(file) && !have_same_bytes(from_ / file, to_ / file)) {
        return stays(file.string() + " differs from the one here");
      }
    }
    remove_run_folder(from_);
  }

  void stays(const std::string& why) { result_.note += (result_.note.empty() ? "" : "; ") + why + ": it stays there"; }

  bool moves() const { return settings_.how == MergeHow::kMove; }

  /// Whether a file of the run is a user's.
  bool is_own(const fs::path& file) const {
    return is_users_file(file) && file != kSubmittedName && !(is_programs_file(file) && has_program(from_));
  }

  /// A run that is moved is soon gone there, so its models and checkpoints need not be copied.
  CopySettings copying() const {
    return {.link = settings_.how != MergeHow::kCopy && !has_program(from_), .should_stop = settings_.should_stop};
  }

  /// Returns false if another process has created the run here meanwhile.
  bool add() {
    const Run run = read_run(from_);  // fails if the run is damaged
    outcome(MergeOutcome::kAdded);
    const std::vector<fs::path> files = run_files(from_);
    if (settings_.dry_run) return true;
    copy_program_code(run, folder_of(to_));
    if (moves() && moved_at_once()) return true;
    const StagedFolder staged(to_, kStagePrefix);
    if (!copy_run_files(from_, files, staged.path(), copying())) {
      outcome(MergeOutcome::kUnfinished);
      return true;
    }
    return staged.move_into_place();
  }

  /// Moves the folder in one step if both are on one file system. Not with links: relative ones would lead elsewhere.
  bool moved_at_once() const {
    const RunsInUse in_use(folder_of(from_), RunsInUse::By::kMove);
    if (!in_use.held() || has_links(from_)) return false;
    RunLock lock(from_);
    std::error_code error;
    fs::rename(from_, to_, error);
    if (error) return false;
    sync_folder(folder_of(to_));
    sync_folder(folder_of(from_));
    lock.moved_to(to_);
    remove_unfinished_files(to_);  // a merge that was killed at its lock leaves one
    return true;
  }

  /// Merges a run that is in both places. Compares again under the lock of the run here before it writes. Compares
  /// again if the journal changes meanwhile: evaluations and submissions add to it without a lock.
  void take_news() {
    if (has_live_worker(to_)) throw RunLockedError("");
    if (!settings_.dry_run) {                  // left by a killed merge
      remove_left_folders(to_, kStagePrefix);  // first: moving files out of a folder makes it look new
      remove_unfinished_files(to_);
    }
    std::optional<RunLock> lock;
    for (int attempt = 0; attempt < kMergeAttempts;) {
      const std::string mark = journal_mark(to_);
      const JournalVerdict verdict = compare_runs(to_, from_);
      const bool untouched = verdict.relation == JournalRelation::kConflicting;
      const RunNews found = untouched ? RunNews() : news_of(from_, to_, verdict.relation == JournalRelation::kLonger);
      judge(verdict, found);
      if (settings_.dry_run || (verdict.text.empty() && found.empty())) return;
      if (!lock) {
        lock.emplace(to_);
        continue;
      }
      if (take_in(verdict.text, found, mark, *lock)) return;
      ++attempt;
    }
    outcome(MergeOutcome::kRunning, "other processes keep adding to its journal here: merge again");
  }

  void judge(const JournalVerdict& verdict, const RunNews& found) {
    const bool updates =
        !verdict.text.empty();  // also of kSame and kShorter: the run belongs to more experiments there
    if (verdict.relation == JournalRelation::kConflicting) {
      outcome(MergeOutcome::kConflict, "done in both places, with different results");
    } else if (verdict.relation == JournalRelation::kDoneTwice) {
      outcome(MergeOutcome::kDoneTwice,
              "done in both places, with the same results" + (found.empty() ? "" : "; " + found.note() + " copied"));
    } else {
      outcome(updates || !found.empty() ? MergeOutcome::kUpdated : MergeOutcome::kSame, updates ? "" : found.note());
    }
  }

  /// Copies everything first, then puts each part in place in one step. Returns false, with an untouched journal, if
  /// the journal no longer has the mark `mark`.
  bool take_in(const std::string& journal, const RunNews& found, const std::string& mark, const RunLock& lock) {
    const StagedFolder staged(to_ / "merged", kStagePrefix);
    const auto copy = [&](const std::vector<fs::path>& files) {
      return copy_run_files(from_, files, staged.path(), copying());
    };
    const bool copied = copy(found.before) && copy(found.state) && copy(found.after);
    if (!journal.empty()) write_file(RunPaths{staged.path()}.journal(), journal);
    if (!copied || (settings_.should_stop && settings_.should_stop())) {
      outcome(MergeOutcome::kUnfinished);
      return true;
    }
    if (!lock.still_owner()) throw RunLockedError("");
    if (journal_mark(to_) != mark) return false;
    put(found.before, staged.path());
    if (journal.empty()) {
      put_state(found, staged.path());
    } else {
      const AppendPause pause(RunPaths{to_}.journal());
      if (journal_mark(to_) != mark) return false;  // the next attempt puts the rest in place again
      put_state(found, staged.path());              // first: the next merge replaces it again if this one is killed
      put({RunPaths{""}.journal()}, staged.path());
    }
    put(found.after, staged.path());
    return true;
  }

  /// Puts files in place, each or each folder in one step. Folders that the program writes whole, such as a model, are
  /// replaced whole but for users' files, except for checkpoints. `whole`: all folders are, with users' files.
  void put(const std::vector<fs::path>& files, const fs::path& staged, bool whole = false) const {
    std::set<fs::path> folders;
    for (const fs::path& file : files) {
      const bool alone = !whole && (is_users_file(file) || to_ / *file.begin() == RunPaths{to_}.checkpoints());
      if (!alone && file.has_parent_path()) folders.insert(*file.begin());
    }
    for (const fs::path& folder : folders) {
      if (!whole) keep_users_files(folder, staged);
      replace_folder(staged / folder, to_ / folder);
    }
    for (const fs::path& file : files) {
      if (file.has_parent_path() && folders.contains(*file.begin())) continue;
      create_folders((to_ / file).parent_path());
      put_file(staged / file, to_ / file);
    }
  }

  void put_state(const RunNews& found, const fs::path& staged) const {
    put(found.state, staged, true);
    for (const fs::path& part : found.dropped) {
      std::error_code error;
      fs::remove_all(to_ / part, error);
      if (error) throw_file_error("remove", to_ / part, error.value());
    }
  }

  /// Copies a user's files from a folder here to the one that will replace it.
  void keep_users_files(const fs::path& folder, const fs::path& staged) const {
    std::vector<fs::path> kept;
    if (!fs::exists(to_ / folder)) return;
    for (const fs::path& file : run_files(to_)) {
      if (*file.begin() == folder && is_users_file(file)) kept.push_back(file);
    }
    copy_run_files(to_, kept, staged, {.link = true, .should_stop = nullptr});
  }

  /// The folder here may be a link to another disk.
  static void put_file(const fs::path& staged, const fs::path& target) {
    std::error_code error;
    fs::rename(staged, target, error);
    if (error == std::errc::cross_device_link) {
      const MappedFile content(staged);
      write_file(target, content.text());
    } else if (error) {
      throw_file_error("create", target, error.value());
    }
    sync_folder(target.parent_path());
  }

  const fs::path& from_;
  fs::path to_;
  const MergeSettings& settings_;
  MergedRun result_;
};

/// What a user has to know of the record of a search.
std::string search_note(const MergedSearch& search) {
  std::vector<std::string> parts;
  if (search.added > 0) parts.push_back(counted(search.added, "trial") + " added");
  if (!search.differing.empty()) {
    parts.push_back(fmt::format("trial{} {}: another setting was asked for there, and that here counts",
                                search.differing.size() == 1 ? "" : "s", fmt::join(search.differing, ", ")));
  }
  for (const std::string& file : search.damaged) parts.push_back(file + " is damaged");
  return join(parts, "; ");
}

/// The records of searches, of lines and of registered claims in the folders that hold these runs.
void merge_records_next_to(const std::vector<fs::path>& folders, const fs::path& runs, const MergeSettings& settings) {
  std::set<fs::path> sources;
  for (const fs::path& folder : folders) sources.insert(folder.parent_path());
  for (const fs::path& source : sources) {
    if (settings.should_stop && settings.should_stop()) return;
    if (!settings.dry_run) merge_registrations(source, runs);
    std::vector<MergedRecord> records = merge_lines(source, runs, settings.dry_run);
    for (const MergedSearch& search : merge_searches(source, runs, settings.dry_run)) {
      const bool is_conflict = !search.differing.empty() || !search.damaged.empty();
      records.push_back({"search", search.name, search_note(search), is_conflict});
    }
    for (const MergedRecord& record : records) {
      if (settings.record) settings.record(record);
    }
  }
}

}  // namespace

std::string_view name_of(MergeOutcome outcome) {
  constexpr std::array<std::string_view, 8> kNames{"added",    "updated", "same",    "done twice",
                                                   "conflict", "running", "damaged", "not looked at"};
  return kNames.at(static_cast<std::size_t>(outcome));
}

std::vector<fs::path> find_run_folders(const fs::path& folder) {
  std::vector<fs::path> found;
  fs::path root = fs::absolute(folder).lexically_normal();
  if (!root.has_filename()) root = root.parent_path();  // "runs/" has the name runs
  collect_run_folders(root, kDepth, found);
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
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
  // First: with its runs and without its record, a search could ask for other trials.
  merge_records_next_to(folders, runs, settings);
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
  const StagedFolder staged(runs / "unpacked", kUnpackPrefix);
  const fs::path content = staged.path() / "content";  // a run in the archive's root has no name
  create_folders(content);
  const Unpacked found = unpack(archive, content, settings.should_stop);
  if (!found.whole) return {{.id = archive.filename().string(), .outcome = MergeOutcome::kUnfinished, .note = ""}};
  std::vector<fs::path> folders = find_run_folders(content);
  std::vector<MergedRun> incomplete;
  for (const fs::path& name : found.skipped) {
    const auto run =
        std::ranges::find_if(folders, [&](const fs::path& folder) { return lies_in(content / name, folder); });
    if (run == folders.end()) continue;
    incomplete.push_back({.id = run->filename().string(),
                          .outcome = MergeOutcome::kDamaged,
                          .note = fmt::format("{} is a link in the archive: pack with tar -h to include its target",
                                              name.filename().string())});
    folders.erase(run);
  }
  std::set<fs::path> collections;
  for (const fs::path& folder : folders) {
    remove_temporary_files(folder);
    collections.insert(folder.parent_path());
  }
  for (const fs::path& collection : collections) restore_unpacked_programs(collection);
  MergeSettings moving = settings;
  moving.how = MergeHow::kMove;  // the unpacked files are temporary
  std::vector<MergedRun> merged = merge_runs(folders, runs, moving);
  merged.insert(merged.end(), incomplete.begin(), incomplete.end());
  return merged;
}

}  // namespace xlm
