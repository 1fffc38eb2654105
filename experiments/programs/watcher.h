// The process between a worker and a foreign program: it starts the program, adopts what that leaves, and ends all of
// it when the program or the worker ends.
#pragma once

#include <cstdint>

namespace xlm {

/// All that the watcher needs, prepared by the process that forks it.
struct WatchedCommand {
  const char* file = nullptr;  // for execve, absolute
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* folder = nullptr;
  double grace = 0;       // seconds
  bool stop_all = false;  // the request to stop goes to all processes at once
  int control = -1;       // its end of a socket of packets
  int output = -1;        // where the program's standard output and error go
  int reading = -1;       // the other end of that
  /// What is left in `reading` when the worker is gone goes to the first of these files, or to the second if that has
  /// so many bytes (program_log.h). Null: nowhere.
  const char* log = nullptr;
  const char* log_end = nullptr;
  std::uint64_t log_part = 0;
};

/// What a worker says: one byte. The end of the socket means kKillProgram: the worker is gone.
enum class WatcherOrder : char { kStopProgram = 'T', kKillProgram = 'K' };

/// What the watcher says: one packet when the program has started or could not be, and one when all of it is gone.
struct WatcherReport {
  enum class Kind : std::int32_t { kStarted, kNotStarted, kGone } kind = Kind::kStarted;
  std::int32_t pid = 0;          // of the program's first process
  std::int32_t error = 0;        // errno, if it could not be started
  std::int32_t in_folder = 0;    // 1: it was the folder that could not be entered
  std::int32_t status = 0;       // of the first process, as of waitpid
  std::int32_t stopped = 0;      // 1: it was told to stop or killed before it ended
  std::int32_t killed = 0;       // 1: SIGKILL came after the grace
  std::int64_t left = 0;         // processes that it left behind
  std::int64_t unkillable = 0;   // that still are there
  double processor_seconds = 0;  // of all that were waited for
  double largest = 0;            // peak memory in bytes of the largest that was waited for; 0: not known
};

/// Is called in a child that was just forked with all signals blocked, and never returns. It ends with the program.
[[noreturn]] void run_watcher(const WatchedCommand& command);

}  // namespace xlm
