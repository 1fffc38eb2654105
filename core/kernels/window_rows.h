// Rows of causal and windowed attention: softmax and gradient of one query's scores for a block of keys, written as the
// operands of the next products.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/kernels/banded_rows.h"
#include "core/kernels/packed_operands.h"

namespace xlm {

/// A row of `count` keys, of which the query sees those from `begin` to `end`.
struct SeenKeys {
  std::int64_t begin, end, count;
};

/// Two queries, one below the other, or one, if T is not bfloat16.
template <class T>
struct WindowRows {
  std::array<SeenKeys, kPair<T>> seen;
  const Sum<T>* log_sums;  // [kPair], log Σ exp(score) of the whole query
  const Sum<T>* dots;      // [kPair], Σ weights · their gradient
};

/// Adds a row of `scores` [count] to its softmax. Writes exp(score − maximum) for the keys that are seen and 0 for the
/// others as part of a left operand. `scores` is changed, and may be `weights`. Returns the factor for what was
/// computed from earlier parts.
template <class T>
Sum<T> window_softmax(Sum<T>* scores, const SeenKeys& seen, RunningSoftmax<Sum<T>>& softmax, T* weights);

/// `scores` and `d_weights`, the gradient of the weights, are rows [kPair, count] and changed. Writes weights and
/// gradient of the scores, as parts of right operands, and the gradient also as part of a left operand.
template <class T>
void window_gradients(Sum<T>* scores, Sum<T>* d_weights, const WindowRows<T>& rows, T* weights, T* d_scores,
                      T* d_scores_left);

}  // namespace xlm
