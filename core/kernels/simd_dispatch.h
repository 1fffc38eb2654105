// Loops compiled for several instruction sets. Include in source files of kernels only.
#pragma once

// A function that is compiled once for each; the one for the processor at hand is chosen at load time. Elsewhere than
// on x86-64 the compiler's default serves all processors.
#if defined(__x86_64__)
#define XLM_SIMD_DISPATCH __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define XLM_SIMD_DISPATCH
#endif
// A function that becomes part of every clone that calls it.
#define XLM_SIMD_INLINE inline __attribute__((always_inline))
