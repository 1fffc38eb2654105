// Vocabularies: which symbols have ids, the format of vocab.json, and mapping the ids of one to those of another.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace xlm {

/// The symbols of a data folder or a model, by id.
struct Vocabulary {
  enum class Unit { kCharacter, kByte, kBpe };

  Unit unit = Unit::kCharacter;
  std::vector<std::string> symbols;  // UTF-8 characters, single bytes, or GPT-2's token strings

  std::int64_t size() const { return static_cast<std::int64_t>(symbols.size()); }
  /// Bytes per id in a token file: 1, 2 or 4.
  int id_bytes() const;
  bool operator==(const Vocabulary&) const = default;
};

/// Throws DataError for a malformed vocab.json (not JSON, no unit, a repeated symbol, an empty list).
Vocabulary read_vocabulary(const fs::path& path);
/// The same from text; `source` names it in errors.
Vocabulary parse_vocabulary(std::string_view json, const std::string& source);
std::string vocabulary_json(const Vocabulary& vocabulary);

/// "character", "byte" or "bpe".
std::string_view unit_name(Vocabulary::Unit unit);
/// "characters", "bytes" or "byte pairs".
std::string_view units_name(Vocabulary::Unit unit);

/// Ids as in a token file: `id_bytes` bytes each, the least significant first. Calls `each` with a number of the type
/// that has as many.
template <class Each>
auto with_id_type(int id_bytes, const Each& each) {
  static_assert(std::endian::native == std::endian::little);
  if (id_bytes == 1) return each(std::uint8_t{});
  return id_bytes == 2 ? each(std::uint16_t{}) : each(std::uint32_t{});
}

/// A symbol in an error: 'é' (U+00E9), byte 233, 'the'.
std::string symbol_name(Vocabulary::Unit unit, const std::string& symbol);

/// For each id of `data`, the id of the same symbol in `model`. Empty if both are equal. Throws DataError with the
/// first symbol that the model does not know, or if the units differ.
std::vector<std::int64_t> reencoding(const Vocabulary& data, const Vocabulary& model);

}  // namespace xlm
