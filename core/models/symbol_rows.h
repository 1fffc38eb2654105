// Weights of another vocabulary: the rows of common symbols.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/api/model_options.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {

/// Where tensors with a place for each symbol get their values from, if a file has other symbols than the model.
struct SymbolRows {
  std::vector<std::int64_t> from;              // ids of common symbols in the file,
  std::vector<std::int64_t> to;                // and those of the same symbols in the model
  std::int64_t symbols = 0;                    // of the file
  std::map<std::string, std::int64_t> places;  // by parameter: the dimension that has a place for each symbol
};

/// The rows that a model with these options and the symbols `own` has in common with weights for the symbols `other`.
/// `source` names the weights in errors. Throws DataError if the units differ or if no symbol is common.
SymbolRows common_rows(const Vocabulary& other, const Vocabulary& own, const ModelOptions& options,
                       const std::string& source);

}  // namespace xlm
