// Short documents that two splits share, in which no passage of shared_passages.h fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/prepared/prepared.h"

namespace xlm {

/// How many of the documents of a split occur in another one, too.
struct SharedDocuments {
  std::string split;           // "test"
  std::string other;           // "train"
  std::int64_t documents = 0;  // all of the split
  std::int64_t shared = 0;     // the short ones that were found
  std::int64_t example = 0;    // the first token of the first of them

  double share() const { return documents == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(documents); }
};

/// Validation and test against training, and test against validation, if they exist: their documents of at least 20 and
/// fewer than `length` tokens (5 byte pairs). Memory: 24 bytes for each of at most `most` of them in a split.
std::vector<SharedDocuments> shared_documents(const PreparedData& data, std::int64_t length,
                                              std::size_t most = std::size_t{1} << 22);

/// "100 % of the documents of test are short and also occur in train (300 of 300)".
std::string shared_documents_text(const SharedDocuments& found);

}  // namespace xlm
