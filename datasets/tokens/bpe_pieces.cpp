// GPT-2's division of a text into pieces: the pattern as a scanner, because each of its alternatives is a run of one
// class; and the same for 64 bytes at once, as sets of places with one bit each.
#include "datasets/tokens/bpe_pieces.h"

#include <unicode/uchar.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

/// Bytes of the contraction that a text which begins with an apostrophe begins with, or 0.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

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
      if (const std::size_t bytes = contraction(text_); bytes > 0) return bytes;
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

using Sixteen __attribute__((vector_size(16))) = unsigned char;

/// A bit for each byte: its highest.
std::uint64_t high_bits(const Sixteen& bytes) {
#if defined(__SSE2__)
  return static_cast<std::uint32_t>(_mm_movemask_epi8(reinterpret_cast<const __m128i&>(bytes)));
#else
  std::array<std::uint64_t, 2> halves;
  std::memcpy(halves.data(), &bytes, sizeof halves);
  for (std::uint64_t& half : halves) half = (half >> 7U & 0x0101010101010101U) * 0x0102040810204080U >> 56U;
  return halves[0] | halves[1] << 8U;
#endif
}

/// Places in 64 bytes, by the class of what is there; of ASCII, until others are added.
struct PlacesOfClasses {
  explicit PlacesOfClasses(const char* text) {
    const auto within = [](const Sixteen& bytes, unsigned char first, unsigned char last) {
      return reinterpret_cast<Sixteen>(bytes - first <= static_cast<unsigned char>(last - first));
    };
    for (unsigned lane = 0; lane < 64; lane += sizeof(Sixteen)) {
      Sixteen bytes;
      std::memcpy(&bytes, text + lane, sizeof bytes);
      letters |= high_bits(within(bytes | 0x20, 'a', 'z')) << lane;
      numbers |= high_bits(within(bytes, '0', '9')) << lane;
      blanks |= high_bits(within(bytes, '\t', '\r')) << lane;
      spaces |= high_bits(within(bytes, ' ', ' ')) << lane;
      quotes |= high_bits(within(bytes, '\'', '\'')) << lane;
      wide |= high_bits(bytes) << lane;
    }
    blanks |= spaces;
  }

  std::uint64_t letters = 0;
  std::uint64_t numbers = 0;
  std::uint64_t blanks = 0;
  std::uint64_t spaces = 0;  // alone, of blanks
  std::uint64_t quotes = 0;
  std::uint64_t wide = 0;  // no ASCII
};

}  // namespace

std::size_t first_piece(std::string_view text, bool whole) { return PieceScanner(text, whole).piece(); }

std::uint64_t piece_beginnings(const char* text) {
  PlacesOfClasses places(text);
  const PieceScanner scanner({text, 64}, false);
  unsigned known = 64;
  while (places.wide != 0) {
    const auto at = static_cast<unsigned>(std::countr_zero(places.wide));
    const PieceSymbol symbol = scanner.at(at);
    if (symbol.kind == PieceClass::kSpace || symbol.kind == PieceClass::kEnd) {
      known = at;
      break;
    }
    const std::uint64_t bytes = ((std::uint64_t{1} << symbol.bytes) - 1) << at;
    places.wide &= ~bytes;
    if (symbol.kind == PieceClass::kLetter) places.letters |= bytes;
    if (symbol.kind == PieceClass::kNumber) places.numbers |= bytes;
  }
  const auto first = [](std::uint64_t run) { return run & ~(run << 1U); };
  const std::uint64_t others = ~(places.letters | places.numbers | places.blanks);
  // A space belongs to what follows. Of more white space the last character does, or stands alone.
  std::uint64_t begins = (first(places.letters) | first(places.numbers) | first(others)) & ~(places.spaces << 1U);
  begins |= places.blanks & ~(places.blanks << 1U & places.blanks >> 1U);
  for (std::uint64_t quotes = places.quotes & (begins | 1U); quotes != 0; quotes &= quotes - 1) {
    const auto at = static_cast<unsigned>(std::countr_zero(quotes));
    const std::size_t bytes = contraction({text + at, 3});
    if (bytes == 0) continue;
    begins &= ~(std::uint64_t{2} << at);
    if (at + bytes < 64) begins |= std::uint64_t{1} << (at + bytes);
  }
  // What stands behind the last byte that is known decides about that one.
  const std::uint64_t settled = known < 2 ? 0 : ~std::uint64_t{0} >> (65 - known);
  return begins & settled & ~std::uint64_t{1};
}

std::size_t settled_bytes(std::string_view text) {
  std::size_t settled = 0;
  while (const std::size_t bytes = first_piece(text.substr(settled), false)) settled += bytes;
  return settled;
}

}  // namespace xlm
