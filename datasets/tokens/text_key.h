// Short texts as keys of tables that keep what is known of recent ones.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace xlm {

/// A text, zeros, and in the last byte its length. All zeros: none.
template <std::size_t bytes>
using TextKey = std::array<std::uint64_t, bytes / sizeof(std::uint64_t)>;

/// The place of a key among a power of two of them: upper bits, on which all bits of the key have influence.
template <class Key>
std::size_t slot_of(const Key& key, std::size_t slots) {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : key) hash = (hash ^ word) * kOdd ^ hash >> 29U;
  return hash >> 1U >> ((64U - static_cast<unsigned>(std::bit_width(slots))) & 63U);
}

/// Whether keys are equal; the library's comparison is a call.
template <class Key>
bool same(const Key& one, const Key& other) {
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < one.size(); ++i) differences |= one[i] ^ other[i];
  return differences == 0;
}

/// A text of 1 to 15 bytes as a key; with `padded` more bytes may be read, up to 16.
inline TextKey<16> short_key(const char* text, std::size_t bytes, bool padded) {
  TextKey<16> key{};
  if (!padded) {
    std::memcpy(key.data(), text, bytes);
  } else {
    std::memcpy(key.data(), text, sizeof key);
    const std::size_t beyond = 8 * (16 - bytes);  // bits, from 8 to 120
    const std::uint64_t all = ~std::uint64_t{0};
    key[0] &= beyond > 64 ? all >> (beyond - 64) : all;
    key[1] &= beyond < 64 ? all >> beyond : 0;
  }
  key[1] |= std::uint64_t{bytes} << 56U;
  return key;
}

}  // namespace xlm
