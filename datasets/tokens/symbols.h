// Text as the ids of a vocabulary of characters or bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// Ids of the characters or bytes of `text`. Throws DataError with the first that the vocabulary lacks (or that is not
/// UTF-8), UsageError if the vocabulary has neither characters nor bytes.
std::vector<std::int64_t> encode_symbols(const Vocabulary& vocabulary, std::string_view text);

}  // namespace xlm
