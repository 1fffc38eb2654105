// GPT-2's division of a text into pieces: the pattern as a scanner, because each of its alternatives is a run of one
// class.
#include "datasets/tokens/bpe_pieces.h"

#include <unicode/uchar.h>

#include <array>
#include <cstdint>

#include "base/utf8.h"

namespace xlm {
namespace {

enum class PieceClass : std::uint8_t { kLetter, kNumber, kSpace, kOther, kEnd };

PieceClass class_of(char32_t character) {
  const auto code_point = static_cast<UChar32>(character);
  const std::uint32_t category = U_GET_GC_MASK(code_point);
  if ((category & U_GC_L_MASK) != 0) return PieceClass::kLetter;
  if ((category & U_GC_N_MASK) != 0) return PieceClass::kNumber;
  return u_isUWhiteSpace(code_point) != 0 ? PieceClass::kSpace : PieceClass::kOther;
}

/// The classes of the characters up to U+FFFF, which are nearly all that texts have.
constexpr std::size_t kUsual = 0x10000;
const std::array<PieceClass, kUsual>& usual_classes() {
  static const std::array<PieceClass, kUsual> table = [] {
    std::array<PieceClass, kUsual> made{};
    for (char32_t character = 0; character < kUsual; ++character) made[character] = class_of(character);
    return made;
  }();
  return table;
}

/// One character, or a piece of invalid UTF-8.
struct PieceSymbol {
  PieceClass kind = PieceClass::kEnd;  // kEnd: behind the text, or begun and not yet complete
  std::size_t bytes = 0;
};

class PieceScanner {
 public:
  PieceScanner(std::string_view text, bool whole) : text_(text), whole_(whole), usual_(usual_classes().data()) {}

  PieceSymbol at(std::size_t position) const {
    if (position >= text_.size()) return {};
    const auto byte = static_cast<unsigned char>(text_[position]);
    return byte < 0x80 ? PieceSymbol{usual_[byte], 1} : wide_at(position);
  }

  /// Bytes of the piece, or 0.
  std::size_t piece() const {
    if (text_.empty()) return 0;
    if (text_[0] == '\'') {
      if (text_.size() < 3 && !whole_) return 0;
      if (const std::size_t bytes = contraction(); bytes > 0) return bytes;
    }
    PieceSymbol now = at(0);
    std::size_t end = now.bytes;
    if (text_[0] == ' ') {  // belongs to what follows, unless that is white space
      const PieceSymbol next = at(1);
      if (next.kind != PieceClass::kEnd && next.kind != PieceClass::kSpace) {
        now = next;
        end += next.bytes;
      }
    }
    return run(now.kind, end);
  }

 private:
  PieceSymbol wide_at(std::size_t position) const {
    const Utf8Character character = decode_utf8(text_.substr(position));
    const auto bytes = static_cast<std::size_t>(character.bytes);
    if (character.kind == Utf8Character::Kind::kValid) {
      return {character.code_point < kUsual ? usual_[character.code_point] : class_of(character.code_point), bytes};
    }
    if (character.kind == Utf8Character::Kind::kIncomplete && !whole_) return {};
    return {PieceClass::kOther, bytes};
  }

  std::size_t contraction() const {
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
      if (text_.starts_with(ending)) return ending.size();
    }
    return 0;
  }

  /// The piece continues from `end` with symbols of the same kind.
  std::size_t run(PieceClass kind, std::size_t end) const {
    std::size_t last = 0;
    PieceSymbol next = at(end);
    for (; next.kind == kind && kind != PieceClass::kEnd; next = at(end)) {
      last = end;
      end += next.bytes;
    }
    if (next.kind == PieceClass::kEnd) return whole_ ? end : 0;
    // The last white-space character before something else belongs to that, or stands alone.
    return kind == PieceClass::kSpace && last > 0 ? last : end;
  }

  std::string_view text_;
  bool whole_;
  const PieceClass* usual_;
};

}  // namespace

std::size_t first_piece(std::string_view text, bool whole) { return PieceScanner(text, whole).piece(); }

std::size_t settled_bytes(std::string_view text) {
  std::size_t settled = 0;
  while (const std::size_t bytes = first_piece(text.substr(settled), false)) settled += bytes;
  return settled;
}

}  // namespace xlm
