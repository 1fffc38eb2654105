// A run folder for the rest of the program: where its files are, and what its journal adds up to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

struct RunPaths {
  fs::path folder;

  fs::path config() const { return folder / "config.yaml"; }
  fs::path environment() const { return folder / "environment.json"; }
  fs::path journal() const { return folder / "journal.jsonl"; }
  fs::path log() const { return folder / "log.txt"; }
  fs::path checkpoints() const { return folder / "checkpoints"; }
  fs::path model() const { return folder / "model"; }
  fs::path tensorboard() const { return folder / "tensorboard"; }
};

/// The state of a run. The journal has all states but `stale`: a run is stale if its journal has it as running and its
/// process is gone.
enum class RunStatus { kQueued, kRunning, kDone, kFailed, kDiverged, kPreempted, kPruned, kStale };
inline constexpr std::array<std::string_view, 8> kRunStatusNames{"queued",   "running",   "done",   "failed",
                                                                 "diverged", "preempted", "pruned", "stale"};
inline std::string_view name_of(RunStatus status) { return kRunStatusNames[static_cast<std::size_t>(status)]; }

/// Whether a run stays as it is until a user asks for it again.
inline bool has_ended(RunStatus status) {
  return status == RunStatus::kDone || status == RunStatus::kFailed || status == RunStatus::kDiverged ||
         status == RunStatus::kPruned;
}

/// In the reason of a run that has not failed, this begins what lists show: its numbers are not all there, say.
inline constexpr std::string_view kWarning = "warning: ";
/// Adds one to a reason.
void add_warning(std::string& reason, const std::string& warning);
/// Of a run that is done and whose final numbers are none, as of one that diverged.
inline constexpr std::string_view kNotFinite = "is no finite number";
inline bool is_warning(std::string_view reason) { return reason.find(kWarning) != std::string_view::npos; }

/// Whether a live process holds the run of a folder. If this is null, every running run counts as alive.
using AliveCheck = std::function<bool(const fs::path& run_folder)>;

/// A change of state, in the journal's order. Times are seconds since 1970.
struct RunState {
  double time = 0;
  std::string state;
  std::string reason;
  std::string host;
  std::vector<std::string> hosts = {};  // of its processes, if they are on several hosts
  std::int64_t pid = 0;
  std::string job;                               // in a cluster's queue; empty: none
  std::string cause;                             // why an attempt did not end by itself: name_of(EndCause)
  std::int64_t micro_batch = 0;                  // rows that the next attempt computes at once; 0: as configured
  double memory = 0;                             // bytes that an attempt had when it ran out of memory; 0: unknown
  std::optional<double> seconds = std::nullopt;  // how long the attempt ran that ends with it, as its process measured
  double last_sign = 0;                          // when the attempt that begins with it wrote its last record
};

/// The step of a checkpoint in words. A program's checkpoint is seen some time after it was saved.
std::string checkpoint_words(std::int64_t step, bool of_program);

/// Why an attempt ended before the run was done.
enum class EndCause {
  kMemory,  // out of memory, of the host or of a GPU
  kTime,    // its time ended
  kNode,    // its machine failed
  kKilled,  // killed for an unknown reason
  kGone,    // its worker exited without a final record
  kError,   // an error in the run
};
inline constexpr std::array<std::string_view, 6> kEndCauseNames{"memory", "time", "node", "killed", "gone", "error"};
inline std::string_view name_of(EndCause cause) { return kEndCauseNames[static_cast<std::size_t>(cause)]; }

/// Settings by dotted key.
using SettingList = std::vector<std::pair<std::string, Json>>;

/// Adds what an object holds to `out`, with `prefix` before its keys. Nested maps become dotted keys; lists stay
/// values.
void flatten(const Json& value, const std::string& prefix, SettingList& out);

/// "data.name=pg-19@model.overlap=20": the part after the @ in the name of an evaluation's column.
std::string at_text(const SettingList& at);

/// The name of a corpus: "wiki40b-fi" if it has a language.
std::string data_name(const std::string& dataset, const std::string& language);

/// The resolved key for the size of the training split, in tokens; runs of older programs lack it.
inline constexpr const char* kTrainTokens = "data.train_tokens";

