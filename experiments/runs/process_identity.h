// Identifies a process on a machine, so that other machines can tell later whether it still lives.
#pragma once

#include <cstdint>
#include <string>

namespace xlm {

/// A process and the cluster job that it is part of. The start time tells it from a later process with the same number.
struct ProcessIdentity {
  std::string host;
  std::string machine;  // boot id and process namespace: process numbers are unique within both
  std::int64_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since boot
  std::string job;            // cluster, job and array task of Slurm; "": no job
  std::int64_t restarts = 0;  // how often the job was put back into its queue

  bool operator==(const ProcessIdentity&) const = default;
};

ProcessIdentity this_process();

/// The process that started this one.
ProcessIdentity parent_process();

enum class Liveness { kAlive, kGone, kUnknown };

/// Whether `process` still runs. Unknown for a process of another machine, with one exception. An earlier start of this
/// process's own job is gone: Slurm restarts a job only after all of it has ended.
Liveness liveness(const ProcessIdentity& process);

}  // namespace xlm
