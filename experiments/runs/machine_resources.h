// What the machine offers to runs: threads, memory and GPUs. Free of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// Threads of each of the `processes` of a run whose train.threads is 0: as many as the user's OMP_NUM_THREADS says (of
/// a list, its first number), or else the run's `share` of the cores, 0 for all, divided among them.
std::int64_t default_threads(std::int64_t share, std::int64_t processes);

/// How many processes the kernel has killed so far because memory ran out: in this process's control group, or else on
/// the machine. 0 if the system does not report it.
std::int64_t memory_kills();

/// Bytes of main memory that the cluster gave to the job of this process. 0 if unknown, or if there is no job.
double job_memory();

/// Throws ResourceError if this process cannot start `count` threads. A library that cannot start one may wait forever.
void check_threads(std::int64_t count);

/// The GPUs that this process may use: those that variables name (named_gpus), otherwise all. Found without torch.
std::vector<std::string> visible_gpus();

}  // namespace xlm
