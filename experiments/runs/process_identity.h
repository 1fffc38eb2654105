// Which process on which machine: enough to tell, later and from elsewhere, whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace xlm {

/// A process, told apart from a later one with the same number by the time at which it started; and the job of a
/// cluster that it is part of.
struct ProcessIdentity {
  std::string host;
  std::string machine;  // boot id and process namespace: where numbers of processes mean the same
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since boot
  std::string job;            // cluster, job and array task of Slurm; "": no job
  std::int64_t restarts = 0;  // of that job: it has been put back into its queue so often

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();

/// The process that started this one.
ProcessIdentity parent_process();

enum class Liveness { kAlive, kGone, kUnknown };

/// Whether `process` still runs; unknown for a process of another machine, unless it belonged to an earlier start of
/// this process's own job: Slurm starts a job again only when all of it has ended.
Liveness liveness(const ProcessIdentity& process);

}  // namespace xlm
