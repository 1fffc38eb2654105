// Cross-entropy in pieces.
#include "core/kernels/cross_entropy.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "core/kernels/kernel_table.h"
#include "core/kernels/kernel_trial.h"
#include "core/kernels/linear.h"
#include "core/kernels/mixed_product.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd.h"
#include "core/kernels/tiled_gemm.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kPieceRows = 512;  // predictions whose logits are there at a time: 100 MB of GPT-2's
constexpr std::int64_t kSummed = 4096;    // of a row, whose sum is made in the logits' own type
constexpr std::int64_t kPieceLogits = std::int64_t{1} << 26;     // of the composed version by default
constexpr std::int64_t kGpuPieceLogits = std::int64_t{1} << 28;  // with the GPU's own kernel: 537 MB in bfloat16
constexpr std::int64_t kGpuMultiple = 64;                        // of symbols: 50,304 for GPT-2's 50,257

/// log Σ exp(row); with kSoftmax the row becomes its softmax.
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

/// The losses of rows of logits [n, V] against targets [n], on the CPU; if `gradient`, the logits become their
/// gradient.
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

struct HeadGradients {
  Tensor hidden, weight, bias;
};

/// The losses [n] of logits [n, stride] in bfloat16, of which the first `symbols` count; if `gradient`, the logits
/// become their gradient.
Tensor row_losses_by(RowKernels& kernels, const Tensor& logits, std::int64_t symbols, const Tensor& targets,
                     bool gradient) {
  const Tensor wanted = targets.contiguous();
  const Tensor losses = torch::empty({logits.size(0)}, logits.options().dtype(torch::kFloat).requires_grad(false));
  if (logits.size(0) == 0) return losses;
  kernels.losses({.logits = reinterpret_cast<band::Half*>(logits.data_ptr<c10::BFloat16>()),
                  .targets = reinterpret_cast<const long long*>(wanted.const_data_ptr<std::int64_t>()),
                  .losses = losses.data_ptr<float>(),
                  .rows = static_cast<int>(logits.size(0)),
                  .symbols = static_cast<int>(symbols),
                  .stride = logits.stride(0),
                  .gradient = gradient});
  return losses;
}

/// Computes the loss of some rows after others, and their gradients if they are wanted: without `pieces` on the CPU
/// with this program's loops, hidden states in the weight's precision; with them by libtorch's operations, on the
/// device where the weight lies. With `kernels` among these the program's own kernel of a GPU computes losses and their
/// gradients from logits in bfloat16, in their place.
class PieceByPiece {
 public:
  PieceByPiece(const Tensor& weight, const std::optional<Tensor>& bias, bool gradient,
               const std::optional<LogitPieces>& pieces)
      : own_(!pieces),
        pieces_(pieces.value_or(LogitPieces{.rows = kPieceRows})),
        gradient_(gradient),
        type_(type_of_products(weight)),
        symbols_(weight.size(0)),
        added_((pieces_.multiple - symbols_ % pieces_.multiple) % pieces_.multiple),
        factor_(filled(weight.to(type_))) {
    if (bias) bias_ = filled(*bias);
    const bool tiled = own_ && type_ == torch::kFloat;
    if (tiled) across_.emplace(weight, true);
    if (tiled && gradient) along_.emplace(weight);
  }

  /// hidden [m, k] and targets [m]; the loss in double precision.
  Tensor run(const Tensor& hidden, const Tensor& targets) {
    // Autocast would turn everything but the products to float32 anyway, and cast the products again.
    const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
    if (gradient_) {
      const torch::TensorOptions options = hidden.options().requires_grad(false);
      found_ = {.hidden = torch::empty_like(hidden, options), .weight = torch::zeros(factor_.sizes(), options)};
      if (bias_) found_.bias = torch::zeros_like(*bias_);
    }
    Tensor sum = torch::zeros({}, hidden.options().dtype(torch::kDouble).requires_grad(false));
    for (std::int64_t begin = 0; begin < hidden.size(0); begin += pieces_.rows) {
      const std::int64_t count = std::min(pieces_.rows, hidden.size(0) - begin);
      const Tensor x = hidden.narrow(0, begin, count);
      const Tensor wanted = targets.narrow(0, begin, count);
      if (own_) {
        add_own_losses(x, wanted, begin);
      } else {
        sum += loss_of(x, wanted, begin);
      }
    }
    return own_ ? torch::scalar_tensor(own_sum_, torch::kDouble) : sum;
  }

