// Loops compiled for several instruction sets. Include in source files of kernels only.
#pragma once

namespace xlm {

/// Floats of a vector that this processor has: 16 with AVX-512, 8 with AVX2, 4 otherwise. Follows libtorch's choice
/// for its own kernels, and so ATEN_CPU_CAPABILITY, by which tests see all three wherever they run.
extern const int simd_lanes;

}  // namespace xlm

// A function that becomes part of every version that calls it.
#define XLM_SIMD_INLINE inline __attribute__((always_inline))
// The same of a lambda, behind its parameters.
#define XLM_SIMD_LAMBDA __attribute__((always_inline))

// Defines the function `name`, which does what name_of<lanes>, an XLM_SIMD_INLINE template, does with `arguments`:
// compiled once for each kind of vectors, of which the processor's is called. Elsewhere than on x86-64 the compiler's
// default serves all processors.
#if defined(__x86_64__)
#define XLM_SIMD_VERSIONS(result, name, parameters, arguments)                                                        \
  __attribute__((target("arch=x86-64-v4"))) static result name##_by_16 parameters { return name##_of<16> arguments; } \
  __attribute__((target("arch=x86-64-v3"))) static result name##_by_8 parameters { return name##_of<8> arguments; }   \
  result name parameters {                                                                                            \
    if (simd_lanes == 16) return name##_by_16 arguments;                                                              \
    if (simd_lanes == 8) return name##_by_8 arguments;                                                                \
    return name##_of<4> arguments;                                                                                    \
  }
#else
#define XLM_SIMD_VERSIONS(result, name, parameters, arguments) \
  result name parameters { return name##_of<4> arguments; }
#endif
