// Chunks of rotated rows.
#include "core/batches/rotated_chunks.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/runtime/random_streams.h"

namespace xlm {
namespace {

/// Copies `count` items from place `begin` of a row of `length` items on, going round at its end. `copy(begin, count,
/// out)` copies a piece that does not.
template <class Item, class Copy>
void copy_around(std::int64_t begin, std::int64_t count, std::int64_t length, Item* out, Copy&& copy) {
  while (count > 0) {
    const std::int64_t piece = std::min(count, length - begin);
    copy(begin, piece, out);
    out += piece;
    count -= piece;
    begin = 0;
  }
}

}  // namespace

RotatedChunks::RotatedChunks(const TokenSource& source, BatchShape shape, std::int64_t seed)
    : source_(&source), shape_(shape), seed_(seed), row_length_(source.size() / shape.batch) {
  if (row_length_ < 2) {
    throw DataError(fmt::format("the training split has {} tokens; train.batch={} rows need at least {}", source.size(),
                                shape.batch, 2 * shape.batch));
  }
  begin_epoch(0);
}

void RotatedChunks::begin_epoch(std::int64_t epoch) {
  epoch_ = epoch;
  visited_ = 0;
  const auto seed = static_cast<std::uint64_t>(seed_);
  const auto number = static_cast<std::uint64_t>(epoch);
  const std::uint64_t rotation = random_bits(seed, kRotations, number);
  shifts_.clear();
  for (std::int64_t row = 0; row < shape_.batch; ++row) {
    shifts_.push_back(random_below(row_length_, random_bits(rotation, 0, static_cast<std::uint64_t>(row))));
  }
  const std::uint64_t shuffle = random_bits(seed, kChunkOrder, number);
  order_.resize(static_cast<std::size_t>(chunk_count()));
  std::iota(order_.begin(), order_.end(), 0);
  for (std::size_t i = order_.size(); i > 1; --i) {
    const std::int64_t other = random_below(static_cast<std::int64_t>(i), random_bits(shuffle, 0, i));
    std::swap(order_[i - 1], order_[static_cast<std::size_t>(other)]);
  }
}

Batch RotatedChunks::next() {
  const std::int64_t start = order_[static_cast<std::size_t>(visited_)] * shape_.block;
  const std::int64_t count = std::min(shape_.block, row_length_ - 1 - start);
  const torch::Tensor tokens = torch::empty({shape_.batch, count + 1}, torch::kLong);  // [B, T + 1]
  const torch::Tensor positions = torch::empty({shape_.batch, count}, torch::kLong);   // [B, T]
  const TokenFlags* flags = source_->flags();
  const torch::Tensor boundaries =
      flags == nullptr ? torch::Tensor() : torch::empty({shape_.batch, count}, torch::kBool);  // [B, T]
  for (std::int64_t row = 0; row < shape_.batch; ++row) {
    const std::int64_t base = row * row_length_;
    const std::int64_t begin = (start + shifts_[static_cast<std::size_t>(row)]) % row_length_;
    copy_around(begin, count + 1, row_length_, tokens.data_ptr<std::int64_t>() + row * (count + 1),
                [&](std::int64_t at, std::int64_t piece, std::int64_t* out) { source_->copy(base + at, piece, out); });
    copy_around(begin, count, row_length_, positions.data_ptr<std::int64_t>() + row * count,
                [](std::int64_t at, std::int64_t piece, std::int64_t* out) { std::iota(out, out + piece, at); });
    if (flags == nullptr) continue;
    copy_around(begin, count, row_length_, boundaries.data_ptr<bool>() + row * count,
                [&](std::int64_t at, std::int64_t piece, bool* out) { flags->copy(base + at, piece, out); });
  }
  if (++visited_ == chunk_count()) begin_epoch(epoch_ + 1);
  return {
      .input = {.tokens = tokens.narrow(1, 0, count).contiguous(), .positions = positions, .boundaries = boundaries},
      .targets = tokens.narrow(1, 1, count).contiguous(),
      .fresh = true};
}

Json RotatedChunks::state() const { return {{"epoch", epoch_}, {"visited", visited_}}; }

void RotatedChunks::restore(const Json& state) {
  begin_epoch(state.at("epoch").get<std::int64_t>());
  visited_ = state.at("visited").get<std::int64_t>();
  if (epoch_ < 0 || visited_ < 0 || visited_ >= chunk_count()) {
    throw DataError("a checkpoint's place in the text lies outside it");
  }
}

}  // namespace xlm
