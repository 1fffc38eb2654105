// UTF-8 in pieces.
#include "base/utf8.h"

#include <bit>
#include <cstring>

namespace xlm {
namespace {

/// The length of a character by its first byte, and the range of its second byte (Unicode standard, table 3-7). The
/// range excludes overlong forms, surrogates and code points beyond U+10FFFF.
struct Lead {
  int bytes;
  unsigned char second_min;
  unsigned char second_max;
};

Lead lead_of(unsigned char first) {
  if (first < 0xC2 || first > 0xF4) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first < 0xF0) {
    return {3, static_cast<unsigned char>(first == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(first == 0xED ? 0x9F : 0xBF)};
  }
  return {4, static_cast<unsigned char>(first == 0xF0 ? 0x90 : 0x80),
          static_cast<unsigned char>(first == 0xF4 ? 0x8F : 0xBF)};
}

}  // namespace

std::size_t after_ascii(std::string_view text, std::size_t position) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::uint64_t word = 0;
  static_assert(std::endian::native == std::endian::little);
  while (position + sizeof(word) <= text.size()) {
    std::memcpy(&word, text.data() + position, sizeof(word));
    if ((word & kHighBits) != 0) return position + static_cast<std::size_t>(std::countr_zero(word & kHighBits)) / 8;
    position += sizeof(word);
  }
  while (position < text.size() && static_cast<unsigned char>(text[position]) < 0x80) ++position;
  return position;
}

Utf8Character decode_utf8(std::string_view text) {
  using Kind = Utf8Character::Kind;
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {Kind::kValid, 1, first};
  const Lead lead = lead_of(first);
  if (lead.bytes == 0) return {Kind::kInvalid, 1, 0};
  char32_t code_point = first & (0x7FU >> static_cast<unsigned>(lead.bytes));
  for (int i = 1; i < lead.bytes; ++i) {
    if (static_cast<std::size_t>(i) == text.size()) return {Kind::kIncomplete, i, 0};
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    const unsigned char min = i == 1 ? lead.second_min : 0x80;
    const unsigned char max = i == 1 ? lead.second_max : 0xBF;
    if (byte < min || byte > max) return {Kind::kInvalid, i, 0};
    code_point = code_point << 6U | (byte & 0x3FU);
  }
  return {Kind::kValid, lead.bytes, code_point};
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto put_rest = [&](unsigned shift) { put(0x80U | (code_point >> shift & 0x3FU)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | code_point >> 6U);
    put_rest(0);
  } else if (code_point < 0x10000) {
    put(0xE0U | code_point >> 12U);
    put_rest(6);
    put_rest(0);
  } else {
    put(0xF0U | code_point >> 18U);
    put_rest(12);
    put_rest(6);
    put_rest(0);
  }
}

void Utf8Repair::replace(std::size_t position, std::string& out) {
  append_utf8(out, kReplacementCharacter);
  ++replaced_;
  if (first_replaced_ < 0) first_replaced_ = taken_ + static_cast<std::int64_t>(position);
}

std::size_t Utf8Repair::take(std::string_view text, std::string& out) {
  std::size_t copied = 0;  // everything before it is in `out`
  std::size_t position = 0;
  while ((position = after_ascii(text, position)) < text.size()) {
    const Utf8Character character = decode_utf8(text.substr(position));
    if (character.kind == Utf8Character::Kind::kIncomplete) break;
    if (character.kind == Utf8Character::Kind::kInvalid) {
      out.append(text, copied, position - copied);
      replace(position, out);
      copied = position + static_cast<std::size_t>(character.bytes);
    }
    position += static_cast<std::size_t>(character.bytes);
  }
  out.append(text, copied, position - copied);
  taken_ += static_cast<std::int64_t>(position);
  return position;
}

void Utf8Repair::write(std::string_view bytes, std::string& out) {
  // At most three bytes of a character are pending: complete it byte by byte, then continue in the new piece.
  while (!begun_.empty() && !bytes.empty()) {
    begun_ += bytes.front();
    bytes.remove_prefix(1);
    begun_.erase(0, take(begun_, out));
  }
  begun_.append(bytes.substr(take(bytes, out)));
}

std::string_view Utf8Repair::write_or_pass(std::string_view bytes, std::string& scratch) {
  std::size_t position = 0;
  while (begun_.empty() && (position = after_ascii(bytes, position)) < bytes.size()) {
    const Utf8Character character = decode_utf8(bytes.substr(position));
    if (character.kind != Utf8Character::Kind::kValid) break;
    position += static_cast<std::size_t>(character.bytes);
  }
  if (position == bytes.size()) {
    taken_ += static_cast<std::int64_t>(position);
    return bytes;
  }
  scratch.clear();
  write(bytes, scratch);
  return scratch;
}

void Utf8Repair::finish(std::string& out) {
  if (begun_.empty()) return;
  replace(0, out);
  taken_ += static_cast<std::int64_t>(begun_.size());
  begun_.clear();
}

std::size_t whole_characters(std::string_view text) {
  for (std::size_t back = 1; back <= 4 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;  // inside a character: its first byte is earlier
    const bool incomplete = decode_utf8(text.substr(text.size() - back)).kind == Utf8Character::Kind::kIncomplete;
    return text.size() - (incomplete ? back : 0);
  }
  return text.size();
}

std::string repaired_utf8(std::string_view text) {
  Utf8Repair repair;
  std::string out;
  repair.write(text, out);
  repair.finish(out);
  return out;
}

}  // namespace xlm
