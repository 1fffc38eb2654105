// Cross-entropy row by row.
#include "core/kernels/row_losses.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels/clones.h"
#include "core/kernels/exponential.h"
#include "core/models/language_model.h"

namespace xlm {
namespace {

constexpr std::int64_t kPiece = 4096;  // of a row, whose sum is made in the logits' own type

template <class T>
XLM_INLINE double log_sum_body(const T* row, std::int64_t width) {
  T maximum = row[0];
#pragma omp simd reduction(max : maximum)
  for (std::int64_t j = 0; j < width; ++j) maximum = std::max(maximum, row[j]);
  double sum = 0;
  for (std::int64_t begin = 0; begin < width; begin += kPiece) {
    const std::int64_t end = std::min(width, begin + kPiece);
    T piece = 0;
#pragma omp simd reduction(+ : piece)
    for (std::int64_t j = begin; j < end; ++j) piece += exponential(row[j] - maximum);
    sum += static_cast<double>(piece);
  }
  return static_cast<double>(maximum) + std::log(sum);
}

/// log Σ exp(row).
XLM_CLONES double log_sum(const float* row, std::int64_t width) { return log_sum_body(row, width); }
double log_sum(const double* row, std::int64_t width) { return log_sum_body(row, width); }

}  // namespace

double summed_row_losses(const torch::Tensor& logits, const torch::Tensor& targets) {
  const bool single = logits.scalar_type() == torch::kFloat;
  if (!logits.device().is_cpu() || (!single && logits.scalar_type() != torch::kDouble)) {
    const torch::Tensor losses = torch::nn::functional::cross_entropy(
        logits.to(torch::kFloat).flatten(0, -2), targets.flatten(),
        torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kNoTarget).reduction(torch::kNone));
    return losses.to(torch::kDouble).sum().item<double>();
  }
  const torch::Tensor rows = logits.detach().flatten(0, -2).contiguous();  // [rows, V]
  const torch::Tensor wanted = targets.flatten().contiguous();             // [rows]
  const std::int64_t* target = wanted.const_data_ptr<std::int64_t>();
  const std::int64_t width = rows.size(1);
  std::vector<double> losses(static_cast<std::size_t>(rows.size(0)));
  AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "summed_row_losses", [&] {
    const scalar_t* data = rows.const_data_ptr<scalar_t>();
    at::parallel_for(0, rows.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        if (target[i] < 0) continue;
        const scalar_t* row = data + i * width;
        losses[static_cast<std::size_t>(i)] = log_sum(row, width) - static_cast<double>(row[target[i]]);
      }
    });
  });
  double sum = 0;
  for (const double loss : losses) sum += loss;  // one order whatever the threads
  return sum;
}

}  // namespace xlm
