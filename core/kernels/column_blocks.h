// Work on the columns of a [B, …, D] tensor in blocks, which threads share.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/Parallel.h>

namespace xlm {

inline constexpr std::int64_t kColumnsOfABlock = 128;  // so that one row of the batch feeds many threads

/// Calls f(row of the batch, first column, columns) for pieces of a [B, …, D] tensor, in parallel.
template <class F>
void for_column_blocks(std::int64_t batch, std::int64_t width, F&& f) {
  const std::int64_t blocks = (width + kColumnsOfABlock - 1) / kColumnsOfABlock;
  at::parallel_for(0, batch * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t task = begin; task < end; ++task) {
      const std::int64_t first = task % blocks * kColumnsOfABlock;
      f(task / blocks, first, std::min(kColumnsOfABlock, width - first));
    }
  });
}

}  // namespace xlm
