// Training text as sequences of documents in shuffled order.
//
// B rows, N tokens of a sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "core/batches/batch_stream.h"

namespace xlm {

/// Every document is cut in sequences of N predictions, the last one shorter; all of them, in an order that is shuffled
/// anew every epoch, B at a time without regard to where an epoch ends. A row that is shorter than its batch's longest
/// is padded with targets that do not count. Every sequence starts without state. Random numbers follow from the seed
/// and the epoch.
class DocumentSequences final : public BatchStream {
 public:
  /// Throws DataError when no document has two tokens.
  DocumentSequences(const TokenSource& source, BatchShape shape, std::int64_t seed);

  Batch next() override;
  Json state() const override { return {{"visited", visited_}}; }
  void restore(const Json& state) override;

 private:
  struct Sequence {
    std::int64_t begin;
    std::int64_t count;  // predictions
  };
  const Sequence& visit();
  void shuffle(std::int64_t epoch);

  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::vector<Sequence> sequences_;
  std::int64_t visited_ = 0;         // sequences, over all epochs
  std::int64_t shuffled_ = -1;       // the epoch whose order is in order_
  std::vector<std::int64_t> order_;  // in which sequences are visited
};

}  // namespace xlm
