// Where a run's results go: into its journal and log, and onto the screen of the user who waits for it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/progress.h"
#include "core/api/interface.h"
#include "experiments/runs/run_lock.h"
#include "results/exports/event_file.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// The lock was taken over by another worker: this one must stop and write nothing more.
class LostRunError : public Error {
 public:
  using Error::Error;
};

/// The screen of a run; none for a worker in the background.
struct Screen {
  std::FILE* file = nullptr;
  Terminal terminal;
};

class JournalSink : public TrainSink {
 public:
  struct Settings {
    Screen screen;
    std::function<bool()> should_stop;
    std::function<double()> clock = monotonic_seconds;  // for train.max_hours and rates
    std::int64_t pause = 0;                             // the step after whose evaluation training stops; 0: none
    std::optional<double> began = {};                   // by `clock`, when train.max_hours began to count; nullopt: now
  };

  /// How much there is to do, and how it is shown.
  struct Extent {
    double steps = 0;
    double tokens_per_step = 0;
    double max_seconds = 0;    // of this process; 0: no limit
    bool tensorboard = false;  // whether event files are written
    bool times_steps = false;  // whether metrics come as their steps end: those of programs come when they are read
  };

  /// `lock` is held on `run` and outlives the sink.
  JournalSink(const RunPaths& run, const RunLock& lock, Settings settings);

  /// Called before training.
  void begin(const Extent& extent);
  /// The lock's fencing token.
  std::int64_t token() const { return lock_.token(); }
  /// What is done once when training is first told to stop.
  void when_stopping(std::function<void()> action) { when_stopping_ = std::move(action); }
  /// A change of state, durable, after checking that the run is still ours.
  void state(RunStatus status, const Json& more = Json::object());
  /// What was reported before does not count, or is kept, as the record says (journal.h).
  void reread(const Json& record) { journal_.append(kReread, record); }
  /// What was reported of these names from this step on does not count.
  void go_back(std::int64_t step, const std::vector<std::string>& names) {
    journal_.append(kBack, {{"step", step}, {"names", names}});
  }
  /// All records so far are on the disk when this returns.
  void sync();
  /// From now on evaluations are on the disk only after sync_evaluations, which is to be called about once a second: a
  /// program may report one at every step. What reads a program's output again after a power failure loses none.
  void batch_evaluations() { batches_evaluations_ = true; }
  void sync_evaluations();
  /// A line for log.txt alone.
  void log(const std::string& text);
  /// Files of a program's code that are in no copy, with their SHA-256.
  void outside_code(const std::map<std::string, std::string>& files);
  /// Ends the bar on the screen.
  void finish();
  /// Keeps what lists are to say of the run besides its status, once the attempt has ended by itself.
  void warn_at_end(const std::string& text) { lasting_warnings_.push_back(text); }
  /// The same of how its numbers were read: reading them again may give others.
  void warn_of_reading(const std::string& text) { warnings_of_reading_.push_back(text); }
  const std::vector<std::string>& lasting_warnings() const { return lasting_warnings_; }
  const std::vector<std::string>& warnings_of_reading() const { return warnings_of_reading_; }
  /// Whether it has stopped where Settings::pause says.
  bool has_paused() const { return settings_.pause > 0 && evaluated_step_ >= settings_.pause; }
  /// Whether a user has asked for this run alone to be stopped.
  bool was_asked_to_stop() const { return asked_to_stop_; }

  void progress(std::int64_t step, const NamedValues& values) override;
  void metrics(std::int64_t step, const NamedValues& values) override;
  void grid(std::int64_t step, const Grid& grid) override;
  void evaluation(const Evaluation& evaluation) override;
  void costs(const NamedValues& values) override;
  void saving() override;
  void checkpoint(std::int64_t step, const fs::path& file) override;
  void message(const std::string& text) override;
  void check_owner() override;
  bool should_stop() override;
  void evaluating(const std::string& split, double scored, double total) override;

 private:
  bool is_to_stop();
  void note(const std::string& line);
  void time_steps(std::int64_t step);
  std::optional<double> last_step_seconds() const;
  void show_in_tensorboard(std::int64_t step, const std::string& group, const NamedValues& values);
  std::string detail(std::int64_t step, const NamedValues& values) const;

  RunPaths run_;
  const RunLock& lock_;
  Settings settings_;
  double began_;
  double max_seconds_ = 0;               // of this process; 0: no limit
  std::optional<double> running_since_;  // by the clock of the settings
  double tokens_per_step_ = 0;
  bool times_steps_ = false;
  std::int64_t first_step_ = -1;      // of this process, minus one
  std::int64_t evaluated_step_ = -1;  // of this process, on validation
  bool batches_evaluations_ = false;
  bool has_unsynced_evaluations_ = false;
  std::int64_t saved_step_ = -1;  // of the newest checkpoint that this process wrote
  double first_time_ = 0;
  struct TimedStep {
    std::int64_t step = 0;
    double time = 0;
  };
  std::optional<TimedStep> timed_from_;  // the metrics before, if nothing but steps has come since
  std::deque<double> step_times_;        // seconds for each step between metrics, of the last ones
  std::optional<double> saving_since_;   // while a checkpoint is being made
  double next_look_ = 0;                 // for a request to stop
  bool asked_to_stop_ = false;
  std::function<void()> when_stopping_;
  std::vector<std::string> lasting_warnings_;
  std::vector<std::string> warnings_of_reading_;
  Journal journal_;
  AppendFile log_;
  std::unique_ptr<Progress> progress_;
  struct EvaluationBar {
    std::string split;
    double scored = 0;
    std::unique_ptr<Progress> bar;
  };
  std::optional<EvaluationBar> evaluating_;  // in the place of the other bar
  std::unique_ptr<EventFile> events_;        // for TensorBoard, where it is asked for
  bool has_events_ = false;
};

}  // namespace xlm
