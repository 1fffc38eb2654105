// Windows at random places of the text, each behind a beginning and without state
// (experiments/recipes/successors/transformer.md#random-windows).
//
// B rows, N tokens of the text, T tokens of a window.
#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/api/arithmetic.h"
#include "core/runtime/device.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/scheme.h"
#include "core/schemes/scored_calls.h"

namespace xlm {
namespace {

/// Rows of T predictions. The input of each is a beginning and its first T − 1 tokens. Random numbers follow from the
/// seed and the row's number.
class RandomWindowBatches final : public BatchStream {
 public:
  RandomWindowBatches(const TokenSource& source, BatchShape shape, std::int64_t seed)
      : source_(&source), shape_(shape), seed_(seed) {
    if (source.size() < shape.block) {
      throw DataError(fmt::format("the training split has {} tokens; train.block={} needs at least as many",
                                  source.size(), shape.block));
    }
    for (const auto& [begin, tokens] : source.documents()) documents_.push_back(begin);
  }

  Batch next() override {
    const torch::Tensor tokens = torch::full({shape_.batch, shape_.block}, kBeginning, torch::kLong);
    const torch::Tensor targets = torch::empty({shape_.batch, shape_.block}, torch::kLong);
    const TokenFlags* flags = source_->flags();
    torch::Tensor boundaries;  // of the input; a beginning has none
    if (flags != nullptr) boundaries = torch::zeros({shape_.batch, shape_.block}, torch::kBool);
    for (std::int64_t row = 0; row < shape_.batch; ++row) {
      const std::int64_t place = draw_place(visited_++);
      source_->copy(place, shape_.block, targets.data_ptr<std::int64_t>() + row * shape_.block);
      if (flags == nullptr) continue;
      flags->copy(place, shape_.block - 1, boundaries.data_ptr<bool>() + row * shape_.block + 1);
    }
    tokens.narrow(1, 1, shape_.block - 1).copy_(targets.narrow(1, 0, shape_.block - 1));
    return {.input = {.tokens = tokens, .boundaries = boundaries}, .targets = targets, .fresh = true};
  }

  Json state() const override { return {{"rows", visited_}}; }
  void restore(const Json& state) override {
    visited_ = state.at("rows").get<std::int64_t>();
    if (visited_ < 0) throw DataError("a checkpoint's place in the text lies outside it");
  }

 private:
  /// A place is drawn from the whole text. If a document starts within the next T tokens, the window starts there. A
  /// window that would end behind the text is drawn again.
  std::int64_t draw_place(std::int64_t row) const {
    const std::uint64_t bits =
        random_bits(static_cast<std::uint64_t>(seed_), kRandomWindows, static_cast<std::uint64_t>(row));
    for (std::uint64_t attempt = 0;; ++attempt) {
      std::int64_t place = random_below(source_->size(), random_bits(bits, 0, attempt));
      const auto next = std::lower_bound(documents_.begin(), documents_.end(), place);
      if (next != documents_.end() && *next < place + shape_.block) place = *next;
      if (place + shape_.block <= source_->size()) return place;
    }
  }

  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::vector<std::int64_t> documents_;  // the first token of each
  std::int64_t visited_ = 0;             // rows
};

/// Windows of `length` tokens, of which the last `scored` are predicted. The first begins at `begin`, each other one a
/// stride later.
struct WindowRows {
  std::int64_t rows;
  std::int64_t begin;
  std::int64_t length;
  std::int64_t scored;

  /// The first predicted token of the first window.
  std::int64_t first() const { return begin + length - scored; }
};

/// Sums the losses of windows. With context in front of what they score, every prediction is scored: those that the
/// model leaves out are made again with less of it.
class WindowSums {
 public:
  WindowSums(LanguageModel& model, const TokenSource& source, const SplitSettings& settings, SplitLoss& result)
      : model_(&model),
        source_(&source),
        settings_(&settings),
        result_(&result),
        calls_(model, settings, scores_all() ? ScoredCalls::Wants::kFirstLeftOut : ScoredCalls::Wants::kLeftOut) {}

  void add(const WindowRows& windows) {
    const std::vector<std::int64_t> scored = score(windows);
    if (!scores_all()) return;
    std::optional<Counts> counts;  // of the predictions, each once
    for (std::int64_t row = 0; row < windows.rows; ++row) {
      const std::int64_t of_row = scored[static_cast<std::size_t>(row)];
      if (of_row == windows.scored) continue;
      if (!counts) counts = model_->counts();
      const std::int64_t shift = row * settings_->stride;
      add_left_out(windows.begin + shift, windows.first() + shift + of_row, windows.first() + shift + windows.scored);
    }
    if (counts) model_->set_counts(*counts);
  }

 private:
  bool scores_all() const { return settings_->context > settings_->stride; }

