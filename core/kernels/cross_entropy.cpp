// Cross-entropy piece by piece.
#include "core/kernels/cross_entropy.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/kernels/linear.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd.h"
#include "core/kernels/tiled_gemm.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kManySymbols = 1024;  // fewer logits are smaller than what is saved elsewhere
constexpr std::int64_t kPieceRows = 512;     // predictions whose logits are there at a time: 100 MB of GPT-2's
constexpr std::int64_t kSummed = 4096;       // of a row, whose sum is made in the logits' own type

/// log Σ exp(row); where kSoftmax, the row becomes its softmax.
template <int n, bool kSoftmax, class T>
XLM_SIMD_INLINE double log_sum_body(std::conditional_t<kSoftmax, T, const T>* row, std::int64_t width) {
  constexpr T kLeast = std::numeric_limits<T>::lowest();
  Vector<T, n> largest = Vector<T, n>{} + kLeast;
  for (std::int64_t j = 0; j < width; j += n) {
    const Vector<T, n> x = load<n>(row + j, width - j, kLeast);
    largest = x > largest ? x : largest;
  }
  const T maximum = largest_lane(largest);
  double sum = 0;
  for (std::int64_t begin = 0; begin < width; begin += kSummed) {
    const std::int64_t end = std::min(width, begin + kSummed);
    Vector<T, n> sums{};
    for (std::int64_t j = begin; j < end; j += n) {
      const Vector<T, n> power = exponential<n>(load<n>(row + j, end - j, kLeast) - maximum);
      if constexpr (kSoftmax) store<n>(power, end - j, row + j);
      sums += power;
    }
    sum += static_cast<double>(sum_of_lanes(sums));
  }
  if constexpr (kSoftmax) {
    const T scale = static_cast<T>(1 / sum);
    for (std::int64_t j = 0; j < width; j += n) {
      store<n>(load<n>(row + j, width - j, T{0}) * scale, width - j, row + j);
    }
  }
  return static_cast<double>(maximum) + std::log(sum);
}

template <int n, class T>
XLM_SIMD_INLINE double log_sum_of(const T* row, std::int64_t width) {
  return log_sum_body<n, false, T>(row, width);
}
template <int n, class T>
XLM_SIMD_INLINE double softmax_in_place_of(T* row, std::int64_t width) {
  return log_sum_body<n, true, T>(row, width);
}

XLM_SIMD_VERSIONS(double, log_sum, (const float* row, std::int64_t width), (row, width))
XLM_SIMD_VERSIONS(double, softmax_in_place, (float* row, std::int64_t width), (row, width))
double log_sum(const double* row, std::int64_t width) { return log_sum_of<2>(row, width); }
double softmax_in_place(double* row, std::int64_t width) { return softmax_in_place_of<2>(row, width); }

/// The losses of rows of logits [n, V] against targets [n], on the CPU; where `gradient`, the logits become theirs.
void row_losses(const Tensor& logits, const Tensor& targets, bool gradient, double* losses) {
  const std::int64_t width = logits.size(1);
  const std::int64_t* target = targets.const_data_ptr<std::int64_t>();
  AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "row_losses", [&] {
    scalar_t* data = logits.data_ptr<scalar_t>();
    at::parallel_for(0, logits.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        scalar_t* row = data + i * width;
        if (target[i] == kNoTarget) {
          if (gradient) std::fill(row, row + width, scalar_t{0});
          losses[i] = 0;
          continue;
        }
        const auto wanted = static_cast<double>(row[target[i]]);
        losses[i] = (gradient ? softmax_in_place(row, width) : log_sum(row, width)) - wanted;
        if (gradient) row[target[i]] -= 1;
      }
    });
  });
}

/// Whether autocast asks for products in a lower precision that are faster for it.
bool has_lower_products(const Tensor& weight) {
  return at::autocast::is_autocast_enabled(torch::kCPU) && !autocast_lacks_products(weight);
}

struct HeadGradients {
  Tensor hidden, weight, bias;
};

/// Makes the loss of some rows after others, and their gradients where they are wanted.
class PieceByPiece {
 public:
  PieceByPiece(const Tensor& weight, const std::optional<Tensor>& bias, bool gradient)
      : weight_(weight),
        bias_(bias),
        gradient_(gradient),
        type_(has_lower_products(weight) ? at::autocast::get_autocast_dtype(torch::kCPU) : weight.scalar_type()),
        tiled_(type_ == torch::kFloat),
        factor_(weight.to(type_)) {}

