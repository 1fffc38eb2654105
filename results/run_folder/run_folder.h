// A run folder as the rest of the program sees it: where its files are, and what its journal adds up to.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// Where things are in a run folder.
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

/// The state of a run. All but `stale` are written in the journal. A run is stale if its journal says that it is
/// running and its process is gone.
enum class RunStatus { kQueued, kRunning, kDone, kFailed, kDiverged, kPreempted, kPruned, kStale };
inline constexpr std::array<std::string_view, 8> kRunStatusNames{"queued",   "running",   "done",   "failed",
                                                                 "diverged", "preempted", "pruned", "stale"};
inline std::string_view name_of(RunStatus status) { return kRunStatusNames[static_cast<std::size_t>(status)]; }

/// Whether a run stays as it is until somebody asks for it anew.
inline bool has_ended(RunStatus status) {
  return status == RunStatus::kDone || status == RunStatus::kFailed || status == RunStatus::kDiverged ||
         status == RunStatus::kPruned;
}

/// Tells whether a live process holds the run of a folder. Without one (null) every running run is taken to be alive.
using AliveCheck = std::function<bool(const fs::path& run_folder)>;

/// A change of state, in the order of the journal. Times are seconds since 1970.
struct RunState {
  double time = 0;
  std::string state;
  std::string reason;
  std::string host;
  std::vector<std::string> hosts = {};  // of its processes, where they are on several
  std::int64_t pid = 0;
  std::string job;               // of a cluster's queue; empty: none
  std::string cause;             // why an attempt ended that did not end by itself: name_of(EndCause)
  std::int64_t micro_batch = 0;  // rows that the next attempt computes at once; 0: as configured
  double memory = 0;             // bytes that an attempt had which ran out of memory; 0: not known
};

/// Why an attempt at a run ended before the run was done.
enum class EndCause {
  kMemory,  // out of memory, of the host or of a GPU
  kTime,    // its time was over
  kNode,    // its machine failed
  kKilled,  // killed, by whom and why is not known
  kGone,    // its worker is gone without a trace
  kError,   // an error of its own
};
inline constexpr std::array<std::string_view, 6> kEndCauseNames{"memory", "time", "node", "killed", "gone", "error"};
inline std::string_view name_of(EndCause cause) { return kEndCauseNames[static_cast<std::size_t>(cause)]; }

/// Settings by dotted key.
using SettingList = std::vector<std::pair<std::string, Json>>;

/// "data.name=pg-19@model.overlap=20": what follows the @ in the name of an evaluation's column.
std::string at_text(const SettingList& at);

/// The name of a corpus: "wiki40b-fi" where it has a language.
std::string data_name(const std::string& dataset, const std::string& language);

/// An evaluation that a sweep wants of a run once its training is done.
struct WantedEvaluation {
  std::string split;
  SettingList changes;  // data.path, eval.…, model.overlap, …: what differs from the run's own, sorted by key

  bool operator==(const WantedEvaluation&) const = default;
};

/// One evaluation of a split.
struct RunEvaluation {
  std::string split;
  std::int64_t step = 0;
  double time = 0;
  bool final = false;  // made with the weights that became model/
  bool main = false;   // shown as "split.metric": the newest final one that was made with the run's own settings
  Json settings = Json::object();
  SettingList at;  // those of the settings that are not the run's own, sorted by key; data by their name
  std::map<std::string, double> values;  // with tokens, loss and seconds among them
};

/// Numbers for each of the first tokens of a split, such as the span that heads had there.
struct RunTrace {
  std::vector<std::string> tokens;
  std::map<std::string, std::vector<double>> values;  // by name, a number per token
};

/// A table of numbers that a model reports, such as the span of every head. NaN where there is no number.
struct RunGrid {
  std::vector<std::vector<double>> rows;  // which may differ in length
  std::vector<std::int64_t> columns;      // what the columns stand for, such as distances; empty: 1, 2, …

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
  double seconds = 0;  // that it took to save; 0: not known
};

/// A run, read from its folder.
struct Run {
  std::string id;  // the folder's name
  fs::path folder;
  std::vector<std::pair<std::string, Json>>
      params;                                   // resolved configuration, dotted keys; and data.name, data.fingerprint
  std::map<std::string, std::string> contents;  // by key, what a setting that is a path stands for, wherever it lies
  Json environment = Json::object();
  RunStatus status = RunStatus::kQueued;
  std::string reason;                    // why it failed, diverged or stopped
  std::string experiment;                // the one it was made for; empty: none
  std::vector<std::string> experiments;  // all it belongs to, sorted
  std::optional<double> created;
  std::optional<double> finished;  // set where it has ended
  std::int64_t step = 0;           // the last that the journal speaks of
  std::vector<RunState> history;
  std::int64_t micro_batch = 0;  // rows computed at once since memory was too small for more; 0: as configured
  std::map<std::string, RunSeries> metrics;  // by name
  std::vector<RunEvaluation> evaluations;    // by split, step and settings
  std::map<std::string, double> costs;
  std::map<std::string, std::map<std::int64_t, RunGrid>> grids;  // by name and step
  std::map<std::string, RunTrace> traces;                        // by split
  std::vector<RunCheckpoint> checkpoints;
  std::vector<WantedEvaluation> wanted;
  bool is_evaluation = false;       // not trained here: the folder holds evaluations of a model folder
  std::int64_t journal_bytes = -1;  // that were read; -1 without a journal
  std::int64_t malformed = 0;       // journal lines that could not be understood, and were left out

  /// The value of a resolved key, or null.
  const Json* param(std::string_view key) const;
  /// The same, of a setting that names a file what that holds, as evaluations give it; null if the run has no such key.
  Json own_value(const std::string& key) const;

  /// The grid of this name that belongs to the weights that became the model, until then the newest; null: there is
  /// none.
  const RunGrid* last_grid(const std::string& name) const;
};

/// The settings of an evaluation of a run that differ from the run's own. What the run does not configure makes no
/// difference. Other data go by their name, or by their fingerprint where the name is the run's own.
SettingList differing_settings(const Run& run, const Json& settings);

/// Reads a run folder. Without a journal the run is queued. Malformed lines of the journal are counted and left out. So
/// are, uncounted, records that a worker wrote after another had taken its run over. Throws DataError that names the
/// file where the configuration is missing or malformed.
Run read_run(const fs::path& folder, const AliveCheck& is_alive = nullptr);

/// The run as it is once `record`, with its type and time, stands at the end of its journal.
Run read_run_with(const fs::path& folder, const Json& record);

/// Changes whenever the journal of a run does: who looks often reads it again only then.
std::string journal_mark(const fs::path& folder);

}  // namespace xlm
