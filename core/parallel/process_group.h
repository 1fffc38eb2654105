// Processes that train one run together, each with the same weights and some rows of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/api/interface.h"

namespace xlm {

/// All processes make the same calls in the same order. Each call throws LostProcessError if another process has ended;
/// the group cannot be used after that.
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

  /// Sums over all processes, number by number, in place; all get the same bits.
  virtual void sum(float* values, std::size_t count) = 0;
  virtual void sum(double* values, std::size_t count) = 0;
  /// The maximum over all processes, number by number, in place.
  virtual void max(double* values, std::size_t count) = 0;
  /// Puts the `bytes` of every process into `all`, by rank.
  virtual void gather(const void* own, std::size_t bytes, void* all) = 0;

 private:
  std::int64_t rank_;
  std::int64_t size_;
};

/// Meets the other processes; null if there are none. Throws LostProcessError if not all arrive within `patience`.
std::unique_ptr<ProcessGroup> join(const Processes& processes);

/// Rows [begin, begin + count) of all.
struct OwnRows {
  std::int64_t begin = 0;
  std::int64_t count = 0;
};
/// The rows of the process of a rank, of `size` processes.
OwnRows rows_of(std::int64_t rank, std::int64_t size, std::int64_t rows);
/// The rows of this process; without a group all.
OwnRows own_rows(const ProcessGroup* group, std::int64_t rows);

}  // namespace xlm