  /// Predicts the tokens from `first` to in front of `end`, the first of which a window from `begin` on leaves out.
  /// Each window behind it begins with the later half of the context of its first prediction.
  void add_left_out(std::int64_t begin, std::int64_t first, std::int64_t end) {
    while (first < end && begin < first) {
      begin = first - (first - begin) / 2;
      first += score({.rows = 1, .begin = begin, .length = end - begin, .scored = end - first}).front();
    }
  }

  /// Returns how many predictions of each row are scored.
  std::vector<std::int64_t> score(const WindowRows& windows) {
    const torch::Tensor text = source_->rows(windows.rows, windows.begin, settings_->stride, windows.length);
    const torch::Tensor tokens = torch::cat(
        {torch::full({windows.rows, 1}, kBeginning, torch::kLong), text.narrow(1, 0, windows.length - 1)}, 1);
    const ScoredCalls::Scored call = calls_.score({.tokens = tokens, .scored = windows.scored},
                                                  text.narrow(1, windows.length - windows.scored, windows.scored),
                                                  model_->initial_state(windows.rows));
    result_->loss += call.loss;
    if (settings_->parts != nullptr)
      settings_->parts->add(call.losses, call.targets, windows.first(), settings_->stride);
    const torch::Tensor scored = call.targets.ne(kNoTarget).sum(1);
    result_->tokens += scored.sum().item<std::int64_t>();
    result_->computed += windows.length * windows.rows;
    result_->bytes += source_->bytes(call.targets);
    return {scored.const_data_ptr<std::int64_t>(), scored.const_data_ptr<std::int64_t>() + scored.numel()};
  }

  LanguageModel* model_;
  const TokenSource* source_;
  const SplitSettings* settings_;
  SplitLoss* result_;
  ScoredCalls calls_;
};

class RandomWindows final : public Scheme {
 public:
  std::unique_ptr<BatchStream> batches(const TokenSource& source, BatchShape shape, std::int64_t seed) const override {
    return std::make_unique<RandomWindowBatches>(source, shape, seed);
  }

  void check_split(const TokenSource& source, const SplitSettings& /*settings*/,
                   const std::string& name) const override {
    if (source.size() == 0) throw DataError(fmt::format("{} has no tokens to measure anything on", name));
  }

  /// Every token is scored once, the first one too, unless the model leaves it out and there is no context that could
  /// be shorter. Windows advance by `settings.stride` tokens and score as many, with up to context − stride tokens in
  /// front of them, behind a beginning. At most the first `settings.max_windows` of them. `settings.rows` of one length
  /// are computed at once.
  SplitLoss evaluate(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     const ProgressCallback& progress) const override {
    check_split(source, settings, "the split");
    const std::int64_t all = source.size();
    const std::int64_t most = first_windows(settings.max_windows, settings.stride, all);
    const std::int64_t before = std::max<std::int64_t>(0, settings.context - settings.stride);
    const std::int64_t share = settings.group == nullptr ? most : most / settings.group->size();
    SplitLoss result{.whole = most == all};
    WindowSums sums(model, source, settings, result);
    std::int64_t turn = 0;
    std::int64_t passed = 0;  // predictions, with those that are left out
    for (std::int64_t first = 0; first < most && !result.stopped;) {
      const std::int64_t scored = std::min(settings.stride, most - first);
      const std::int64_t begin = std::max<std::int64_t>(0, first - before);
      // Only those behind the start of the text have all of their context.
      const std::int64_t alike = first >= before ? (most - first) / scored : 1;
      const std::int64_t rows = scored == settings.stride ? std::min(settings.rows, alike) : 1;
      const WindowRows windows{.rows = rows, .begin = begin, .length = first + scored - begin, .scored = scored};
      first += rows * scored;
      const ProcessGroup* group = settings.group;  // whose processes take turns
      if (group != nullptr && turn++ % group->size() != group->rank()) continue;
      sums.add(windows);
      passed += scored * rows;
      result.stopped = !progress(passed, share);
    }
    return result;
  }

  /// One window of at most `settings.context` inputs: a beginning, and the text's first tokens.
  TracedTokens trace(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                     std::int64_t limit) const override {
    const std::int64_t most = std::max<std::int64_t>(1, settings.context - 1);
    TracedTokens trace{.tokens = std::min({limit, source.size(), most}), .values = {}};
    const torch::Tensor beginning = torch::full({1, 1}, kBeginning, torch::kLong);
    const torch::Tensor tokens = torch::cat({beginning, source.rows(1, 0, 0, trace.tokens)}, 1);
    const PrecisionScope precision(settings.precision, settings.device);
    append_values(
        model.forward(ModelInput{.tokens = tokens.to(settings.device), .scored = trace.tokens, .traced = true},
                      model.initial_state(1)),
        trace);
    return trace;
  }
};

}  // namespace

const Scheme& random_windows_scheme() {
  static const RandomWindows scheme;
  return scheme;
}

}  // namespace xlm
