// Exponential smoothing as a loop over places, and as a scan.
#include "core/kernels/smoothing.h"

#include "core/kernels/column_blocks.h"
#include "core/kernels/kernel_table.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// s_j = u_j + a_j·s_{j−1}, or, `backwards`, s_j = u_j + a_{j+1}·s_{j+1}; what lies outside is 0.
template <class Real>
void scan_places(const Tensor& added, const Tensor& kept, bool backwards, Tensor& sums) {
  const std::int64_t count = added.size(1);
  const std::int64_t width = added.size(2);
  const Real* u = added.const_data_ptr<Real>();
  const Real* a = kept.const_data_ptr<Real>();
  Real* s = sums.data_ptr<Real>();
  for_column_blocks(added.size(0), width, [&](std::int64_t row, std::int64_t first, std::int64_t columns) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = row * count + (backwards ? count - 1 - i : i);
      const std::int64_t before = backwards ? place + 1 : place - 1;
      const Real* in = u + place * width + first;
      Real* out = s + place * width + first;
      if (i == 0) {
        for (std::int64_t c = 0; c < columns; ++c) out[c] = in[c];
        continue;
      }
      const Real factor = a[backwards ? before : place];
      const Real* last = s + before * width + first;
      for (std::int64_t c = 0; c < columns; ++c) out[c] = in[c] + factor * last[c];
    }
  });
}

Tensor scanned(const Tensor& added, const Tensor& kept, bool backwards) {
  const Tensor u = added.contiguous();
  Tensor sums = torch::empty(u.sizes(), u.options().requires_grad(false));
  const auto scan = u.scalar_type() == torch::kFloat ? scan_places<float> : scan_places<double>;
  scan(u, kept.contiguous(), backwards, sums);
  return sums;
}

class Smoothing : public torch::autograd::Function<Smoothing> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& share) {
    Tensor sums = scanned(x * share.unsqueeze(-1), 1 - share, false);
    context->save_for_backward({x, share, sums});
    return sums;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& share = saved[1];
    const Tensor of_sums = scanned(upstream[0], 1 - share, true);  // [B, G, D]: dL/ds_j through all later rows
    const Tensor before = torch::constant_pad_nd(saved[2], {0, 0, 1, 0}, 0).narrow(1, 0, x.size(1));  // s_{j−1}
    return {of_sums * share.unsqueeze(-1), (of_sums * (x - before)).sum(-1)};
  }
};

}  // namespace

Tensor smoothed(const Tensor& x, const Tensor& share) {
  const bool has_loop = choose_kernel(Operation::kSmoothing, kernel_call(x)) == KernelVersion::kOwn;
  return has_loop && x.scalar_type() == share.scalar_type() ? Smoothing::apply(x, share) : smoothed_plain(x, share);
}

Tensor smoothed_plain(const Tensor& x, const Tensor& share) {
  const std::int64_t count = x.size(1);
  Tensor sums = x * share.unsqueeze(-1);    // [B, G, D], of the last 2ᵏ rows
  Tensor kept = (1 - share).unsqueeze(-1);  // [B, G, 1], what is left of the row 2ᵏ before
  for (std::int64_t known = 1; known < count; known *= 2) {
    const auto earlier = [&](const Tensor& of_rows) {
      return torch::constant_pad_nd(of_rows.narrow(1, 0, count - known), {0, 0, known, 0}, 0);
    };
    sums = sums + kept * earlier(sums);
    kept = kept * earlier(kept);
  }
  return sums;
}

}  // namespace xlm
