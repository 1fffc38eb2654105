// Processes that train one run together, one on each GPU, each with the same weights and some rows of the batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <torch/types.h>

#include "core/api/interface.h"

namespace xlm {

/// All processes make the same calls in the same order. Each call returns when its result is there; it throws
/// LostProcessError if another process has ended, and the group cannot be used after that.
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

  /// Sums float32 or double numbers over all processes, number by number, in place; all get the same bits. The tensor
  /// is contiguous, on any device.
  virtual void sum(const torch::Tensor& values) = 0;
  /// The maximum over all processes, likewise.
  virtual void max(const torch::Tensor& values) = 0;
  /// The tensors of all processes, alike in shape, by rank: [size, …].
  virtual torch::Tensor gather(const torch::Tensor& own) = 0;

  void sum(double* values, std::size_t count);
  void max(double* values, std::size_t count);

 private:
  std::int64_t rank_;
  std::int64_t size_;
};

/// Meets the other processes by NCCL, which is in libtorch's CUDA set; null if there are none. Throws LostProcessError
/// if the first does not come within `patience` or another one ends, Error for a program without NCCL.
std::unique_ptr<ProcessGroup> join(const Processes& processes, torch::Device device);

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
