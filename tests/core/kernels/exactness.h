// How large a kernel's error may be: in every precision at most twice that of the plain version.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace xlm {

/// Squared errors by precision and output, summed over many inputs, so that one lucky rounding does not decide.
class Exactness {
 public:
  void add(torch::ScalarType type, const std::vector<torch::Tensor>& fused, const std::vector<torch::Tensor>& plain,
           const std::vector<torch::Tensor>& truth) {
    ASSERT_EQ(fused.size(), truth.size());
    const auto square = [](const torch::Tensor& x) { return x.to(torch::kDouble).square().sum().item<double>(); };
    for (std::size_t i = 0; i < truth.size(); ++i) {
      Squares& sums = squares_[{type, i}];
      sums.fused += square(fused[i].to(torch::kDouble) - truth[i]);
      sums.plain += square(plain[i].to(torch::kDouble) - truth[i]);
      sums.truth += square(truth[i]);
    }
  }

  /// `slack` is a share of the exact value, for outputs that the plain version computes exactly.
  void expect_as_plain(double slack) const {
    ASSERT_FALSE(squares_.empty());
    for (const auto& [output, sums] : squares_) {
      EXPECT_LT(std::sqrt(sums.fused), 2 * std::sqrt(sums.plain) + slack * std::sqrt(sums.truth))
          << output.first << " " << output.second;
    }
  }

 private:
  struct Squares {
    double fused = 0;
    double plain = 0;
    double truth = 0;
  };

  std::map<std::pair<torch::ScalarType, std::size_t>, Squares> squares_;
};

}  // namespace xlm
