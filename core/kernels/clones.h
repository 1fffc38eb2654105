// Loops compiled for several instruction sets. Include in source files of kernels only.
#pragma once

// A function that is compiled once for each; the one for the processor at hand is chosen at load time.
#define XLM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
// A function that becomes part of every clone that calls it.
#define XLM_INLINE inline __attribute__((always_inline))
