// From token ids to text, piece by piece.
#include "datasets/tokens/decoder.h"

#include <array>
#include <optional>

namespace xlm {
namespace {

constexpr char32_t kFirstSubstitute = 0x100;

bool stands_for_itself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

/// The character for each byte: bytes that are not printable use the characters from U+0100 on, in order.
const std::array<char32_t, 256>& byte_characters() {
  static const std::array<char32_t, 256> table = [] {
    std::array<char32_t, 256> made{};
    char32_t next = kFirstSubstitute;
    for (unsigned byte = 0; byte < made.size(); ++byte) made.at(byte) = stands_for_itself(byte) ? byte : next++;
    return made;
  }();
  return table;
}

std::optional<char> byte_of(char32_t character) {
  constexpr std::size_t kBehindSubstitutes = 0x144;
  static const std::array<std::optional<char>, kBehindSubstitutes> table = [] {
    std::array<std::optional<char>, kBehindSubstitutes> made;
    for (std::size_t byte = 0; byte < 256; ++byte) made.at(byte_characters().at(byte)) = static_cast<char>(byte);
    return made;
  }();
  return character < table.size() ? table.at(character) : std::nullopt;
}

std::string token_bytes(const std::string& symbol) {
  std::string bytes;
  for (std::size_t position = 0; position < symbol.size();) {
    const std::optional<char> byte = byte_of(next_code_point(symbol, position));
    if (!byte) return symbol;
    bytes += *byte;
  }
  return bytes;
}

}  // namespace

std::string byte_symbol(unsigned char byte) {
  std::string symbol;
  append_utf8(symbol, byte_characters().at(byte));
  return symbol;
}

std::vector<std::string> symbol_bytes(const Vocabulary& vocabulary) {
  if (vocabulary.unit != Vocabulary::Unit::kBpe) return vocabulary.symbols;
  std::vector<std::string> bytes;
  bytes.reserve(vocabulary.symbols.size());
  for (const std::string& symbol : vocabulary.symbols) bytes.push_back(token_bytes(symbol));
  return bytes;
}

std::string StreamingDecoder::take(std::int64_t id) {
  std::string text;
  repair_.write(bytes_.at(static_cast<std::size_t>(id)), text);
  return text;
}

std::string StreamingDecoder::finish() {
  std::string text;
  repair_.finish(text);
  return text;
}

}  // namespace xlm
