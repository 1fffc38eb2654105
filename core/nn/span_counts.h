// How far back heads have looked whose span depends on the text.
#pragma once

#include <vector>

#include <torch/torch.h>

namespace xlm {

/// Numbers [N, M], double, by row. Waits for a GPU.
std::vector<std::vector<double>> rows_on_host(const torch::Tensor& values);

/// The spans that the heads of every layer have used since the last reset, on the model's device, so that no code waits
/// for it.
class SpanCounts {
 public:
  /// What a call used of one layer.
  struct OfLayer {
    torch::Tensor sums, largest;  // [H] double
    double queries = 0;           // the same for all layers
  };
  /// Of predicted spans [B, M, H].
  static OfLayer of(const torch::Tensor& spans);

  SpanCounts() = default;
  SpanCounts(std::size_t layers, std::size_t heads);

  void reset();
  /// Adds a call's layers, if `valid`, a scalar bool, is true; undefined: always.
  void add(const std::vector<OfLayer>& layers, const torch::Tensor& valid);

  /// By layer and head: the mean span, 0 before the first query, and the largest.
  std::vector<std::vector<double>> means() const;
  std::vector<std::vector<double>> largest() const;

  /// All numbers that are summed, and all whose maximum counts, layer by layer; and taking them back.
  std::vector<double> sums() const;
  std::vector<double> maxima() const;
  void set(const std::vector<double>& sums, const std::vector<double>& maxima, torch::Device device);

 private:
  void move_to(torch::Device device);

  torch::Tensor sums_;     // [layers, H + 1] double; one for good on a device, because a recorded step adds to it
  torch::Tensor largest_;  // [layers, H] double, the same
};

}  // namespace xlm
