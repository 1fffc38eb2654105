// What commands show of a prepared data folder.
#pragma once

#include <string>

#include "base/json.h"
#include "datasets/prepared/prepared.h"

namespace xlm {

/// "27 symbols (characters)", "50257 symbols (byte pairs)".
std::string symbols_text(const Vocabulary& vocabulary);

/// A line for each split: tokens, words, bytes, documents; `width` as TextTable::render takes it.
std::string splits_table(const PreparedData& data, int width);

/// The same, by split.
Json splits_json(const PreparedData& data);

}  // namespace xlm
