// How far back heads have looked.
#include "core/nn/span_counts.h"

#include <algorithm>

namespace xlm {

using torch::Tensor;

std::vector<std::vector<double>> rows_on_host(const Tensor& values) {
  const Tensor all = values.cpu().contiguous();
  const double* next = all.data_ptr<double>();
  std::vector<std::vector<double>> rows;
  for (std::int64_t i = 0; i < all.size(0); ++i, next += all.size(1)) rows.emplace_back(next, next + all.size(1));
  return rows;
}

SpanCounts::OfLayer SpanCounts::of(const Tensor& spans) {
  const Tensor of_head = spans.detach().to(torch::kDouble).flatten(0, 1);  // [B·M, H]
  return {.sums = of_head.sum(0), .largest = of_head.amax(0), .queries = static_cast<double>(of_head.size(0))};
}

SpanCounts::SpanCounts(std::size_t layers, std::size_t heads)
    : sums_(torch::zeros({static_cast<std::int64_t>(layers), static_cast<std::int64_t>(heads) + 1}, torch::kDouble)),
      largest_(torch::zeros({static_cast<std::int64_t>(layers), static_cast<std::int64_t>(heads)}, torch::kDouble)) {}

void SpanCounts::reset() {
  sums_.zero_();
  largest_.zero_();
}

void SpanCounts::move_to(torch::Device device) {
  if (sums_.device() == device) return;
  sums_ = sums_.to(device);
  largest_ = largest_.to(device);
}

void SpanCounts::add(const std::vector<OfLayer>& layers, const Tensor& valid) {
  std::vector<Tensor> sums;
  std::vector<Tensor> largest;
  for (const OfLayer& layer : layers) {
    sums.push_back(layer.sums);
    largest.push_back(layer.largest);
  }
  const auto counted = [&](const std::vector<Tensor>& values) {
    const Tensor all = torch::stack(values);
    return valid.defined() ? torch::where(valid, all, torch::zeros_like(all)) : all;
  };
  move_to(sums.front().device());
  const std::int64_t heads = largest_.size(1);
  const double queries = layers.front().queries;
  sums_.narrow(1, 0, heads).add_(counted(sums));
  Tensor of_queries = sums_.select(1, heads);
  if (valid.defined()) {
    of_queries.add_(valid, queries);
  } else {
    of_queries.add_(queries);
  }
  torch::max_out(largest_, largest_, counted(largest));
}

std::vector<std::vector<double>> SpanCounts::means() const {
  std::vector<std::vector<double>> rows = rows_on_host(sums_);
  for (std::vector<double>& row : rows) {
    const double queries = std::max(1.0, row.back());
    row.pop_back();
    for (double& value : row) value /= queries;
  }
  return rows;
}

std::vector<std::vector<double>> SpanCounts::largest() const { return rows_on_host(largest_); }

std::vector<double> SpanCounts::sums() const { return rows_on_host(sums_.view({1, -1})).front(); }

std::vector<double> SpanCounts::maxima() const { return rows_on_host(largest_.view({1, -1})).front(); }

void SpanCounts::set(const std::vector<double>& sums, const std::vector<double>& maxima, torch::Device device) {
  move_to(device);
  sums_.copy_(torch::tensor(sums, torch::kDouble).view(sums_.sizes()));
  largest_.copy_(torch::tensor(maxima, torch::kDouble).view(largest_.sizes()));
}

}  // namespace xlm
