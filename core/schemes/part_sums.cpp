// Losses of the parts of a split.
#include "core/schemes/part_sums.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "core/kernels/cross_entropy.h"

namespace xlm {
namespace {

constexpr std::size_t kFewDocuments = 100;  // fewer than these say little about other texts
constexpr std::size_t kMaxParts = 2000;
constexpr std::int64_t kStretches = 1000;

std::int64_t quotient_up(std::int64_t whole, std::int64_t part) { return (whole + part - 1) / part; }

}  // namespace

PartSums::PartSums(const TokenSource& source) {
  const auto documents = source.documents();
  losses_.of_documents = documents.size() >= kFewDocuments;
  if (losses_.of_documents) {
    losses_.each = quotient_up(std::ssize(documents), static_cast<std::int64_t>(kMaxParts));
    for (std::size_t i = 0; i < documents.size(); i += static_cast<std::size_t>(losses_.each)) {
      begins_.push_back(documents[i].first);
    }
  } else {
    losses_.each = std::max<std::int64_t>(1, quotient_up(source.size(), kStretches));
    for (std::int64_t begin = 0; begin < source.size(); begin += losses_.each) begins_.push_back(begin);
  }
  if (begins_.empty()) begins_.push_back(0);
  begins_.front() = 0;
  losses_.tokens.assign(begins_.size(), 0);
  losses_.sums.assign(begins_.size(), 0);
}

void PartSums::add(const torch::Tensor& losses, const torch::Tensor& targets, const std::vector<std::int64_t>& first) {
  const std::int64_t* target = targets.const_data_ptr<std::int64_t>();
  const double* loss = losses.const_data_ptr<double>();
  const std::int64_t count = targets.size(1);
  for (std::size_t row = 0; row < first.size(); ++row, target += count, loss += count) {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), first[row]);
    auto part = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - begins_.begin() - 1));
    for (std::int64_t i = 0; i < count; ++i) {
      while (part + 1 < begins_.size() && begins_[part + 1] <= first[row] + i) ++part;
      if (target[i] == kNoTarget) continue;
      losses_.sums[part] += loss[i];
      ++losses_.tokens[part];
    }
  }
}

void PartSums::add(const torch::Tensor& losses, const torch::Tensor& targets, std::int64_t first, std::int64_t stride) {
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < targets.size(0); ++row) places.push_back(first + row * stride);
  add(losses, targets, places);
}

void PartSums::unite(ProcessGroup& group) {
  group.sum(losses_.sums.data(), losses_.sums.size());
  std::vector<double> tokens(losses_.tokens.begin(), losses_.tokens.end());
  group.sum(tokens.data(), tokens.size());
  std::transform(tokens.begin(), tokens.end(), losses_.tokens.begin(),
                 [](double count) { return static_cast<std::int64_t>(count); });
}

}  // namespace xlm
