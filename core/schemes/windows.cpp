// Windows that overlap, within sequences of documents (Yoshida et al. 2020;
// experiments/recipes/recurrence/README.md#windows-and-overlap). Their loss is in windows_loss.h, their evaluation in
// windows_evaluation.h.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/scheme.h"
#include "core/schemes/windows_evaluation.h"
#include "core/schemes/windows_loss.h"

namespace xlm {
namespace {

/// Every document is cut into sequences of N predictions; the last one may be shorter. Every epoch visits all sequences
/// in a newly shuffled order. A batch has B of them and may reach into the next epoch. Its shorter rows are padded with
/// targets that do not count. Every sequence starts without state. Random numbers follow from the seed and the epoch.
class DocumentSequences final : public BatchStream {
 public:
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
  order_ = random_order(sequences_.size(), bits);
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
  if (visited_ < 0) throw DataError("the checkpoint's place lies outside the training text");
}

/// Reads its window again for every token. A full window passes its state and its last O tokens to the next one.
class WindowReader final : public TextReader {
 public:
  explicit WindowReader(std::shared_ptr<LanguageModel> model)
      : model_(std::move(model)), state_(model_->initial_state(1)) {}

  torch::Tensor read(const torch::Tensor& tokens) override {
    const WindowShape shape = windows_of(*model_);
    torch::Tensor logits;
    for (std::int64_t begin = 0; begin < tokens.size(0);) {
      if (size() == shape.window) {
        state_ = next_;
        window_ = window_.narrow(0, shape.window - shape.overlap, shape.overlap);
      }
      const std::int64_t count = std::min(tokens.size(0) - begin, shape.window - size());
      const torch::Tensor added = tokens.narrow(0, begin, count);
      window_ = window_.defined() ? torch::cat({window_, added}) : added;
      ModelOutput output = model_->forward(ModelInput{.tokens = window_.unsqueeze(0), .scored = 1}, state_);
      logits = output.logits()[0][-1];
      next_ = std::move(output.state);
      begin += count;
    }
    return logits;
  }

 private:
  std::int64_t size() const { return window_.defined() ? window_.size(0) : 0; }

  std::shared_ptr<LanguageModel> model_;
  State state_;
  State next_;
  torch::Tensor window_;
};

class Windows final : public Scheme {
 public:
  std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape, std::int64_t seed) const override {
    return std::make_unique<DocumentSequences>(source, shape, seed);
  }

  /// Every sequence starts without state, so `state` is returned as it is.
  TrainingLoss loss(LanguageModel& model, const ModelInput& input, const torch::Tensor& targets, const State& state,
                    ActivationPolicy policy) const override {
    const torch::Tensor loss = windows_loss(model, input.tokens, targets, policy);
    return {.language_model = loss, .total = loss, .state = state};
  }
  bool can_recompute() const override { return true; }

  void check_split(const TokenSource& source, const SplitSettings& settings, const std::string& name) const override {
    if (source.size() < 2) {
      throw DataError(fmt::format("{} has {} tokens; an evaluation needs 2", name, source.size()));
    }
    if (settings.first_token) source.end_of_text();
  }

  SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     const ProgressCallback& progress) const override {
    return evaluate_windows(model, source, settings, progress);
  }

  std::unique_ptr<TextReader> reader(std::shared_ptr<LanguageModel> model,
                                     const ReaderSettings& /*settings*/) const override {
    return std::make_unique<WindowReader>(std::move(model));
  }
};

}  // namespace

const Scheme& windows_scheme() {
  static const Windows scheme;
  return scheme;
}

}  // namespace xlm
