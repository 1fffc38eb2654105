// Training reads chunks of rotated rows in shuffled order. Evaluation reads overlapping windows and scores the last
// tokens of each; the others are their context
// (experiments/recipes/dynamic-pooling/README.md#chunks-and-windows-of-the-hourglass).
//
// B rows of L tokens, T tokens of a chunk.
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/api/arithmetic.h"
#include "core/kernels/step_context.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/scheme.h"
#include "core/schemes/scored_calls.h"

namespace xlm {
namespace {

/// Copies `count` items of a row of `length` items from place `begin` on, and continues at its start after its end.
/// `copy(begin, count, out)` copies a piece within the row.
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

/// B contiguous rows of L = ⌊N/B⌋ tokens. Every epoch rotates each row by a random shift, cuts its L − 1 predictions
/// into chunks of T, and visits the chunks in shuffled order. The last chunk may be short. Every chunk starts without
/// state. The input's positions are places in the row before rotation. Random numbers follow from the seed and the
/// epoch.
class RotatedChunkBatches final : public BatchStream {
 public:
  RotatedChunkBatches(const TokenSource& source, BatchShape shape, std::int64_t seed)
      : source_(&source), shape_(shape), seed_(seed), row_length_(source.size() / shape.batch) {
    if (row_length_ < 2) {
      throw DataError(fmt::format("the training split has {} tokens; train.batch={} rows need at least {}",
                                  source.size(), shape.batch, 2 * shape.batch));
    }
    begin_epoch(0);
  }

  Batch next() override {
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
      copy_around(
          begin, count + 1, row_length_, tokens.data_ptr<std::int64_t>() + row * (count + 1),
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

  Json state() const override { return {{"epoch", epoch_}, {"visited", visited_}}; }
  void restore(const Json& state) override {
    begin_epoch(state.at("epoch").get<std::int64_t>());
    visited_ = state.at("visited").get<std::int64_t>();
    if (epoch_ < 0 || visited_ < 0 || visited_ >= chunk_count()) {
      throw DataError("the checkpoint's place lies outside the training text");
    }
  }

 private:
  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    visited_ = 0;
    const auto seed = static_cast<std::uint64_t>(seed_);
    const auto number = static_cast<std::uint64_t>(epoch);
    const std::uint64_t rotation = random_bits(seed, kRotations, number);
    shifts_.clear();
    for (std::int64_t row = 0; row < shape_.batch; ++row) {
      shifts_.push_back(random_below(row_length_, random_bits(rotation, 0, static_cast<std::uint64_t>(row))));
    }
    order_ = random_order(static_cast<std::size_t>(chunk_count()), random_bits(seed, kChunkOrder, number));
  }

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

/// Reads the last `context` tokens again for every token.
class ContextReader final : public TextReader {
 public:
  ContextReader(std::shared_ptr<LanguageModel> model, std::int64_t context)
      : model_(std::move(model)), context_(context) {}

  torch::Tensor read(const torch::Tensor& tokens) override {
    seen_ += tokens.size(0);
    last_ = last_.defined() ? torch::cat({last_, tokens}) : tokens;
    last_ = last_.narrow(0, std::max<std::int64_t>(0, last_.size(0) - context_), std::min(context_, last_.size(0)));
    const torch::Tensor places = torch::arange(seen_ - last_.size(0), seen_, torch::kLong).to(tokens.device());
    torch::manual_seed(0);  // a model that samples draws the same for the same text
    return model_
        ->forward(ModelInput{.tokens = last_.unsqueeze(0), .positions = places.unsqueeze(0), .scored = 1},
                  model_->initial_state(1))
        .logits()[0][-1];
  }

 private:
  std::shared_ptr<LanguageModel> model_;
  std::int64_t context_;
  std::int64_t seen_ = 0;
  torch::Tensor last_;
};

class RotatedChunks final : public Scheme {
 public:
  std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape, std::int64_t seed) const override {
    return std::make_unique<RotatedChunkBatches>(source, shape, seed);
  }

  /// Windows advance by `settings.stride` tokens and score as many; the last one may score fewer. Up to context −
  /// stride tokens before them are their context. At most the first `settings.max_windows` of a row are evaluated.
  SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     const ProgressCallback& progress) const override {
    check_split(source, settings, "the split");
    const OwnRows own = own_rows(settings.group, settings.rows);
    const std::int64_t rows = own.count;
    const std::int64_t row_length = source.size() / settings.rows;
    const std::int64_t start = own.begin * row_length;
    const std::int64_t all = row_length - 1;  // predictions of a row
    const std::int64_t most = first_windows(settings.max_windows, settings.stride, all);
    SplitLoss result{.whole = most == all};
    if (rows == 0) return result;
    const PartOfBatch part(own.begin);
    ScoredCalls calls(model, settings);
    const State state = model.initial_state(rows);
    for (std::int64_t first = 0; first < most && !result.stopped; first += settings.stride) {
      const std::int64_t scored = std::min(settings.stride, most - first);
      const std::int64_t begin = std::max<std::int64_t>(0, first - (settings.context - settings.stride));
      const std::int64_t count = first + scored - begin;
      const torch::Tensor text = source.rows(rows, start + begin, row_length, count + 1);
      const torch::Tensor targets = text.narrow(1, count + 1 - scored, scored);
      const ScoredCalls::Scored call =
          calls.score({.tokens = text.narrow(1, 0, count),
                       .positions = torch::arange(begin, begin + count, torch::kLong).expand({rows, count}),
                       .boundaries = source.flag_rows(rows, start + begin, row_length, count),
                       .scored = scored},
                      targets, state);
      result.loss += call.loss;
      if (settings.parts != nullptr) settings.parts->add(call.losses, call.targets, start + first + 1, row_length);
      result.tokens += scored * rows;
      result.computed += count * rows;
      result.bytes += source.bytes(targets);
      result.stopped = !progress(result.tokens, most * rows);
    }
    return result;
  }

  std::unique_ptr<TextReader> reader(std::shared_ptr<LanguageModel> model,
                                     const ReaderSettings& settings) const override {
    return std::make_unique<ContextReader>(std::move(model), settings.context);
  }
};

}  // namespace

const Scheme& rotated_chunks_scheme() {
  static const RotatedChunks scheme;
  return scheme;
}

}  // namespace xlm