  /// Without the symbols that were added as padding.
  HeadGradients gradients() const {
    HeadGradients found = found_;
    for (Tensor* gradient : {&found.weight, &found.bias}) {
      if (gradient->defined()) *gradient = gradient->narrow(0, 0, symbols_);
    }
    return found;
  }

 private:
  void add_own_losses(const Tensor& x, const Tensor& targets, std::int64_t begin) {
    if (!buffer_.defined()) buffer_ = torch::empty({x.size(0), symbols_}, x.options());
    const Tensor logits = buffer_.narrow(0, 0, x.size(0));  // [rows, V], then their gradient
    if (across_) {
      rows_product(x, *across_, bias_, logits);
    } else {
      logits.copy_(torch::matmul(x.to(type_), factor_.t()));
      if (bias_) logits.add_(*bias_);
    }
    std::vector<double> losses(static_cast<std::size_t>(x.size(0)));
    row_losses(logits, targets, gradient_, losses.data());
    for (const double loss : losses) own_sum_ += loss;  // one order for any number of threads
    if (!gradient_) return;
    const Tensor of_x = found_.hidden.narrow(0, begin, x.size(0));
    if (along_) {
      rows_product(logits, *along_, std::nullopt, of_x);
      weight_gradient(logits, x, found_.weight, true);
    } else {
      const Tensor lowered = logits.to(type_);
      of_x.copy_(torch::matmul(lowered, factor_));
      found_.weight.add_(torch::matmul(lowered.t(), x.to(type_)));
    }
    if (bias_) found_.bias.add_(logits.sum(0));
  }

  Tensor filled(const Tensor& x) const {
    std::vector<std::int64_t> ends(2 * static_cast<std::size_t>(x.dim()));
    ends.back() = added_;
    return added_ > 0 ? torch::constant_pad_nd(x, ends) : x;
  }

  Tensor loss_of(const Tensor& hidden, const Tensor& targets, std::int64_t begin) {
    const Tensor counted = targets != kNoTarget;  // [n]
    const Tensor target = targets.masked_fill(~counted, 0).unsqueeze(1);
    // A row that does not count becomes zeros: its logits are finite, and it adds nothing to a sum over rows.
    const Tensor x = hidden.masked_fill(~counted.unsqueeze(1), 0).to(type_);  // [n, k]
    Tensor logits = torch::matmul(x, factor_.t());                            // [n, V and those added]
    if (pieces_.kernels != nullptr) return loss_by_kernel(x, logits, targets, begin);
    if (logits.scalar_type() != torch::kDouble) logits = logits.to(torch::kFloat);
    if (bias_) logits.add_(*bias_);
    if (added_ > 0) logits.narrow(1, symbols_, added_).fill_(-std::numeric_limits<double>::infinity());
    Tensor log_p = torch::log_softmax(logits, 1);
    const Tensor loss = log_p.gather(1, target).squeeze(1).masked_fill(~counted, 0).to(torch::kDouble).sum().neg();
    if (gradient_) add_gradients(x, counted, target, log_p, begin);
    return loss;
  }

  Tensor loss_by_kernel(const Tensor& x, const Tensor& logits, const Tensor& targets, std::int64_t begin) {
    const Tensor losses = row_losses_by(*pieces_.kernels, logits, symbols_, targets, gradient_);
    if (gradient_) {  // of the logits, where they were
      const torch::ScalarType type = found_.weight.scalar_type();
      found_.hidden.narrow(0, begin, x.size(0)).copy_(product_as(logits, factor_, type));
      found_.weight.add_(product_as(logits.t(), x, type));
    }
    return losses.to(torch::kDouble).sum();
  }

