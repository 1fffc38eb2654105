// Training text as chunks of rotated rows in shuffled order.
//
// B rows of L tokens, T tokens of a chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batches/batch_stream.h"

namespace xlm {

/// B contiguous rows of L = ⌊N/B⌋ tokens, each rotated by a random shift every epoch; the L − 1 predictions of a
/// rotated row are cut in chunks of T, visited in shuffled order; the last chunk may be short
/// (docs/models.md#chunks-and-windows-of-the-hourglass). Every chunk starts without state. The input's positions are
/// places in the row as it was before rotation. Random numbers follow from the seed and the epoch.
class RotatedChunks final : public BatchStream {
 public:
  /// Throws DataError when a row has fewer than two tokens.
  RotatedChunks(const TokenSource& source, BatchShape shape, std::int64_t seed);

  Batch next() override;
  Json state() const override;
  void restore(const Json& state) override;

 private:
  void begin_epoch(std::int64_t epoch);
  std::int64_t chunk_count() const { return (row_length_ - 1 + shape_.block - 1) / shape_.block; }

  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::int64_t row_length_;  // L
  std::int64_t epoch_ = 0;
  std::int64_t visited_ = 0;          // chunks of this epoch
  std::vector<std::int64_t> shifts_;  // of each row
  std::vector<std::int64_t> order_;   // chunks in the order in which they are visited
};

}  // namespace xlm
