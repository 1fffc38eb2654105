// Loops compiled for several instruction sets. Include in source files of kernels only.
#pragma once

namespace xlm {

/// Floats in a vector of this processor: 16 with AVX-512, 8 with AVX2, 4 otherwise. Follows libtorch's choice for its
/// own kernels, and so ATEN_CPU_CAPABILITY, with which tests cover all three on any machine.
extern const int simd_lanes;

}  // namespace xlm

// A function that is inlined into every version that calls it.
#define XLM_SIMD_INLINE inline __attribute__((always_inline))
// The same of a lambda, behind its parameters.
#define XLM_SIMD_LAMBDA __attribute__((always_inline))

// Defines the function `name`, which calls name_of<lanes>, an XLM_SIMD_INLINE template, with `arguments`. It is
// compiled once for each kind of vectors, and the processor's version is called. Outside of x86-64 the compiler's
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
