// Processes that do one run together, each with the same weights and some rows of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/api/interface.h"

namespace xlm {

/// What is asked of all processes in the same order. Each call throws LostProcessError where another process has
/// ended; none may be called after that.
class ProcessGroup {
 public:
  ProcessGroup(std::int64_t rank, std::int64_t size) : rank_(rank), size_(size) {}
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  virtual ~ProcessGroup() = default;

  std::int64_t rank() const { return rank_; }
  std::int64_t size() const { return size_; }
  /// Rank 0: the one that writes.
  bool is_first() const { return rank_ == 0; }

  /// Adds up over all processes, number by number, in place; all get the same bits.
  virtual void sum(float* values, std::size_t count) = 0;
  virtual void sum(double* values, std::size_t count) = 0;
  /// The largest of all processes.
  virtual void max(double* values, std::size_t count) = 0;
  /// Puts the `bytes` of every process into `all`, by rank.
  virtual void gather(const void* own, std::size_t bytes, void* all) = 0;

 private:
  std::int64_t rank_;
  std::int64_t size_;
};

/// Meets the others; null where there are none. Throws LostProcessError where not all come while `patience` lasts.
std::unique_ptr<ProcessGroup> join(const Processes& processes);

/// Rows [begin, begin + count) of all.
struct OwnRows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
/// Those of `rows` that the process of a rank has, of `size` processes.
OwnRows rows_of(std::int64_t rank, std::int64_t size, std::int64_t rows);
/// Those of this process; null: all.
OwnRows own_rows(const ProcessGroup* group, std::int64_t rows);

}  // namespace xlm
