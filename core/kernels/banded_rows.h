// One row of banded attention: softmax, soft mask, renormalisation and dropout of a query's scores, and their gradient.
#pragma once

#include <cstdint>

#include "core/kernels/dropout.h"

namespace xlm {

/// What one row of a band needs besides its scores.
template <class T>
struct RowSettings {
  std::int64_t band;  // L, the row's length
  T span;             // z of the soft mask
  T ramp;             // R
  bool masked;
  bool dropped;
  Dropout dropout;
  std::uint32_t key;  // of the row's dropout
};

/// What the backward pass needs of a row.
template <class T>
struct RowSums {
  T log_sum;  // log Σ exp(score)
  T kept;     // Σ softmax · mask + ε
};

/// `row` [L] holds scores on entry and attention weights on return, after dropout.
RowSums<float> forward_row(float* row, const RowSettings<float>& settings);
RowSums<double> forward_row(double* row, const RowSettings<double>& settings);

/// On entry `row` [L] holds the scores and `upstream` [L] the gradient of the attention weights (after dropout). On
/// return `row` holds the weights, and `upstream` the gradient of the scores. `dot` is the inner product of both.
/// Returns the gradient of z.
float backward_row(float* row, float* upstream, const RowSettings<float>& settings, const RowSums<float>& sums,
                   float dot);
double backward_row(double* row, double* upstream, const RowSettings<double>& settings, const RowSums<double>& sums,
                    double dot);

}  // namespace xlm