  /// `log_p` becomes the gradient of the logits.
  void add_gradients(const Tensor& x, const Tensor& counted, const Tensor& target, Tensor& log_p, std::int64_t begin) {
    const Tensor of_logits = log_p.exp_().scatter_add_(1, target, torch::full_like(target, -1, log_p.options()));
    const Tensor lowered = of_logits.to(type_);
    const torch::ScalarType type = found_.weight.scalar_type();
    found_.hidden.narrow(0, begin, x.size(0))
        .copy_(product_as(lowered, factor_, type).masked_fill_(~counted.unsqueeze(1), 0));
    if (type_ == type) {
      found_.weight.addmm_(lowered.t(), x);
    } else {
      found_.weight.add_(product_as(lowered.t(), x, type));
    }
    if (bias_) found_.bias.add_(torch::mv(of_logits.t(), counted.to(of_logits.scalar_type())));
  }

  bool own_;
  LogitPieces pieces_;
  bool gradient_;
  torch::ScalarType type_;  // of the products: the weight's, or autocast's
  std::int64_t symbols_;    // V
  std::int64_t added_;      // behind them
  Tensor factor_;           // the weight in that type, rows of zeros behind it
  std::optional<Tensor> bias_;
  std::optional<RightMatrix> across_;  // [k, V]
  std::optional<RightMatrix> along_;   // [V, k]
  Tensor buffer_;                      // of logits, as many as a piece has
  double own_sum_ = 0;
  HeadGradients found_;
};

/// The loss, with its gradients in the same pass.
class CrossEntropy : public torch::autograd::Function<CrossEntropy> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& weight,
                        const std::optional<Tensor>& bias, const Tensor& targets, bool gradient,
                        const std::optional<LogitPieces>& pieces) {
    PieceByPiece pass(weight, bias, gradient, pieces);
    Tensor loss = pass.run(hidden, targets);
    // As data: saved variables are only for inputs and outputs.
    const HeadGradients found = pass.gradients();
    context->saved_data["hidden"] = found.hidden;
    context->saved_data["weight"] = found.weight;
    if (found.bias.defined()) context->saved_data["bias"] = found.bias;
    return loss;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    variable_list result;
    for (const char* name : {"hidden", "weight", "bias"}) {
      const auto found = context->saved_data.find(name);
      const Tensor gradient = found == context->saved_data.end() ? Tensor() : found->second.toTensor();
      result.push_back(gradient.defined() ? gradient * upstream[0].to(gradient.scalar_type()) : gradient);
    }
    result.resize(6);
    return result;
  }
};

bool wants_gradient(const Tensor& hidden, const Tensor& weight) {
  return torch::GradMode::is_enabled() && (hidden.requires_grad() || weight.requires_grad());
}

KernelVersion choose_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias) {
  KernelCall call = kernel_call(hidden);
  call.bias = bias.defined();
  call.symbols = weight.defined() ? weight.size(0) : 0;
  if (weight.defined()) call.type = weight.scalar_type();
  return choose_kernel(Operation::kCrossEntropy, call);
}

}  // namespace

