// Random numbers without state: a number is a function of its seed and its place. Nothing has to be saved for resuming.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace xlm {

/// 64 well-mixed bits for (seed, stream, index): three rounds of SplitMix64's finaliser over a Weyl sequence (Steele et
/// al. 2014).
inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  const auto mix = [](std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
  };
  return mix(mix(mix(seed) ^ stream) ^ index);
}

/// Uniform in [0, bound), by multiplication (bias below 2^-32 for bounds up to 2^32).
inline std::int64_t random_below(std::int64_t bound, std::uint64_t bits) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>((Wide{bits} * static_cast<std::uint64_t>(bound)) >> 64U);
}

/// Uniform in [0, 1), 53 bits.
inline double random_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11U) * 0x1.0p-53; }

/// The numbers 0 to count − 1 in a random order that follows from the seed.
inline std::vector<std::int64_t> random_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = count; i > 1; --i) {
    const std::int64_t other = random_below(static_cast<std::int64_t>(i), random_bits(seed, 0, i));
    std::swap(order[i - 1], order[static_cast<std::size_t>(other)]);
  }
  return order;
}

}  // namespace xlm
