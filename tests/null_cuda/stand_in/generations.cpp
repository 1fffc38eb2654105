// Sizes are those of the CUDA programming guide ("Technical Specifications per Compute Capability").
#include "tests/null_cuda/stand_in/generations.h"

#include <algorithm>
#include <array>

#include "tests/null_cuda/stand_in/settings.h"

namespace null_cuda {
namespace {

constexpr std::array kGenerations{
    Generation{90, 90, 227 << 10, 228 << 10, 2048, 132},    // H100
    Generation{80, 80, 163 << 10, 164 << 10, 2048, 108},    // A100
    Generation{86, 86, 99 << 10, 100 << 10, 1536, 68},      // RTX 3080
    Generation{89, 86, 99 << 10, 100 << 10, 1536, 128},     // RTX 4090
    Generation{100, 100, 227 << 10, 228 << 10, 2048, 148},  // B200
    Generation{120, 120, 99 << 10, 100 << 10, 1536, 170},   // RTX 5090
};

}  // namespace

const Generation& generation() {
  const auto* found = std::find_if(kGenerations.begin(), kGenerations.end(),
                                   [](const Generation& each) { return each.capability == settings().capability; });
  return found != kGenerations.end() ? *found : kGenerations.front();
}

}  // namespace null_cuda
