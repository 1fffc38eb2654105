// Rotary positions: each number is read once, and becomes itself times a cosine plus the other one of its pair times a
// sine.
//
// B batch, T positions, n heads, d head width.
#include "core/kernels/rotation.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/kernels/kernel_table.h"
#include "core/kernels/packed_operands.h"
#include "core/kernels/simd.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kThreadTurns = 1 << 14;  // numbers; fewer are not worth another thread

template <int n, std::size_t... lanes>
XLM_SIMD_INLINE Vector<float, n> neighbours_exchanged(const Vector<float, n>& x, std::index_sequence<lanes...>) {
  return __builtin_shufflevector(x, x, static_cast<int>(lanes ^ 1U)...);
}

/// The factors of one position [d].
struct TurnFactors {
  const float* own;
  const float* of_other;
};

/// One head. `sign` is −1 to turn back.
template <int n, class T>
XLM_SIMD_INLINE void turn_head_of(const T* x, const TurnFactors& factors, std::int64_t width, bool neighbours,
                                  float sign, float* out) {
  if (neighbours) {
    for (std::int64_t j = 0; j < width; j += n) {
      const Vector<float, n> number = load_numbers<n>(x + j, width - j);
      const Vector<float, n> other = neighbours_exchanged<n>(number, std::make_index_sequence<n>());
      const Vector<float, n> turned = number * load_numbers<n>(factors.own + j, width - j) +
                                      other * (load_numbers<n>(factors.of_other + j, width - j) * sign);
      store<n>(turned, width - j, out + j);
    }
    return;
  }
  const std::int64_t half = width / 2;
  for (const std::int64_t begin : {std::int64_t{0}, half}) {
    for (std::int64_t j = 0; j < half; j += n) {
      const std::int64_t at = begin + j;
      const Vector<float, n> number = load_numbers<n>(x + at, half - j);
      const Vector<float, n> other = load_numbers<n>(x + half - begin + j, half - j);
      const Vector<float, n> turned = number * load_numbers<n>(factors.own + at, half - j) +
                                      other * (load_numbers<n>(factors.of_other + at, half - j) * sign);
      store<n>(turned, half - j, out + at);
    }
  }
}

XLM_SIMD_VERSIONS(void, turn_head,
                  (const float* x, const TurnFactors& factors, std::int64_t width, bool neighbours, float sign,
                   float* out),
                  (x, factors, width, neighbours, sign, out))
XLM_SIMD_VERSIONS(void, turn_head,
                  (const Bfloat16* x, const TurnFactors& factors, std::int64_t width, bool neighbours, float sign,
                   float* out),
                  (x, factors, width, neighbours, sign, out))

/// x [B, T, n, d], its heads one behind the other.
template <class T>
Tensor turned(const Tensor& x, const Tensor& own, const Tensor& of_other, bool neighbours, float sign) {
  const std::int64_t length = x.size(1);
  const std::int64_t heads = x.size(2);
  const std::int64_t width = x.size(3);
  Tensor out = torch::empty(x.sizes(), torch::TensorOptions(x.scalar_type()));
  const T* from = x.const_data_ptr<T>();
  T* to = out.data_ptr<T>();
  const float* factors = own.const_data_ptr<float>();
  const float* others = of_other.const_data_ptr<float>();
  const std::int64_t grain = std::max<std::int64_t>(1, kThreadTurns / (heads * width));
  at::parallel_for(0, x.size(0) * length, grain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> buffer(static_cast<std::size_t>(width));
    for (std::int64_t place = begin; place < end; ++place) {
      const std::int64_t position = place % length;
      const TurnFactors here{factors + position * width, others + position * width};
      const T* heads_here = from + place / length * x.stride(0) + position * x.stride(1);
      for (std::int64_t head = 0; head < heads; ++head) {
        T* result = to + (place * heads + head) * width;
        float* numbers = sums_for(result, buffer.data());
        turn_head(heads_here + head * width, here, width, neighbours, sign, numbers);
        store_left(numbers, width, result);
      }
    }
  });
  return out;
}

Tensor turned_by(const Tensor& given, const Tensor& own, const Tensor& of_other, bool neighbours, float sign) {
  const bool in_rows = given.stride(3) == 1 && given.stride(2) == given.size(3);
  const Tensor x = in_rows ? given : given.contiguous();
  return x.scalar_type() == torch::kFloat ? turned<float>(x, own, of_other, neighbours, sign)
                                          : turned<Bfloat16>(x, own, of_other, neighbours, sign);
}

class FusedTurn : public torch::autograd::Function<FusedTurn> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& own, const Tensor& of_other,
                        bool neighbours) {
    context->save_for_backward({own, of_other});
    context->saved_data["neighbours"] = neighbours;
    return turned_by(x, own, of_other, neighbours, 1);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    return {turned_by(upstream.front(), saved[0], saved[1], context->saved_data["neighbours"].toBool(), -1), Tensor(),
            Tensor(), Tensor()};
  }
};

}  // namespace

PairRotation::PairRotation(const Tensor& angles, RotatedPairs pairs, torch::ScalarType type)
    : pairs_(pairs), type_(type) {
  const Tensor cos = angles.cos().to(type);
  const Tensor sin = angles.sin().to(type);
  if (pairs == RotatedPairs::kNeighbours) {
    factors_ = torch::complex(cos, sin).unsqueeze(1);
  } else {
    cos_ = cos.unsqueeze(1);
    sin_ = sin.unsqueeze(1);
  }
  if (!angles.is_cpu() || type != torch::kFloat) return;
  const auto of_pairs = [&](const Tensor& first, const Tensor& second) {
    return pairs == RotatedPairs::kNeighbours ? torch::stack({first, second}, -1).flatten(-2)
                                              : torch::cat({first, second}, -1);
  };
  own_ = of_pairs(cos, cos).contiguous();
  of_other_ = of_pairs(-sin, sin).contiguous();
}

Tensor PairRotation::turn(const Tensor& x) const {
  return choose_kernel(Operation::kRotation, kernel_call(x)) == KernelVersion::kOwn ? turn_fused(x) : turn_composed(x);
}

Tensor PairRotation::turn_fused(const Tensor& x) const {
  return FusedTurn::apply(x, own_, of_other_, pairs_ == RotatedPairs::kNeighbours);
}

Tensor PairRotation::turn_composed(const Tensor& x) const {
  const torch::ScalarType given = x.scalar_type();
  const Tensor wide = x.to(type_);
  if (pairs_ == RotatedPairs::kNeighbours) {
    const Tensor pairs = torch::view_as_complex(wide.unflatten(-1, {-1, 2}).contiguous());
    return torch::view_as_real(pairs * factors_).flatten(-2).to(given);
  }
  const std::vector<Tensor> halves = wide.chunk(2, -1);
  return torch::cat({halves[0] * cos_ - halves[1] * sin_, halves[1] * cos_ + halves[0] * sin_}, -1).to(given);
}

}  // namespace xlm
