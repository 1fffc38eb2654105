// What a window of a transformer keeps for the windows after it.
#include "core/nn/window_memory.h"

#include <algorithm>

#include "core/nn/initial_weights.h"

namespace xlm {

using torch::Tensor;

std::vector<Tensor> WindowCache::initial(std::int64_t batch, const torch::TensorOptions& options) const {
  std::vector<Tensor> state;
  for (std::int64_t i = 0; i < 2 * sizes_.layers; ++i) {
    state.push_back(torch::empty({batch, sizes_.heads, 0, sizes_.width / sizes_.heads}, options));
  }
  return state;
}

std::vector<KeysAndValues> WindowCache::read(const std::vector<Tensor>& state) {
  std::vector<KeysAndValues> layers(state.size() / 2);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Tensor& keys = state[2 * i];
    if (keys.size(2) > 0) layers[i] = {keys, state[2 * i + 1]};  // none: a window computes as without a memory
  }
  return layers;
}

std::vector<Tensor> WindowCache::write(const std::vector<KeysAndValues>& layers, std::int64_t length) const {
  const std::int64_t repeated = std::max<std::int64_t>(0, length - (sizes_.window - sizes_.overlap));
  std::vector<Tensor> state;
  for (const KeysAndValues& layer : layers) {
    for (const Tensor& all : {layer.keys, layer.values}) {  // [B, H, C + length, d]
      const std::int64_t end = all.size(2) - repeated;
      const std::int64_t kept = std::min(end, longest_);
      // A copy: otherwise the state would hold the queries and the dropped tokens, too.
      const Tensor part = all.narrow(2, end - kept, kept).contiguous();  // [B, H, kept, d]
      state.push_back(detach_ ? part.detach() : part);
    }
  }
  return state;
}

double WindowCache::flops_of_window() const {
  const auto pairs = static_cast<double>(sizes_.window) * static_cast<double>(longest_);
  return 4 * static_cast<double>(sizes_.layers) * static_cast<double>(sizes_.width) * pairs;
}

MemoryTokens::MemoryTokens(const DeclareParameter& declare, const WindowSizes& sizes, std::int64_t count,
                           double deviation, bool detach)
    : sizes_(sizes),
      count_(count),
      detach_(detach),
      first_(declare("memory.tokens", normal_weights({count, sizes.width}, deviation))) {}

std::vector<Tensor> MemoryTokens::initial(std::int64_t batch, const torch::TensorOptions& options) const {
  return {torch::empty({batch, 0, sizes_.width}, options)};
}

Tensor MemoryTokens::read(const std::vector<Tensor>& state) const {
  const Tensor& written = state.at(0);
  return written.size(1) > 0 ? written : first_.expand({written.size(0), count_, sizes_.width});
}

std::vector<Tensor> MemoryTokens::write(const Tensor& behind) const { return {detach_ ? behind.detach() : behind}; }

double MemoryTokens::flops_of_window(double matrices) const {
  const auto added = 2 * static_cast<double>(count_);
  const auto window = static_cast<double>(sizes_.window);
  const double pairs = (window + added) * (window + added) - window * window;  // two for each that a causal mask leaves
  return 2 * matrices * added + 2 * static_cast<double>(sizes_.layers) * static_cast<double>(sizes_.width) * pairs;
}

}  // namespace xlm
