// Parts of one tensor, taken and joined with as few copies as possible.
#include "core/kernels/joined_parts.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The contiguous tensor whose unbind(dimension) is `parts`; undefined if they are not parts of one.
Tensor whole_of(const variable_list& parts, std::int64_t dimension) {
  const Tensor& first = parts.front();
  if (!first.defined() || parts.size() < 2 || !parts[1].defined()) return {};
  const std::int64_t step = parts[1].storage_offset() - first.storage_offset();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Tensor& part = parts[i];
    if (!part.defined() || !part.is_alias_of(first) || part.scalar_type() != first.scalar_type() ||
        part.sizes() != first.sizes() || part.strides() != first.strides() ||
        part.storage_offset() != first.storage_offset() + static_cast<std::int64_t>(i) * step) {
      return {};
    }
  }
  std::vector<std::int64_t> sizes = first.sizes().vec();
  std::vector<std::int64_t> strides = first.strides().vec();
  sizes.insert(sizes.begin() + dimension, static_cast<std::int64_t>(parts.size()));
  strides.insert(strides.begin() + dimension, step);
  if (step <= 0) return {};
  const Tensor whole = first.as_strided(sizes, strides, first.storage_offset());
  return whole.is_contiguous() ? whole : Tensor();
}

class UnbindJoined : public torch::autograd::Function<UnbindJoined> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, std::int64_t dimension) {
    context->saved_data["dimension"] = dimension;
    return x.detach().unbind(dimension);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const std::int64_t dimension = context->saved_data["dimension"].toInt();
    Tensor whole = whole_of(upstream, dimension);
    if (!whole.defined()) whole = torch::stack(upstream, dimension);
    return {whole, Tensor()};
  }
};

}  // namespace

std::vector<Tensor> unbind_joined(const Tensor& x, std::int64_t dimension) { return UnbindJoined::apply(x, dimension); }

Tensor chosen_slices(const Tensor& x, const std::vector<std::int64_t>& indices, std::int64_t dimension) {
  std::vector<Tensor> runs;  // of indices that follow each other
  for (std::size_t begin = 0, end = 0; begin < indices.size(); begin = end) {
    for (end = begin + 1; end < indices.size() && indices[end] == indices[end - 1] + 1;) ++end;
    runs.push_back(x.narrow(dimension, indices[begin], static_cast<std::int64_t>(end - begin)));
  }
  if (runs.size() > 1) return torch::cat(runs, dimension);
  return runs.front().size(dimension) == x.size(dimension) ? x : runs.front();
}

}  // namespace xlm
