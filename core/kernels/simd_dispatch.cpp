// The choice of a loop's version for this processor.
#include "core/kernels/simd_dispatch.h"

#include <ATen/Version.h>

#include <string>

namespace xlm {
namespace {

int lanes_of_this_processor() {
#if defined(__x86_64__)
  const std::string capability = at::get_cpu_capability();
  if (capability == "AVX512" && __builtin_cpu_supports("x86-64-v4") != 0) return 16;
  if (capability.starts_with("AVX") && __builtin_cpu_supports("x86-64-v3") != 0) return 8;
#endif
  return 4;
}

}  // namespace

const int simd_lanes = lanes_of_this_processor();

}  // namespace xlm
