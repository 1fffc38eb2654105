// A worker as a child process: of a sweep, or one of several that do a run together.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

/// What to start.
struct WorkerCommand {
  std::vector<std::string> arguments;  // the program first
  fs::path log;                        // standard output and error are appended here
  std::string gpu;                     // for CUDA_VISIBLE_DEVICES; empty: as it is
};

/// A running child. It is sent SIGTERM when this process dies, however that happens, so it saves and stops.
class WorkerProcess {
 public:
  /// Throws ResourceError when no process can be made.
  explicit WorkerProcess(const WorkerCommand& command);

  /// How it ended, once it has: an exit code, or 128 + the number of the signal that killed it.
  std::optional<int> ended();

  /// Whether it is halted (SIGSTOP): it is neither at work nor gone.
  bool is_halted() const;

  /// Asks it to save and stop; one that is halted goes on, as it could not do so otherwise.
  void stop() const;
  void kill() const;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  std::optional<int> ended_;
};

}  // namespace xlm
