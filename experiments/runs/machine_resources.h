// What the machine offers to runs: processor cores and GPUs. Free of torch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// CPU cores that this process may use.
std::int64_t available_cores();

/// How many processes of this one's control group, or else of the machine, the kernel has killed so far for want of
/// memory; 0 where it does not say.
std::int64_t memory_kills();

/// The main memory that a cluster has given to the job of this process, in bytes; 0: it does not say, or there is none.
double job_memory();

/// Throws ResourceError where this process cannot have so many threads at once: a library that is refused one of its
/// own may wait for it for ever.
void check_threads(std::int64_t count);

/// The GPUs that this process may use, as CUDA_VISIBLE_DEVICES names them; found without torch.
std::vector<std::string> visible_gpus();

}  // namespace xlm
