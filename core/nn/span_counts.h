// How far back heads have looked whose span depends on the text.
#pragma once

#include <cstdint>
#include <vector>

namespace xlm {

/// The spans that the heads of every layer have used since the last reset.
class SpanCounts {
 public:
  SpanCounts() = default;
  SpanCounts(std::size_t layers, std::size_t heads);

  void reset();
  /// Adds `queries` queries of a layer: the sum and the largest of their spans for each head.
  void add(std::size_t layer, const double* sums, const double* largest, std::int64_t queries);

  /// The mean span of each head; 0 before the first query.
  std::vector<double> means(std::size_t layer) const;
  /// The largest span of each head.
  const std::vector<double>& largest(std::size_t layer) const { return layers_[layer].largest; }

  /// All numbers that are summed, and all whose maximum counts, layer by layer; and taking them back.
  std::vector<double> sums() const;
  std::vector<double> maxima() const;
  void set(const std::vector<double>& sums, const std::vector<double>& maxima);

 private:
  struct Layer {
    std::vector<double> sum, largest;  // by head
    double queries = 0;
  };
  std::vector<Layer> layers_;
};

}  // namespace xlm
