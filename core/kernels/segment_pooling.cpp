// Segment sums and row copies, and pooling made of them.
#include "core/kernels/segment_pooling.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class GroupMeans : public torch::autograd::Function<GroupMeans> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& hidden, const Tensor& /*boundaries*/,
                        const Tensor& group, const Tensor& sizes) {
    Tensor means = segment_sum(hidden, group, sizes.size(1)) / sizes.unsqueeze(-1).to(hidden.scalar_type());
    context->save_for_backward({hidden, group, sizes, means});
    return means;
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const variable_list saved = context->get_saved_variables();
    const Tensor& hidden = saved[0];
    const Tensor& group = saved[1];
    const Tensor share = upstream[0] / saved[2].unsqueeze(-1).to(upstream[0].scalar_type());  // [B, G, D]
    const Tensor of_token = take_rows(share, group);                                          // [B, T, D]
    variable_list result(4);
    if (context->needs_input_grad(0)) result[0] = of_token;
    if (context->needs_input_grad(1)) {
      // A boundary at s moves every later token to the next group: its effect on t is ⟨dL/ds_g, h_t − s_g⟩ / n_g.
      const Tensor of_mean = (share * saved[3]).sum(-1, /*keepdim=*/true);                        // [B, G, 1]
      const Tensor effect = (of_token * hidden).sum(-1) - take_rows(of_mean, group).squeeze(-1);  // [B, T]
      const bool by_product = effect.is_cuda() && at::globalContext().deterministicAlgorithms();
      result[1] = sums_of_later(effect, by_product);  // over t > s
    }
    return result;
  }
};

class MovedRows : public torch::autograd::Function<MovedRows> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& ids, const Tensor& from) {
    context->save_for_backward({from});
    return take_rows(x, ids);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    return {take_rows(upstream[0], context->get_saved_variables()[0]), Tensor(), Tensor()};
  }
};

class RepeatedRows : public torch::autograd::Function<RepeatedRows> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& ids) {
    context->save_for_backward({ids});
    context->saved_data["count"] = x.size(1);
    return take_rows(x, ids);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    return {segment_sum(upstream[0], context->get_saved_variables()[0], context->saved_data["count"].toInt()),
            Tensor()};
  }
};

}  // namespace

Tensor sums_of_later(const Tensor& x, bool by_product) {
  if (!by_product) return x.flip(1).cumsum(1).flip(1) - x;
  return x.matmul(torch::ones({x.size(1), x.size(1)}, x.options()).tril(-1));
}

Tensor segment_sum(const Tensor& x, const Tensor& ids, std::int64_t count) {
  const std::int64_t batch = x.size(0);
  // One extra segment takes what is left out.
  const Tensor kept = torch::where((ids >= 0) & (ids < count), ids, count);                             // [B, T]
  const Tensor base = torch::arange(batch, ids.options()).unsqueeze(1) * (count + 1);                   // [B, 1]
  const Tensor sums = torch::zeros({batch * (count + 1), x.size(2)}, x.options().requires_grad(false))  //
                          .index_add_(0, (kept + base).flatten(), x.flatten(0, 1));
  return sums.view({batch, count + 1, x.size(2)}).narrow(1, 0, count);
}

Tensor take_rows(const Tensor& x, const Tensor& ids) {
  const std::int64_t count = x.size(1);
  if (count == 0) return torch::zeros({ids.size(0), ids.size(1), x.size(2)}, x.options().requires_grad(false));
  const Tensor inside = (ids >= 0) & (ids < count);
  const Tensor index = ids.clamp(0, count - 1).unsqueeze(-1).expand({-1, -1, x.size(2)});
  return x.gather(1, index).masked_fill(inside.logical_not().unsqueeze(-1), 0);
}

Groups find_groups(const Tensor& boundaries, std::int64_t room) {
  const torch::NoGradGuard no_grad;
  const std::int64_t batch = boundaries.size(0);
  const std::int64_t length = boundaries.size(1);
  const Tensor flags = boundaries.to(torch::kLong);
  Groups groups;
  groups.closed = flags.cumsum(1);                              // [B, T]
  const Tensor total = groups.closed.narrow(1, length - 1, 1);  // [B, 1]
  groups.most = total.max();
  groups.count = room > 0 ? room : groups.most.item<std::int64_t>();
  const Tensor before = groups.closed - flags;  // groups closed strictly before
  groups.group = torch::where(before < total, before, groups.count);
  const Tensor t = torch::arange(length, flags.options()).expand({batch, length});
  groups.ends = torch::full({batch, groups.count + 1}, length, flags.options())
                    .scatter_(1, torch::where(boundaries, before, groups.count).clamp_max(groups.count), t)
                    .narrow(1, 0, groups.count)
                    .contiguous();
  const Tensor previous = torch::constant_pad_nd(groups.ends, {1, 0}, -1).narrow(1, 0, groups.count);
  groups.sizes = torch::where(groups.ends < length, groups.ends - previous, 1);
  return groups;
}

Tensor group_means(const Tensor& hidden, const Tensor& boundaries, const Groups& groups) {
  return GroupMeans::apply(hidden, boundaries, groups.group, groups.sizes);
}

Tensor group_lasts(const Tensor& hidden, const Groups& groups) {
  const std::int64_t length = hidden.size(1);
  const Tensor t = torch::arange(length, groups.ends.options());
  // The group that a token closes; G if it closes none.
  const Tensor closes =
      torch::where(take_rows(groups.ends.unsqueeze(-1), groups.group).squeeze(-1) == t, groups.group, groups.count);
  return move_rows(hidden, groups.ends, closes);
}

Tensor move_rows(const Tensor& x, const Tensor& ids, const Tensor& from) { return MovedRows::apply(x, ids, from); }

Tensor repeat_rows(const Tensor& x, const Tensor& ids) { return RepeatedRows::apply(x, ids); }

Tensor spread_groups(const Tensor& pooled, const Groups& groups) { return repeat_rows(pooled, groups.closed); }

Tensor smoothed(const Tensor& x, const Tensor& share) {
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
