// The memory that this process may use.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/files.h"

namespace xlm {

/// There is less memory than the work needs, even if it is done in the smallest parts (otherwise: MemoryError).
class MemoryLimitError : public ResourceError {
 public:
  using ResourceError::ResourceError;
};

/// Memory ran out in a step that computed `rows` rows of a batch at once: fewer may do.
class StepMemoryError : public MemoryError {
 public:
  StepMemoryError(const std::string& message, std::int64_t rows) : MemoryError(message), rows_(rows) {}
  std::int64_t rows() const { return rows_; }

 private:
  std::int64_t rows_;
};

/// Bytes of main memory that this process may use at most: those of the machine, or of its control group (a cluster
/// job, a container) if that is less. `root` contains proc and sys.
std::uint64_t memory_limit(const fs::path& root = "/");

/// Bytes of address space and of data that this process may use (`ulimit -v`, `ulimit -d`); RLIM_INFINITY: no limit.
struct ProcessLimits {
  std::uint64_t address_space;
  std::uint64_t data;

  bool any() const;
};

ProcessLimits process_limits();

}  // namespace xlm