  /// hidden [m, k] and targets [m], on the CPU, hidden in the weight's precision.
  double run(const Tensor& hidden, const Tensor& targets) {
    const std::int64_t count = hidden.size(0);
    std::optional<RightMatrix> across;  // [k, V]
    std::optional<RightMatrix> along;   // [V, k]
    if (tiled_) across = RightMatrix::transpose_of(weight_);
    if (tiled_ && gradient_) along.emplace(weight_);
    const Tensor buffer = torch::empty({std::min(count, kPieceRows), weight_.size(0)}, hidden.options());
    if (gradient_) {
      found_ = {.hidden = torch::empty_like(hidden), .weight = torch::zeros_like(weight_)};
      if (bias_) found_.bias = torch::zeros_like(*bias_);
    }
    std::vector<double> losses(static_cast<std::size_t>(count));
    for (std::int64_t begin = 0; begin < count; begin += kPieceRows) {
      const std::int64_t rows = std::min(kPieceRows, count - begin);
      const Tensor x = hidden.narrow(0, begin, rows);
      const Tensor logits = buffer.narrow(0, 0, rows);  // [rows, V], then their gradient
      if (tiled_) {
        rows_product(x, *across, bias_, logits);
      } else {
        logits.copy_(torch::matmul(x.to(type_), factor_.t()));
        if (bias_) logits.add_(*bias_);
      }
      row_losses(logits, targets.narrow(0, begin, rows), gradient_, losses.data() + begin);
      if (gradient_) add_gradients(x, logits, along, begin);
    }
    double sum = 0;
    for (const double loss : losses) sum += loss;  // one order whatever the threads
    return sum;
  }

  const HeadGradients& gradients() const { return found_; }

 private:
  void add_gradients(const Tensor& x, const Tensor& of_logits, const std::optional<RightMatrix>& along,
                     std::int64_t begin) {
    const Tensor of_x = found_.hidden.narrow(0, begin, x.size(0));
    if (along) {
      rows_product(of_logits, *along, std::nullopt, of_x);
      weight_gradient(of_logits, x, found_.weight, true);
    } else {
      const Tensor lowered = of_logits.to(type_);
      of_x.copy_(torch::matmul(lowered, factor_));
      found_.weight.add_(torch::matmul(lowered.t(), x.to(type_)));
    }
    if (bias_) found_.bias.add_(of_logits.sum(0));
  }

  Tensor weight_;
  std::optional<Tensor> bias_;
  bool gradient_;
  torch::ScalarType type_;  // of the products: the weight's, or autocast's
  bool tiled_;
  Tensor factor_;  // the weight in that type
  HeadGradients found_;
};

class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Tensor& targets, bool gradient) {
    PieceByPiece pieces(weight, bias, gradient);
    const double loss = pieces.run(hidden, targets);
    // Kept as data: they are no inputs or outputs, which is what saved variables are for.
    context->saved_data["hidden"] = pieces.gradients().hidden;
    context->saved_data["weight"] = pieces.gradients().weight;
    if (bias) context->saved_data["bias"] = pieces.gradients().bias;
    return torch::scalar_tensor(loss, torch::kDouble);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const auto scaled = [&](const char* name) {
      const auto found = context->saved_data.find(name);
      if (found == context->saved_data.end()) return Tensor();
      const Tensor gradient = found->second.toTensor();
      return gradient.defined() ? gradient * upstream[0].to(gradient.scalar_type()) : Tensor();
    };
    return {scaled("hidden"), scaled("weight"), scaled("bias"), Tensor(), Tensor()};
  }
};

bool goes_by_pieces(const Tensor& hidden, const Tensor& weight) {
  return weight.defined() && weight.size(0) >= kManySymbols && weight.device().is_cpu() && hidden.numel() > 0 &&
         (weight.scalar_type() == torch::kFloat || weight.scalar_type() == torch::kDouble);
}

}  // namespace

Tensor plain_summed_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias,
                                  const Tensor& targets) {
  Tensor logits = weight.defined() ? linear_layer(hidden, weight, bias) : hidden;
  if (logits.scalar_type() != torch::kDouble) logits = logits.to(torch::kFloat);
  const Tensor losses = torch::nn::functional::cross_entropy(
      logits.flatten(0, -2), targets.flatten(),
      torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kNoTarget).reduction(torch::kNone));
  return losses.to(torch::kDouble).sum();
}

Tensor summed_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets) {
  if (!goes_by_pieces(hidden, weight)) return plain_summed_cross_entropy(hidden, weight, bias, targets);
  const bool gradient = torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
  const Tensor rows = hidden.to(weight.scalar_type()).reshape({-1, hidden.size(-1)}).contiguous();
  return CrossEntropy::apply(rows, weight.contiguous(),
                             bias.defined() ? std::optional(bias.contiguous()) : std::nullopt,
                             targets.flatten().contiguous(), gradient);
}

}  // namespace xlm
