// How far back attention heads compute.
#include "core/nn/held_bands.h"

#include <algorithm>

namespace xlm {
namespace {

constexpr std::int64_t kBandStep = 32;

}  // namespace

std::int64_t band_of(std::int64_t reach, std::int64_t limit) {
  return std::min(limit, (reach + kBandStep - 1) / kBandStep * kBandStep);
}

void HeldBands::fit(const Reaches& reaches, std::int64_t limit, std::int64_t spare) {
  bands_.resize(reaches.size());
  for (std::size_t layer = 0; layer < reaches.size(); ++layer) {
    bands_[layer].resize(reaches[layer].size());
    for (std::size_t head = 0; head < reaches[layer].size(); ++head) {
      const std::int64_t reach = reaches[layer][head];
      std::int64_t& band = bands_[layer][head];
      if (reach > band || reach <= band - kBandStep - spare) band = band_of(reach, limit);
    }
  }
}

std::vector<std::int64_t> HeldBands::sizes() const {
  std::vector<std::int64_t> sizes;
  for (const std::vector<std::int64_t>& layer : bands_) sizes.insert(sizes.end(), layer.begin(), layer.end());
  return sizes;
}

void HeldBands::set_sizes(const std::vector<std::int64_t>& sizes) {
  if (sizes.size() != this->sizes().size()) return;
  auto next = sizes.begin();
  for (std::vector<std::int64_t>& layer : bands_) {
    for (std::int64_t& band : layer) band = *next++;
  }
}

}  // namespace xlm
