// How much memory there is to be had.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/files.h"

namespace xlm {

/// There is less memory than the work needs, however little of it is done at once (otherwise: MemoryError).
class MemoryLimitError : public ResourceError {
 public:
  using ResourceError::ResourceError;
};

/// Bytes of main memory that this process may use at most: the machine's, or what its control group (a job of a
/// cluster, a container) may have, if that is less. `root` holds proc and sys.
std::uint64_t memory_limit(const fs::path& root = "/");

/// Bytes of address space and of data that this process may have (`ulimit -v`, `ulimit -d`); RLIM_INFINITY: any number.
struct ProcessLimits {
  std::uint64_t address_space;
  std::uint64_t data;

  bool any() const;
};

ProcessLimits process_limits();

}  // namespace xlm
