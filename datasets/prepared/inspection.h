// Views of a prepared data folder for people: counts, characters, lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/prepared/prepared.h"

namespace xlm {

struct SymbolCount {
  std::string symbol;  // as in Vocabulary
  std::int64_t count = 0;
};

/// The symbols of `split` by frequency, most frequent first, without those that do not occur. Throws DataError for an
/// id that the vocabulary does not have.
std::vector<SymbolCount> count_symbols(const Vocabulary& vocabulary, const Split& split);

/// The text of tokens [begin, end) of `split`: UTF-8 for any unit.
std::string decode(const Vocabulary& vocabulary, const Split& split, std::int64_t begin, std::int64_t end);

/// Hashes every file of meta.json again. Throws DataError with the first that differs or is missing.
void verify_prepared(const PreparedData& data);

}  // namespace xlm
