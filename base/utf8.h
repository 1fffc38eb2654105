// UTF-8 in pieces: checking, repairing and decoding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

namespace xlm {

constexpr char32_t kReplacementCharacter = 0xFFFD;
constexpr char32_t kLastCodePoint = 0x10FFFF;

/// What a text begins with: a character, an invalid piece, or too few bytes to tell.
struct Utf8Character {
  enum class Kind { kValid, kInvalid, kIncomplete };
  Kind kind = Kind::kIncomplete;
  int bytes = 0;  // of the character, or of the piece that one U+FFFD replaces
  char32_t code_point = 0;
};

/// `text` is not empty. An incomplete character is one that more bytes could complete.
Utf8Character decode_utf8(std::string_view text);

/// The first position from `position` on that is not ASCII, or the end.
std::size_t after_ascii(std::string_view text, std::size_t position);

/// The character of valid UTF-8 at `text[position]`; moves `position` past it.
inline char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto first = static_cast<unsigned char>(text[position]);
  if (first < 0x80) {
    ++position;
    return first;
  }
  const auto rest = [&](char32_t begun) {
    return position < text.size() ? begun << 6U | (static_cast<unsigned char>(text[position++]) & 0x3FU) : begun;
  };
  ++position;
  if (first < 0xE0) return rest(first & 0x1FU);
  if (first < 0xF0) return rest(rest(first & 0x0FU));
  return rest(rest(rest(first & 0x07U)));
}

/// How many bytes are as `is` says. Counts of one byte, which suffice for a short stretch, the compiler takes side by
/// side.
template <class Is>
std::int64_t count_bytes(std::string_view text, const Is& is) {
  constexpr std::size_t kStretch = 128;
  std::int64_t all = 0;
  for (; text.size() >= kStretch; text.remove_prefix(kStretch)) {
    std::uint8_t some = 0;
    for (std::size_t i = 0; i < kStretch; ++i) some = static_cast<std::uint8_t>(some + (is(text[i]) ? 1 : 0));
    all += some;
  }
  return all + std::ranges::count_if(text, is);
}

/// The characters of valid UTF-8.
inline std::int64_t count_characters(std::string_view text) {
  return count_bytes(text, [](char byte) { return static_cast<signed char>(byte) >= -0x40; });
}

/// The bytes of `text` without an incomplete character at its end.
std::size_t whole_characters(std::string_view text);

/// The text with U+FFFD for invalid UTF-8, as Utf8Repair replaces it.
std::string repaired_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

/// Makes valid UTF-8 of any bytes: each invalid piece becomes U+FFFD. A piece is the longest one that could have begun
/// a character (Unicode standard, section 3.9).
class Utf8Repair {
 public:
  /// Appends the characters that `bytes` complete to `out`.
  void write(std::string_view bytes, std::string& out);
  /// The same characters without a copy where `bytes` are whole and valid; otherwise they are in `scratch`.
  std::string_view write_or_pass(std::string_view bytes, std::string& scratch);
  /// The text ends: an incomplete character becomes U+FFFD.
  void finish(std::string& out);
  /// How many U+FFFD were written.
  std::int64_t replaced() const { return replaced_; }
  /// The offset, in all bytes written, of the first piece that was replaced; -1 if there was none.
  std::int64_t first_replaced() const { return first_replaced_; }

 private:
  std::size_t take(std::string_view text, std::string& out);
  void replace(std::size_t position, std::string& out);

  std::string begun_;
  std::int64_t replaced_ = 0;
  std::int64_t taken_ = 0;  // bytes before the ones being read
  std::int64_t first_replaced_ = -1;
};

}  // namespace xlm
