// One row of banded attention: softmax, soft mask, renormalisation and dropout of a query's scores, and their gradient.
#pragma once

#include <cstdint>
#include <limits>

#include "core/kernels/dropout.h"

namespace xlm {

/// What one row of a band needs besides its scores.
template <class T>
struct RowSettings {
  std::int64_t band;  // L, the row's length
  T span = 0;         // z of the soft mask
  T ramp = 1;         // R
  bool masked = false;
  bool dropped = false;
  Dropout dropout{0};
  std::uint32_t key = 0;  // of the row's dropout
};

/// What the backward pass needs of a row.
template <class T>
struct RowSums {
  T log_sum;   // log Σ exp(score)
  T kept = 1;  // Σ softmax · mask + ε
};

/// `row` [L] holds scores on entry and attention weights on return, after dropout.
RowSums<float> forward_row(float* row, const RowSettings<float>& settings);
RowSums<double> forward_row(double* row, const RowSettings<double>& settings);

/// Σ a·b.
float dot_product(const float* a, const float* b, std::int64_t count);
double dot_product(const double* a, const double* b, std::int64_t count);

/// A softmax whose scores arrive in parts.
template <class T>
struct RunningSoftmax {
  T maximum = std::numeric_limits<T>::lowest();
  T sum = 0;  // Σ exp(score − maximum)
};

/// Adds a part of a row: `row` [count] holds scores on entry and exp(score − maximum) on return, count ≥ 1. Returns the
/// factor for what was computed from earlier parts with a smaller maximum.
float add_to_softmax(float* row, std::int64_t count, RunningSoftmax<float>& softmax);
double add_to_softmax(double* row, std::int64_t count, RunningSoftmax<double>& softmax);

/// On entry `row` [L] holds the scores and `upstream` [L] the gradient of the attention weights (after dropout). On
/// return `row` holds the weights, and `upstream` the gradient of the scores. `dot` is the inner product of both.
/// Returns the gradient of z.
float backward_row(float* row, float* upstream, const RowSettings<float>& settings, const RowSums<float>& sums,
                   float dot);
double backward_row(double* row, double* upstream, const RowSettings<double>& settings, const RowSums<double>& sums,
                    double dot);

}  // namespace xlm