std::string find_loss_fault(RowKernels& kernels, torch::Device device) {
  constexpr double kTolerance = 0.02;  // several times the roundings of bfloat16
  constexpr std::int64_t kRows = 6;
  constexpr std::int64_t kSymbols = 2003;
  at::Generator generator = at::detail::createCPUGenerator(20191);  // the run's numbers are not shifted
  const Tensor logits = (torch::randn({kRows, kSymbols + 5}, generator) * 3)
                            .to(device)
                            .to(torch::kBFloat16);  // the last five are padding
  const Tensor targets =
      torch::tensor({std::int64_t{5}, kSymbols - 1, kNoTarget, std::int64_t{0}, std::int64_t{17}, std::int64_t{1024}})
          .to(device);
  const Tensor leaf = logits.narrow(1, 0, kSymbols).to(torch::kFloat).detach().set_requires_grad(true);
  const Tensor expected = torch::nn::functional::cross_entropy(
      leaf, targets, torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kNoTarget).reduction(torch::kNone));
  const Tensor gradient = torch::autograd::grad({expected.sum()}, {leaf})[0];
  const Tensor own = logits.clone();
  const Tensor losses = row_losses_by(kernels, own, kSymbols, targets, true);
  const double off = relative_difference(losses, expected.detach());
  if (!(off <= kTolerance)) return fmt::format("the losses of logits differ by {:.3g} of their size", off);
  const double gradients_off = relative_difference(own.narrow(1, 0, kSymbols), gradient);
  if (!(gradients_off <= kTolerance)) {
    return fmt::format("the gradient of logits differs by {:.3g} of its size", gradients_off);
  }
  return "";
}

const char* obstacle_to_loss_kernels(const KernelCall& call) {
  if (!call.device.is_cuda()) return "the device is no GPU";
  if (!call.autocast) return "products are not bfloat16";
  if (call.bias) return "it has no bias";
  if (call.symbols < 1) return "there are no weights";
  return obstacle_to_row_kernels(call.device, "losses", "cross-entropy=libtorch",
                                 [&](RowKernels& kernels) { return find_loss_fault(kernels, call.device); });
}

Tensor plain_summed_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias,
                                  const Tensor& targets) {
  Tensor logits = weight.defined() ? linear_layer(hidden, weight, bias) : hidden;
  if (logits.scalar_type() != torch::kDouble) logits = logits.to(torch::kFloat);
  const Tensor losses = torch::nn::functional::cross_entropy(
      logits.flatten(0, -2), targets.flatten(),
      torch::nn::functional::CrossEntropyFuncOptions().ignore_index(kNoTarget).reduction(torch::kNone));
  return losses.to(torch::kDouble).sum();
}

Tensor composed_summed_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias,
                                     const Tensor& targets, const LogitPieces& pieces) {
  const std::int64_t rows = pieces.rows > 0 ? pieces.rows : std::max<std::int64_t>(1, kPieceLogits / weight.size(0));
  return CrossEntropy::apply(hidden.to(weight.scalar_type()).reshape({-1, hidden.size(-1)}), weight,
                             bias.defined() ? std::optional(bias) : std::nullopt, targets.flatten(),
                             wants_gradient(hidden, weight),
                             std::optional(LogitPieces{rows, pieces.multiple, pieces.kernels}));
}

Tensor summed_cross_entropy(const Tensor& hidden, const Tensor& weight, const Tensor& bias, const Tensor& targets) {
  switch (choose_cross_entropy(hidden, weight, bias)) {
    case KernelVersion::kOwn:
      return CrossEntropy::apply(hidden.to(weight.scalar_type()).reshape({-1, hidden.size(-1)}).contiguous(),
                                 weight.contiguous(), bias.defined() ? std::optional(bias.contiguous()) : std::nullopt,
                                 targets.flatten().contiguous(), wants_gradient(hidden, weight),
                                 std::optional<LogitPieces>());
    case KernelVersion::kGpu:
      return composed_summed_cross_entropy(hidden, weight, bias, targets,
                                           {.rows = std::max<std::int64_t>(1, kGpuPieceLogits / weight.size(0)),
                                            .multiple = kGpuMultiple,
                                            .kernels = &row_kernels_of(weight.device())});
    case KernelVersion::kComposed:
      return composed_summed_cross_entropy(hidden, weight, bias, targets,
                                           {.multiple = weight.is_cuda() ? kGpuMultiple : 1});
    default:
      return plain_summed_cross_entropy(hidden, weight, bias, targets);
  }
}

}  // namespace xlm