/// The beginning of the resolved key for the text of a split as decoded: the same for characters, bytes and byte pairs.
inline constexpr std::string_view kTextOf = "data.text.";

/// The beginning of a resolved key that says which runs of another sweep chose the value of KEY: best_of.KEY.
inline constexpr std::string_view kChosenPrefix = "best_of.";

/// Its value where no run has chosen, but the recipe's fallback stands.
inline constexpr std::string_view kChosenByNone = "fallback";

/// The resolved key for the content of a program's code, 16 digits: versions of one program differ in it.
inline constexpr const char* kProgramFingerprint = "program.fingerprint";

/// A hash of the version of Python and the packages with which a program ran, 8 digits. It makes no other setting.
inline constexpr const char* kPackages = "program.packages";

/// The variables of the shell that a program reads, with their values: "LR=0.1, WIDTH=64". They make no other setting.
inline constexpr const char* kVariables = "program.variables";

/// The threads of a run, those of all its processes together: "threads".
inline constexpr const char* kThreads = "threads";

/// The resolved key that names code of a program which is in no frozen copy: an edit of it is no other fingerprint.
inline constexpr const char* kNotFrozen = "program.not_frozen";

/// Its value for files and their SHA-256: "mine/model.py (3fa9c1d2)", "mine/model.py and 3 others (3fa9c1d2)". The same
/// on each machine where the last two parts of their names are.
std::string not_frozen_text(const std::map<std::string, std::string>& files);

/// The resolved key for how a program's numbers were read.
inline constexpr const char* kMetricsParam = "program.metrics";

/// The beginning of a resolved key that says which way a quantity is better that the program does not know:
/// program.better.NAME is lower or higher.
inline constexpr std::string_view kDirectionPrefix = "program.better.";

/// The value of a chosen key for ids of runs.
std::string chosen_by(const std::vector<std::string>& runs);

/// An evaluation that a sweep wants of a trained run.
struct WantedEvaluation {
  std::string split;
  SettingList changes;  // settings that differ from the run's own, sorted by key: data.path, eval.…, model.overlap, …
  Json program = {};    // of a program's run: what evaluation_command.h reads; null: core makes it

  bool operator==(const WantedEvaluation&) const = default;
};

/// Settings of an evaluation by a program's second command: a hash of that command, which is never shown, and its name.
inline constexpr const char* kEvaluationCommand = "evaluation.command";
inline constexpr const char* kEvaluationName = "evaluation.name";

struct RunEvaluation {
  std::string split;
  std::int64_t step = 0;
  double time = 0;
  bool final = false;  // of the weights that became model/
  bool main = false;   // shown as "split.metric": the newest final one with the run's own settings
  Json settings = Json::object();
  SettingList at;                              // settings that differ from the run's own, sorted by key; data by name
  std::map<std::string, double> values;        // including tokens, loss, seconds and flops
  std::set<std::string> not_finite = {};       // names of others, whose numbers JSON does not have
  std::map<std::string, double> carried = {};  // of a main one: the last that others of its split say, and it does not

  /// What the columns "split.metric" hold, if this is the main one.
  std::map<std::string, double> numbers() const {
    std::map<std::string, double> all = values;
    all.insert(carried.begin(), carried.end());
    return all;
  }
};

/// Numbers for each of the first tokens of a split, such as the span of heads.
struct RunTrace {
  std::vector<std::string> tokens;
  std::map<std::string, std::vector<double>> values;  // by name, a number per token
};

/// The losses of the parts of a split, from its newest evaluation with the run's own settings that kept them.
struct RunLosses {
  std::int64_t step = 0;             // of the weights
  bool of_documents = false;         // otherwise parts are stretches of equal length
  std::int64_t each = 0;             // documents of a part, or tokens of a stretch
  std::vector<std::int64_t> tokens;  // scored in each part
  std::vector<double> sums;          // of their losses, in nats

  /// Whether both are of parts of the same kinds and sizes. They can be compared one by one if their texts are the
  /// same, too: callers compare data.fingerprint.
  bool has_parts_of(const RunLosses& other) const {
    return of_documents == other.of_documents && each == other.each && tokens == other.tokens;
  }
};

