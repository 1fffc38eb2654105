// What a worker runs: the work of one attempt at a run, and of the evaluations that are wanted of it. Core is one kind
// of work. Another is a file with another class, and a line in make_work.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/api/interface.h"
#include "experiments/worker/attempt_end.h"
#include "experiments/worker/journal_sink.h"
#include "experiments/worker/missing_evaluations.h"

namespace xlm {

struct WorkSettings {
  std::int64_t threads = 0;          // for a run that has not started and whose train.threads is 0; 0: all cores
  bool retry = false;                // try a diverged run again from its last finite checkpoint
  bool anyway = false;               // resume with another program or kind of device than the run began with
  std::vector<std::string> command;  // for environment.json
  JournalSink::Settings sink;
  LockSettings lock;
};

/// What runs the attempt, or a part of it, ended without saying so itself.
class LostAttemptError : public Error {
 public:
  explicit LostAttemptError(AttemptEnd how) : Error(how.reason, how.code), end(std::move(how)) {}

  AttemptEnd end;
};

/// The runner has the run's lock, and journals how an attempt ends. An object serves one attempt, and is destroyed when
/// that is journaled: it then ends what it has started.
class Work {
 public:
  virtual ~Work() = default;

  /// Makes one attempt at the run, from its newest checkpoint on, until it is done or `sink` says that it is to stop.
  /// Calls begin_attempt (experiments/worker/environment.h) before it starts anything; results go to `sink`. Throws
  /// LostAttemptError, and as core does (core/api/interface.h).
  virtual TrainOutcome run(const Run& run, JournalSink& sink) = 0;

  /// Makes the missing evaluations of a run that is done.
  virtual EvaluationsReport evaluate(const Run& run, JournalSink& sink) = 0;
};

/// The work that a run asks for. `open_core` is called when core has something to do; it outlives the work, as
/// `settings` do.
std::unique_ptr<Work> make_work(const Run& run, const std::function<Core&()>& open_core, const WorkSettings& settings);

}  // namespace xlm
