// Dropout by place, as core/kernels/dropout.h draws it. NVRTC reads this code after gpu_block.cuh.
#pragma once

namespace xlm::band {

XLM_DEVICE unsigned long long mix_bits(unsigned long long x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

/// Dropout::key_of.
XLM_DEVICE unsigned drop_key_of(unsigned long long seed, int row, int head, int i) {
  const unsigned long long of_row = seed + static_cast<unsigned long long>(row) * 0xD1342543DE82EF95ULL;
  return static_cast<unsigned>(mix_bits(mix_bits(mix_bits(of_row) ^ static_cast<unsigned long long>(head)) ^
                                        static_cast<unsigned long long>(i)));
}

/// What a number of places adds to a key.
XLM_DEVICE unsigned drop_step(int places) { return static_cast<unsigned>(places) * 0x9E3779B9U; }

/// The limit that keeps() compares with.
XLM_DEVICE unsigned drop_limit(unsigned threshold) { return threshold < (1U << 24U) ? threshold << 8U : 0xFFFFFFFFU; }

/// Whether dropout keeps an element: `x` is a key and the step of a column together.
XLM_DEVICE bool keeps(unsigned x, unsigned limit) {
  x = (x ^ (x >> 16U)) * 0x7FEB352DU;
  x = (x ^ (x >> 15U)) * 0x846CA68BU;
  return (x ^ (x >> 16U)) >= limit;
}

}  // namespace xlm::band
