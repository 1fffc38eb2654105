// What a prepared data folder holds, for people: counts, characters, lines.
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

/// The symbols of `split` by how often they occur, most frequent first; those that never occur are left out. Throws
/// DataError for an id that the vocabulary does not have.
std::vector<SymbolCount> count_symbols(const Vocabulary& vocabulary, const Split& split);

/// The text of tokens [begin, end) of `split`: UTF-8, whatever the unit.
std::string decode(const Vocabulary& vocabulary, const Split& split, std::int64_t begin, std::int64_t end);

/// Re-hashes every file that meta.json names. Throws DataError naming the first that differs or is missing.
void verify_prepared(const PreparedData& data);

}  // namespace xlm
