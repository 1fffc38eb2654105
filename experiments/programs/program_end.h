// How a foreign program ended, and what it used.
#pragma once

#include <cstdint>
#include <string>

namespace xlm {

struct ProgramUsage {
  double wall_seconds = 0;
  /// Of all processes whose end was waited for, by the program or by its watcher; 0 while it runs.
  double processor_seconds = 0;
  /// The most that all its processes had at once, in bytes: the sum of their shares (a page that several share counts
  /// once), looked at about once a second; at least the peak of its largest process. 0 if it ended too soon to be
  /// known.
  double peak_memory = 0;
};

/// Whose memory a program ran out of.
enum class MemoryShortage { kNone, kHost, kDevice };

struct ProgramEnd {
  int code = 0;          // with which its first process exited
  int signal = 0;        // that ended it instead; 0: none
  bool stopped = false;  // by us: ProgramProcess::stop or kill was called before it ended
  bool killed = false;   // it did not end within its grace
  bool watched = true;   // false: what watches it was killed, and how it ended is not known
  MemoryShortage memory = MemoryShortage::kNone;
  std::string memory_sign;      // what tells of that: "the kernel killed it", or a line of its output
  std::int64_t left = 0;        // processes that still ran when its first one ended, and that were ended
  std::int64_t unkillable = 0;  // that not even SIGKILL ends: they wait for a disk, or are another user's
  std::string last_lines;       // of its output, for messages (last_output.h)
  std::string log_failure;      // why output is missing in the log; empty: it is not
  ProgramUsage usage;

  bool is_success() const { return watched && code == 0 && signal == 0; }
};

/// Why it failed, in one line without its output: "exit code 1", "signal 11 (Segmentation fault)", "out of memory: …".
std::string reason_of(const ProgramEnd& end);

/// The same with the last lines of its output.
std::string reason_with_output(const ProgramEnd& end);

/// A reason whose last lines of output, if it has any, are replaced by where they are to be found.
std::string without_output(const std::string& reason);

/// Whether the last lines of an output are those of an exception in Python that nothing caught, or that was printed.
bool ends_with_exception(std::string_view last_lines);

/// The line of a program's last output that says that memory was too small; nothing found: kNone. `line` may be null.
MemoryShortage find_memory_shortage(const std::string& last_lines, std::string* line);

}  // namespace xlm
