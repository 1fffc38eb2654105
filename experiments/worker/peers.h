// The other processes of a run that several do together.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/api/interface.h"
#include "experiments/worker/attempt_end.h"
#include "experiments/worker/worker_process.h"

namespace xlm {

/// How a process ends that has lost the others, and one that ran out of memory in a step. Its own errors have their
/// usual exit codes.
constexpr int kLostOthers = 76;
constexpr int kOutOfMemoryAmidStep = 77;

/// Leaves its own error where the processes meet, for the first one to say: it may come to lose this one before
/// it meets the same error. Where that cannot be written, the exit code is all there is.
void leave_word(const Processes& self, const Error& error);

/// Likewise how many rows of the batch it computed at once when it ran out of memory.
void leave_rows(const Processes& self, std::int64_t rows);

/// Processes of rank 1 and up, started next to this one, which is rank 0. They end with it, whatever becomes of it:
/// they are sent SIGTERM.
class Peers {
 public:
  /// Starts `count` − 1 processes `program worker RUN --rank R --meeting FOLDER …` of a run folder, with so many
  /// threads each; none for a count of 1. What they say goes into the run's log. `should_stop` is asked while this one
  /// waits for them; `note` is told of each that is halted then. Throws Error when a process cannot be started.
  Peers(const fs::path& run_folder, const std::string& program, std::int64_t count, std::int64_t threads,
        std::function<bool()> should_stop, std::function<void(const std::string&)> note = {});
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  /// What this process is among them.
  const Processes& first() const { return first_; }

  /// Asks them to stop.
  void stop();

  /// How the first of them ended that did so by itself and otherwise than well; waits for that for a moment; nullopt
  /// if none did.
  std::optional<AttemptEnd> lost();

 private:
  bool has_lost_one();
  void tell_of_halted();
  void end_all();
  std::string word_of(std::int64_t rank) const;   // empty if it left none
  std::int64_t rows_of(std::int64_t rank) const;  // 0 if it left none

  fs::path meeting_;
  Processes first_;
  std::vector<std::unique_ptr<WorkerProcess>> others_;
  std::vector<bool> halted_;  // each of them, when last looked at
  std::function<void(const std::string&)> note_;
  std::int64_t memory_kills_ = 0;  // that the system knew of when they were started
};

/// Removes the meeting places that killed processes have left in a run folder, whose lock the caller holds.
void remove_left_meetings(const fs::path& run_folder);

}  // namespace xlm
