// A foreign program as a child process, with all that it starts: one group that is watched, measured and ended whole.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "experiments/programs/program_end.h"

namespace xlm {

/// In the environment of every process of a program: the `owner` that it was started for. What a killed worker or
/// watcher left is found by it.
constexpr const char* kOwnerVariable = "XLM_PROGRAM_OF";

/// What to start.
struct ProgramCommand {
  std::vector<std::string> words;                  // the program first; they go to execve as they are, never to a shell
  fs::path folder;                                 // in which it runs
  std::map<std::string, std::string> environment;  // in addition to this process's own; these come first
  fs::path log;                                    // standard output and error (program_log.h); empty: none
  /// Gets the same bytes as they come, in pieces that may end anywhere; may be empty. It is called from `poll`.
  std::function<void(std::string_view)> output;
  /// Tells programs of one run from those of others: the run folder, absolute. What an earlier attempt left with the
  /// same owner on this machine is killed before this one starts. Empty: it has none.
  std::string owner;
  std::chrono::duration<double> grace{60};  // between SIGTERM and SIGKILL
  bool stop_all = false;                    // SIGTERM goes to all its processes at once
  /// How many processes the kernel has killed so far because there was no memory
  /// (experiments/runs/machine_resources.h); may be empty.
  std::function<std::int64_t()> memory_kills;
};

/// A program that runs. It has no standard input and no terminal. Its processes are all that it starts, also those that
/// leave its session or whose parents end. A watcher, a separate process, adopts those. It ends them all when the
/// program ends, when it is asked to, and when this process dies, however that happens. No file that this process has
/// open is open in them.
class ProgramProcess {
 public:
  /// Starts it. Throws UsageError for a command or a folder that is not there or cannot be run, ResourceError if no
  /// process can be made.
  explicit ProgramProcess(ProgramCommand command);
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;
  /// Kills what still runs, and waits for its end.
  ~ProgramProcess();

  /// Waits for output or the end, no longer than this, and hands on what came. Returns whether it still runs: false
  /// once no process of it is left and all output was handed on. What `output` throws passes on. Call it several times
  /// a second: a program whose output is not taken waits.
  bool poll(std::chrono::milliseconds longest);

  /// Asks it to save and stop: SIGTERM to its first process, after half of `grace` to the others, or at once if that
  /// dies of it or with `stop_all`; and SIGKILL after `grace` to those that are left. It returns at once; a second call
  /// has no effect.
  void stop();

  /// Ends it at once.
  void kill();

  /// How it ended, once `poll` has returned false.
  const ProgramEnd& end() const;

  /// What it has used so far.
  ProgramUsage usage() const;

  /// Of its first process, which leads its session.
  pid_t pid() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace xlm
