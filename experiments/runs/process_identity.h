// Which process on which machine: enough to tell, later and from elsewhere, whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace xlm {

/// A process, told apart from a later one with the same number by the time at which it started.
struct ProcessIdentity {
  std::string host;
  std::string machine;  // boot id and process namespace: where numbers of processes mean the same
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since boot

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();

enum class Liveness { kAlive, kGone, kUnknown };

/// Whether `process` still runs; unknown for a process of another machine.
Liveness liveness(const ProcessIdentity& process);

}  // namespace xlm
