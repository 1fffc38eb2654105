// Sequences of documents.
#include "core/batches/document_sequences.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "core/runtime/random_streams.h"

namespace xlm {

DocumentSequences::DocumentSequences(const TokenSource& source, BatchShape shape, std::int64_t seed)
    : source_(&source), shape_(shape), seed_(seed) {
  for (const auto& [begin, size] : source.documents()) {
    for (std::int64_t at = 0; at + 1 < size; at += shape.block) {
      sequences_.push_back({begin + at, std::min(shape.block, size - 1 - at)});
    }
  }
  if (sequences_.empty()) throw DataError("the training split has no document of two tokens or more");
}

void DocumentSequences::shuffle(std::int64_t epoch) {
  const std::uint64_t bits =
      random_bits(static_cast<std::uint64_t>(seed_), kChunkOrder, static_cast<std::uint64_t>(epoch));
  order_.resize(sequences_.size());
  std::iota(order_.begin(), order_.end(), 0);
  for (std::size_t i = order_.size(); i > 1; --i) {
    const std::int64_t other = random_below(static_cast<std::int64_t>(i), random_bits(bits, 0, i));
    std::swap(order_[i - 1], order_[static_cast<std::size_t>(other)]);
  }
  shuffled_ = epoch;
}

const DocumentSequences::Sequence& DocumentSequences::visit() {
  const auto count = static_cast<std::int64_t>(sequences_.size());
  if (shuffled_ != visited_ / count) shuffle(visited_ / count);
  const std::int64_t index = order_[static_cast<std::size_t>(visited_++ % count)];
  return sequences_[static_cast<std::size_t>(index)];
}

Batch DocumentSequences::next() {
  std::vector<Sequence> rows;
  std::int64_t longest = 0;
  for (std::int64_t row = 0; row < shape_.batch; ++row) {
    rows.push_back(visit());
    longest = std::max(longest, rows.back().count);
  }
  const torch::Tensor tokens = torch::zeros({shape_.batch, longest}, torch::kLong);             // [B, N]
  const torch::Tensor targets = torch::full({shape_.batch, longest}, kNoTarget, torch::kLong);  // [B, N]
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::int64_t at = static_cast<std::int64_t>(row) * longest;
    source_->copy(rows[row].begin, rows[row].count, tokens.data_ptr<std::int64_t>() + at);
    source_->copy(rows[row].begin + 1, rows[row].count, targets.data_ptr<std::int64_t>() + at);
  }
  return {.input = {.tokens = tokens}, .targets = targets, .fresh = true};
}

void DocumentSequences::restore(const Json& state) {
  visited_ = state.at("visited").get<std::int64_t>();
  if (visited_ < 0) throw DataError("a checkpoint's place in the text lies outside it");
}

}  // namespace xlm
