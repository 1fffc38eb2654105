// Tensors over all processes of a run.
#include "core/parallel/reductions.h"

#include <algorithm>
#include <vector>

namespace xlm {
namespace {

constexpr std::int64_t kBucket = std::int64_t{1} << 23;  // numbers that are sent at a time: 32 MB in float32

/// Sums the gradients of weights [begin, end), in one flat buffer. It ends with a count, for each weight, of the
/// processes that have a gradient.
void sum_bucket(ProcessGroup& group, const NamedTensors& weights, std::size_t begin, std::size_t end) {
  std::vector<torch::Tensor> parts;
  std::vector<std::int64_t> counts_at;
  std::int64_t size = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const torch::Tensor& weight = weights[i].second;
    const torch::Tensor& gradient = weight.grad();
    parts.push_back((gradient.defined() ? gradient : torch::zeros_like(weight)).detach().reshape({-1}));
    parts.push_back(torch::full({1}, gradient.defined() ? 1.0 : 0.0, parts.back().options()));
    size += weight.numel();
    counts_at.push_back(size++);
  }
  const torch::Tensor flat = torch::cat(parts);
  group.sum(flat);
  const torch::Tensor counts =
      flat.index_select(0, torch::tensor(counts_at).to(flat.device())).cpu().to(torch::kDouble);
  std::int64_t at = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const torch::Tensor& weight = weights[i].second;
    const std::int64_t count = weight.numel();
    if (counts[static_cast<std::int64_t>(i - begin)].item<double>() > 0) {
      const torch::Tensor sum = flat.narrow(0, at, count).view(weight.sizes());
      if (weight.grad().defined()) {
        weight.grad().detach().copy_(sum);
      } else {
        weight.mutable_grad() = sum.to(weight.device(), weight.scalar_type(), false, true);
      }
    }
    at += count + 1;
  }
}

}  // namespace

void sum_gradients(ProcessGroup& group, const NamedTensors& weights) {
  for (std::size_t begin = 0; begin < weights.size();) {
    std::size_t end = begin;
    std::int64_t count = 0;
    while (end < weights.size() && (end == begin || count + weights[end].second.numel() <= kBucket)) {
      count += weights[end++].second.numel();
    }
    sum_bucket(group, weights, begin, end);
    begin = end;
  }
}

torch::Tensor gather_rows(ProcessGroup& group, const torch::Tensor& own, std::int64_t rows) {
  // Every process sends as many rows as the one with the most.
  std::vector<std::int64_t> sizes = own.sizes().vec();
  sizes.front() = (rows + group.size() - 1) / group.size();
  const torch::Tensor padded = torch::zeros(sizes, own.options());
  padded.narrow(0, 0, own.size(0)).copy_(own);
  const torch::Tensor all = group.gather(padded);
  std::vector<torch::Tensor> parts;
  for (std::int64_t rank = 0; rank < group.size(); ++rank) {
    parts.push_back(all[rank].narrow(0, 0, rows_of(rank, group.size(), rows).count));
  }
  return torch::cat(parts).cpu();
}

}  // namespace xlm
