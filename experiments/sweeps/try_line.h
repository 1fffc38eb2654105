// A line of tries: a folder RUNS/lines/NAME whose journal remembers what was tried, in which order, against what, and
// what came of it. Several commands may try at once.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "experiments/sweeps/try_budget.h"

namespace xlm {

/// What a try is known by: the same command continues the same try.
struct TryQuestion {
  std::string change;  // its run with the first seed
  std::string base;    // the same
  std::string value;
  double min_gain = 0;
  std::int64_t seeds = 0;
  std::int64_t noise = 0;

  Json json() const;
};

/// Fresh pairs, and the one-sided level at which they are judged.
struct TryConfirmation {
  std::vector<std::int64_t> seeds;
  double level = 0;
};

struct TryRecord {
  std::int64_t number = 0;  // from 1, in the order of the line
  Json question;
  double time = 0;  // when it began, in seconds since 1970
  std::string note;
  std::vector<std::string> differ_in;
  std::optional<TryConfirmation> confirmation;
  std::set<std::string> runs;  // ids of those that it started
  Json outcome;                // null: still open
  bool moved_best = false;     // it was kept against the best of its time

  std::string change() const { return question.value("change", ""); }
  std::string base() const { return question.value("base", ""); }
  bool is_kept() const { return outcome.is_object() && outcome.value("verdict", "") == "keep"; }
};

class TryLine {
 public:
  /// The line of a name below a folder of runs. Nothing is written; a line that is not there has no tries. Throws
  /// UsageError for a name that is no name of a folder.
  TryLine(const fs::path& runs, const std::string& name);

  const std::string& name() const { return name_; }
  const fs::path& folder() const { return folder_; }
  bool exists() const;

  /// As the journal has them now.
  const std::vector<TryRecord>& tries() const { return tries_; }
  /// The run with the first seed of the best so far: the last change that was kept against the best of its time, or
  /// the first base. Empty if there is none.
  std::string best() const;
  /// What the first try that came to its end was against: a base that failed is none. Before that, what the first was.
  std::string first_base() const;
  /// What all its tries have cost, also those that are not at their end: runs that several share count once.
  TryCost cost() const;

  /// The try of a question; it begins if the line does not have it. Throws UsageError if the line is closed.
  TryRecord begin(const TryQuestion& question, const std::string& note, const std::vector<std::string>& differ_in);
  /// Remembers runs that a try starts.
  void note_runs(std::int64_t number, const std::vector<std::string>& ids);
  /// The fresh seeds of a try and their level, decided once: seeds above all that the line has used, and above
  /// `highest`.
  TryConfirmation confirm(std::int64_t number, std::int64_t seeds, std::int64_t highest);
  /// Records the outcome of a try and returns its record. The first one counts.
  TryRecord end(std::int64_t number, const Json& outcome);

  /// Takes the outcome of a try back, so that it goes on.
  TryRecord ask_again(std::int64_t number);

  /// What the test said when the line was closed; null: it is open.
  const Json& closing() const { return closing_; }
  /// From now on the line takes no further try, and its best stays: its test is about to be measured.
  void begin_closing();
  /// What that test said. The first one counts.
  void close(const Json& outcome);

 private:
  void read();
  void add(const Json& record);
  TryRecord& numbered(std::int64_t number);
  template <typename Work>
  void change_journal(const Work& work);

  std::string name_;
  fs::path runs_;
  fs::path folder_;
  std::vector<TryRecord> tries_;
  std::string best_;  // a change that was kept; empty: none
  Json closing_;
  bool is_closing_ = false;
};

/// The names of lines in a folder of runs, sorted, without those of single tries.
std::vector<std::string> line_names(const fs::path& runs);

/// What the name of the line of a single try begins with.
inline constexpr std::string_view kSingleTry = ".try-";

}  // namespace xlm