/// What parts are of, as journals name it.
inline constexpr std::array<std::string_view, 2> kPartNames{"documents", "tokens"};

/// A table of numbers that a model reports, such as the span of every head. NaN means no number.
struct RunGrid {
  std::vector<std::vector<double>> rows;  // may differ in length
  std::vector<std::int64_t> columns;      // meaning of the columns, such as distances; empty: 1, 2, …

  std::int64_t column(std::size_t index) const {
    return columns.empty() ? static_cast<std::int64_t>(index) + 1 : columns[index];
  }
};

/// Numbers by step.
using RunSeries = boost::container::flat_map<std::int64_t, double>;

struct RunCheckpoint {
  std::int64_t step = 0;
  double time = 0;
  std::string file;
  double seconds = 0;  // time to save it; 0: unknown
};

struct Run {
  std::string id;  // the folder's name
  fs::path folder;
  std::vector<std::pair<std::string, Json>>
      params;  // resolved configuration by dotted key, with data.name and data.fingerprint
  std::map<std::string, std::string> outside;   // files of a program's code that are in no copy, and their SHA-256
  std::map<std::string, std::string> contents;  // for a setting that is a path: a name of its content, wherever it is
  Json environment = Json::object();
  std::string parent;            // the run from whose checkpoint it goes on; empty: none
  std::int64_t parent_step = 0;  // of that checkpoint
  RunStatus status = RunStatus::kQueued;
  std::string reason;                    // why it failed, diverged or stopped, or a warning
  std::vector<std::string> lasting;      // of its warnings those that reading its numbers again does not change
  std::string experiment;                // the run was made for it; empty: none
  std::vector<std::string> experiments;  // all that have the run, sorted
  std::optional<double> created;
  std::optional<double> started;   // when a worker first had it
  std::optional<double> finished;  // set if it has ended
  std::int64_t step = 0;           // the last in the journal
  std::vector<RunState> history;
  std::int64_t micro_batch = 0;              // rows computed at once since memory ran out; 0: as configured
  std::map<std::string, RunSeries> metrics;  // by name
  std::vector<RunEvaluation> evaluations;    // by split, step and settings
  std::map<std::string, double> costs;
  std::map<std::string, std::map<std::int64_t, RunGrid>> grids;  // by name and step
  std::map<std::string, RunTrace> traces;                        // by split
  std::map<std::string, RunLosses> losses;                       // by split
  std::vector<RunCheckpoint> checkpoints;
  std::vector<WantedEvaluation> wanted;
  std::vector<std::string> tags;    // that people gave it, sorted
  std::string note;                 // what people say of it; empty: nothing
  std::string bad;                  // why it is left out of tables and figures; empty: it is not
  bool is_evaluation = false;       // no training: the folder holds evaluations of a model folder
  std::int64_t journal_bytes = -1;  // bytes read; -1: no journal
  std::int64_t malformed = 0;       // unreadable journal lines, left out

  /// The value of a resolved key, or null.
  const Json* param(std::string_view key) const;
  /// The same value as evaluations record it: for a setting that names a file, the file's content. Null if the run has
  /// no such key.
  Json own_value(const std::string& key) const;

  /// The grid of this name for the weights that became the model; before that, the newest. Null if there is none.
  const RunGrid* last_grid(const std::string& name) const;
};

/// The main evaluation of a split, or null.
inline const RunEvaluation* main_evaluation(const Run& run, const std::string& split) {
  for (const RunEvaluation& evaluation : run.evaluations) {
    if (evaluation.main && evaluation.split == split) return &evaluation;
  }
  return nullptr;
}

bool is_of_program(const Run& run);

/// Reads a run folder. A run without a journal is queued. Counts malformed lines of the journal and leaves them out.
/// Also leaves out, uncounted, records of a worker written after another had taken its run over. Throws DataError with
/// the file's name if the configuration is missing or malformed.
Run read_run(const fs::path& folder, const AliveCheck& is_alive = nullptr);

/// The run as it will be with `record`, its type and its time at the end of its journal.
Run read_run_with(const fs::path& folder, const Json& record);

/// A text that changes if the run's journal changes. Frequent readers read the journal again only then.
std::string journal_mark(const fs::path& folder);

}  // namespace xlm
