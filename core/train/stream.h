// The training text as batches of blocks.
//
// B rows, M tokens of a block.
#pragma once

#include <cstdint>
#include <vector>

#include <torch/torch.h>

#include "base/json.h"
#include "datasets/prepared.h"

namespace xlm {

/// Token ids of a split as a model numbers them.
class TokenSource {
 public:
  /// `reencoding` maps ids of the data to ids of the model; empty: they are the same.
  TokenSource(const TokenFile& file, std::vector<std::int64_t> reencoding)
      : file_(&file), reencoding_(std::move(reencoding)) {}

  std::int64_t size() const { return file_->size(); }
  /// Rows of `count` ids that begin at `first`, `first + stride`, …: [rows, count].
  torch::Tensor rows(std::int64_t rows, std::int64_t first, std::int64_t stride, std::int64_t count) const;

 private:
  const TokenFile* file_;
  std::vector<std::int64_t> reencoding_;
};

struct Batch {
  torch::Tensor inputs;   // [B, M]
  torch::Tensor targets;  // [B, M], the token after each
  bool fresh = false;     // the rows do not go on from the batch before: start from the initial state
};

/// B contiguous rows of ⌊N/B⌋ tokens; blocks advance along the rows; a short last block is skipped, and the rows start
/// again at a random offset in [0, M) (models 1.15). Random numbers follow from the seed and the round.
class StreamingBatches {
 public:
  struct Shape {
    std::int64_t batch;
    std::int64_t block;
  };

  /// Throws DataError when the text is too short for one block per row.
  StreamingBatches(const TokenSource& source, Shape shape, std::int64_t seed);

  Batch next();

  /// Where the stream stands, for checkpoints.
  Json state() const;
  void restore(const Json& state);

 private:
  const TokenSource* source_;
  Shape shape_;
  std::int64_t seed_;
  std::int64_t row_length_;
  std::int64_t position_ = 0;
  std::int64_t round_ = 0;
  bool fresh_ = true;
};

}  // namespace xlm
