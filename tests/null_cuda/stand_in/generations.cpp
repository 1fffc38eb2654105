// Sizes are those of the CUDA programming guide ("Technical Specifications per Compute Capability"). Rates await a
// calibration on a GPU of each.
#include "tests/null_cuda/stand_in/generations.h"

#include <algorithm>
#include <array>

#include "tests/null_cuda/stand_in/settings.h"

namespace null_cuda {
namespace {

constexpr std::array kGenerations{
    Generation{90, 90, 227 << 10, 228 << 10, 2048, 132, 1.70e9, 2.8e12, 6.0e14, 4.5e13},    // H100
    Generation{80, 80, 163 << 10, 164 << 10, 2048, 108, 1.41e9, 1.6e12, 2.5e14, 1.8e13},    // A100
    Generation{86, 86, 99 << 10, 100 << 10, 1536, 68, 1.71e9, 0.68e12, 0.55e14, 2.4e13},    // RTX 3080
    Generation{89, 86, 99 << 10, 100 << 10, 1536, 128, 2.50e9, 0.9e12, 1.5e14, 7.0e13},     // RTX 4090
    Generation{100, 100, 227 << 10, 228 << 10, 2048, 148, 1.80e9, 6.5e12, 1.5e15, 6.5e13},  // B200
    Generation{120, 120, 99 << 10, 100 << 10, 1536, 170, 2.40e9, 1.6e12, 2.0e14, 9.0e13},   // RTX 5090
};

}  // namespace

const Generation& generation() {
  const auto* found = std::find_if(kGenerations.begin(), kGenerations.end(),
                                   [](const Generation& each) { return each.capability == settings().capability; });
  return found != kGenerations.end() ? *found : kGenerations.front();
}

}  // namespace null_cuda
