// The length of an epoch, from the sizes of the text alone. Free of torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/api/options.h"

namespace xlm {

/// One pass over a training split.
struct Epoch {
  double steps = 0;        // not always whole, because batches continue across the end of an epoch
  double predictions = 0;  // that these steps score
};

/// `documents`: the tokens of each document of the split. Nothing is in an epoch of a text that is too short for a
/// step. Rows that are streamed begin at a random place from the second time on, and may then have a block less than is
/// counted here.
inline Epoch epoch_of(TextScheme scheme, std::int64_t batch, std::int64_t block,
                      const std::vector<std::int64_t>& documents) {
  const auto blocks_in = [&](std::int64_t predictions) { return (predictions + block - 1) / block; };
  if (scheme == TextScheme::kWindows) {
    std::int64_t sequences = 0;
    std::int64_t predictions = 0;
    for (const std::int64_t tokens : documents) {
      const std::int64_t of_document = std::max<std::int64_t>(0, tokens - 1);
      predictions += of_document;
      sequences += blocks_in(of_document);
    }
    return {static_cast<double>(sequences) / static_cast<double>(batch), static_cast<double>(predictions)};
  }
  const std::int64_t row = std::accumulate(documents.begin(), documents.end(), std::int64_t{0}) / batch;
  const std::int64_t predictions = std::max<std::int64_t>(0, row - 1);
  if (scheme == TextScheme::kStreaming) {  // a short last block is skipped
    const std::int64_t blocks = predictions / block;
    return {static_cast<double>(blocks), static_cast<double>(blocks * block * batch)};
  }
  return {static_cast<double>(blocks_in(predictions)), static_cast<double>(predictions * batch)};
}

}  // namespace xlm
