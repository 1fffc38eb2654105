// UTF-8 as it comes in pieces: checking, repairing and decoding.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xlm {

constexpr char32_t kReplacementCharacter = 0xFFFD;
constexpr char32_t kLastCodePoint = 0x10FFFF;

/// What stands at the start of a text: a character, a piece that no character begins with, or too little to tell.
struct Utf8Character {
  enum class Kind { kValid, kInvalid, kIncomplete };
  Kind kind = Kind::kIncomplete;
  int bytes = 0;  // of the character, or of the piece that one U+FFFD stands for
  char32_t code_point = 0;
};

/// `text` is not empty. An incomplete character is one that more bytes could complete.
Utf8Character decode_utf8(std::string_view text);

/// The character of valid UTF-8 at `text[position]`; moves `position` behind it.
inline char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto first = static_cast<unsigned char>(text[position]);
  if (first < 0x80) {
    ++position;
    return first;
  }
  const Utf8Character character = decode_utf8(text.substr(position));
  position += static_cast<std::size_t>(character.bytes);
  return character.code_point;
}

/// The text with U+FFFD for what is no UTF-8, as Utf8Repair puts it.
std::string repaired_utf8(std::string_view text);

void append_utf8(std::string& text, char32_t code_point);

/// Makes valid UTF-8 of any bytes: each piece that cannot be part of a character becomes U+FFFD (one for the longest
/// piece that could have begun one, as the Unicode standard recommends in its section 3.9).
class Utf8Repair {
 public:
  /// Appends what `bytes` complete to `out`.
  void write(std::string_view bytes, std::string& out);
  /// The text ends: a character that was begun becomes U+FFFD.
  void finish(std::string& out);
  /// How many U+FFFD were put in.
  std::int64_t replaced() const { return replaced_; }
  /// The offset, in all bytes written, of the first piece that was replaced; -1 when there was none.
  std::int64_t first_replaced() const { return first_replaced_; }

 private:
  std::size_t take(std::string_view text, std::string& out);
  void replace(std::size_t position, std::string& out);

  std::string begun_;
  std::int64_t replaced_ = 0;
  std::int64_t taken_ = 0;  // bytes before what is being looked at
  std::int64_t first_replaced_ = -1;
};

}  // namespace xlm
