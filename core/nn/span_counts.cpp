// How far back heads have looked.
#include "core/nn/span_counts.h"

#include <algorithm>

namespace xlm {

SpanCounts::SpanCounts(std::size_t layers, std::size_t heads)
    : layers_(layers, {std::vector<double>(heads, 0), std::vector<double>(heads, 0), 0}) {}

void SpanCounts::reset() {
  for (Layer& layer : layers_) {
    std::fill(layer.sum.begin(), layer.sum.end(), 0);
    std::fill(layer.largest.begin(), layer.largest.end(), 0);
    layer.queries = 0;
  }
}

void SpanCounts::add(std::size_t layer, const double* sums, const double* largest, std::int64_t queries) {
  Layer& seen = layers_[layer];
  for (std::size_t head = 0; head < seen.sum.size(); ++head) {
    seen.sum[head] += sums[head];
    seen.largest[head] = std::max(seen.largest[head], largest[head]);
  }
  seen.queries += static_cast<double>(queries);
}

std::vector<double> SpanCounts::means(std::size_t layer) const {
  std::vector<double> means = layers_[layer].sum;
  for (double& value : means) value /= std::max(1.0, layers_[layer].queries);
  return means;
}

std::vector<double> SpanCounts::sums() const {
  std::vector<double> sums;
  for (const Layer& layer : layers_) {
    sums.insert(sums.end(), layer.sum.begin(), layer.sum.end());
    sums.push_back(layer.queries);
  }
  return sums;
}

std::vector<double> SpanCounts::maxima() const {
  std::vector<double> maxima;
  for (const Layer& layer : layers_) maxima.insert(maxima.end(), layer.largest.begin(), layer.largest.end());
  return maxima;
}

void SpanCounts::set(const std::vector<double>& sums, const std::vector<double>& maxima) {
  auto sum = sums.begin();
  auto largest = maxima.begin();
  for (Layer& layer : layers_) {
    for (double& value : layer.sum) value = *sum++;
    layer.queries = *sum++;
    for (double& value : layer.largest) value = *largest++;
  }
}

}  // namespace xlm
