// Streams: rows of contiguous text are read block by block, with state carried along
// (experiments/recipes/adaptive-span/README.md#the-past-of-a-stream).
//
// B rows, N tokens of the text, M tokens of a block.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/api/arithmetic.h"
#include "core/kernels/step_context.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/recorded_calls.h"
#include "core/schemes/scheme.h"
#include "core/schemes/scored_calls.h"

namespace xlm {
namespace {

/// B contiguous rows of ⌊N/B⌋ tokens. Blocks advance along the rows. At a short last block the rows start again, at a
/// random offset in [0, M). Random numbers follow from the seed and the round.
class StreamingBatches final : public BatchStream {
 public:
  StreamingBatches(const TokenSource& source, BatchShape shape, std::int64_t seed)
      : source_(&source), shape_(shape), seed_(seed), row_length_(source.size() / shape.batch) {
    if (row_length_ <= shape.block) {
      throw DataError(
          fmt::format("the training split has {} tokens; train.batch={} rows of train.block={} need at least {}",
                      source.size(), shape.batch, shape.block, shape.batch * (shape.block + 1)));
    }
  }

  Batch next() override {
    const torch::Tensor tokens = source_->rows(shape_.batch, position_, row_length_, shape_.block + 1);
    Batch batch{.input = {.tokens = tokens.narrow(1, 0, shape_.block).contiguous(), .positions = {}, .boundaries = {}},
                .targets = tokens.narrow(1, 1, shape_.block).contiguous(),
                .fresh = fresh_};
    fresh_ = false;
    position_ += shape_.block;
    if (position_ >= row_length_ - shape_.block) {
      ++round_;
      position_ = random_below(
          std::min(shape_.block, row_length_ - shape_.block),
          random_bits(static_cast<std::uint64_t>(seed_), kStreamOffsets, static_cast<std::uint64_t>(round_)));
      fresh_ = true;
    }
    return batch;
  }

  Json state() const override { return {{"position", position_}, {"round", round_}, {"fresh", fresh_}}; }
  void restore(const Json& state) override {
    position_ = state.at("position").get<std::int64_t>();
    round_ = state.at("round").get<std::int64_t>();
    fresh_ = state.at("fresh").get<bool>();
    if (position_ < 0 || position_ >= row_length_ - shape_.block)
      throw DataError("the checkpoint's place lies outside the training text");
  }

 private:
  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::int64_t row_length_;
  std::int64_t position_ = 0;
  std::int64_t round_ = 0;
  bool fresh_ = true;
};

/// Carries the state from block to block.
class StreamReader final : public TextReader {
 public:
  StreamReader(std::shared_ptr<LanguageModel> model, const ReaderSettings& settings)
      : model_(std::move(model)), settings_(settings), state_(model_->initial_state(1)) {}

  torch::Tensor read(const torch::Tensor& tokens) override {
    const torch::NoGradGuard no_grad;
    if (!calls_) calls_.emplace(*model_, tokens.device(), settings_.recorder);
    const auto work = [this](const ModelInput& input, const torch::Tensor& /*targets*/, const State& state) {
      ModelOutput output = model_->forward(input, state);
      return CapturedSteps::Outcome{
          .loss = output.logits()[0][-1], .state = std::move(output.state), .needed = output.needed};
    };
    torch::Tensor logits;
    for (std::int64_t begin = 0; begin < tokens.size(0); begin += settings_.block) {
      const std::int64_t count = std::min(settings_.block, tokens.size(0) - begin);
      const torch::Tensor piece = tokens.narrow(0, begin, count).unsqueeze(0);
      CapturedSteps::Outcome outcome = calls_->run({.tokens = piece}, piece, state_, work);
      logits = outcome.loss;
      state_ = std::move(outcome.state);
    }
    return logits;
  }

 private:
  std::shared_ptr<LanguageModel> model_;
  ReaderSettings settings_;
  State state_;
  std::optional<RecordedCalls> calls_;
};

class Streaming final : public Scheme {
 public:
  std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape, std::int64_t seed) const override {
    return std::make_unique<StreamingBatches>(source, shape, seed);
  }

  /// The last, short block of a row is scored too, unless `settings.max_windows` leaves it out.
  SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     const ProgressCallback& progress) const override {
    check_split(source, settings, "the split");
    const std::int64_t row_length = source.size() / settings.rows;
    const OwnRows own = own_rows(settings.group, settings.rows);
    const std::int64_t scored = first_windows(settings.max_windows, settings.block, row_length - 1);
    SplitLoss result{.whole = scored == row_length - 1};
    if (own.count == 0) return result;
    const PartOfBatch part(own.begin);
    ScoredCalls calls(model, settings);
    State state = model.initial_state(own.count);
    for (std::int64_t position = 0; position < scored && !result.stopped; position += settings.block) {
      const std::int64_t count = std::min(settings.block, scored - position);
      const torch::Tensor text = source.rows(own.count, own.begin * row_length + position, row_length, count + 1);
      ScoredCalls::Scored scored_call =
          calls.score({.tokens = text.narrow(1, 0, count)}, text.narrow(1, 1, count), state);
      result.loss += scored_call.loss;
      if (settings.parts != nullptr) {
        settings.parts->add(scored_call.losses, scored_call.targets, own.begin * row_length + position + 1, row_length);
      }
      state = std::move(scored_call.state);
      result.tokens += count * own.count;
      result.bytes += source.bytes(text.narrow(1, 1, count));
      result.stopped = !progress(result.tokens, scored * own.count);
    }
    return result;
  }

  TracedTokens trace(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     std::int64_t limit) const override {
    return trace_row(model, source, settings, settings.block, std::min(limit, source.size()));
  }

  std::unique_ptr<TextReader> reader(std::shared_ptr<LanguageModel> model,
                                     const ReaderSettings& settings) const override {
    return std::make_unique<StreamReader>(std::move(model), settings);
  }
};

}  // namespace

const Scheme& streaming_scheme() {
  static const Streaming scheme;
  return scheme;
}

}  // namespace xlm
