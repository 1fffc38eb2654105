// GPT-2's division of a text into pieces, each of which byte-pair encoding encodes separately:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// Letters, numbers and white space are Unicode's. A byte outside of any UTF-8 character counts as none of the three,
// like the U+FFFD of a decoder, but keeps its value.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace xlm {

/// Bytes of the first piece of `text`. 0 if following text could change it, or if there is no text. `whole`: no text
/// follows.
std::size_t first_piece(std::string_view text, bool whole);

/// Bytes of the pieces at the beginning of `text` that following text cannot change.
std::size_t settled_bytes(std::string_view text);

/// Bytes that `short_word` looks at.
constexpr std::size_t kShortWordBytes = 17;

/// The bytes of the first piece if it is a short word of a–z and A–Z, maybe behind a space, and a further byte of ASCII
/// settles it; otherwise 0, and first_piece tells. `text` has kShortWordBytes or more.
inline std::size_t short_word(const char* text) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kEach = 0x0101010101010101U;
  constexpr std::uint64_t kHigh = 0x80 * kEach;
  // The high bit of each byte that is no letter.
  const auto others = [](const char* bytes) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, bytes, sizeof eight);
    const std::uint64_t lower = (eight | 0x20 * kEach) & ~kHigh;
    const std::uint64_t from_a = lower + (0x80 - 'a') * kEach;
    const std::uint64_t behind_z = lower + (0x80 - 'z' - 1) * kEach;
    return ~(from_a & ~behind_z & ~eight) & kHigh;
  };
  const std::size_t space = text[0] == ' ' ? 1 : 0;
  const auto first = static_cast<std::size_t>(std::countr_zero(others(text + space))) / 8;
  const auto second = static_cast<std::size_t>(std::countr_zero(others(text + space + 8))) / 8;
  const std::size_t letters = first < 8 ? first : 8 + second;
  const bool is_settled = letters > 0 && letters < 16 && static_cast<signed char>(text[space + letters]) >= 0;
  return is_settled ? space + letters : 0;
}

/// 1 if the first piece is one sign of punctuation, or one blank but for a space, and a further byte of ASCII settles
/// it; otherwise 0. `text` has two bytes or more.
inline std::size_t single_sign(const char* text) {
  enum Kind : std::uint8_t { kWide, kBlank, kSpace, kSign, kQuote, kAlphanumeric };
  static constexpr std::array<Kind, 256> kKinds = [] {
    std::array<Kind, 256> kinds{};
    for (unsigned byte = 0; byte < 0x80; ++byte) {
      const unsigned lower = byte | 0x20U;
      const bool alphanumeric = (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9');
      kinds[byte] = alphanumeric ? kAlphanumeric : byte >= '\t' && byte <= '\r' ? kBlank : kSign;
    }
    kinds[' '] = kSpace;
    kinds['\''] = kQuote;
    return kinds;
  }();
  const Kind first = kKinds[static_cast<unsigned char>(text[0])];
  const Kind next = kKinds[static_cast<unsigned char>(text[1])];
  if (next == kWide) return 0;
  const bool is_sign = first == kSign && next != kSign && next != kQuote;
  return is_sign || (first == kBlank && next != kBlank && next != kSpace) ? 1 : 0;
}

}  // namespace xlm
