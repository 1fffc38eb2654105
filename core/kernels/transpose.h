// Transposes of matrices in memory.
#pragma once

#include <cstdint>

namespace xlm {

/// out[k, i] = in[i, k] for a [rows, columns] matrix; strides are the elements between rows of each.
void transpose(const float* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, float* out,
               std::int64_t out_stride);
void transpose(const double* in, std::int64_t in_stride, std::int64_t rows, std::int64_t columns, double* out,
               std::int64_t out_stride);

}  // namespace xlm
