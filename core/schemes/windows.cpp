// Windows that overlap, within sequences of documents (Yoshida et al. 2020;
// experiments/recipes/recurrence/README.md#windows-and-overlap). Their loss is in windows_loss.h.
//
// B rows, N tokens of a sequence, T tokens of a window, O of them repeated.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "core/api/arithmetic.h"
#include "core/models/capabilities.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/overlap_windows.h"
#include "core/schemes/scheme.h"
#include "core/schemes/scored_calls.h"
#include "core/schemes/windows_loss.h"

namespace xlm {
namespace {

/// Every document is cut into sequences of N predictions; the last one may be shorter. Every epoch visits all sequences
/// in a newly shuffled order. A batch has B of them and may reach into the next epoch. Its shorter rows are padded with
/// targets that do not count. Every sequence starts without state. Random numbers follow from the seed and the epoch.
class DocumentSequences final : public BatchStream {
 public:
  DocumentSequences(const TokenSource& source, BatchShape shape, std::int64_t seed)
      : source_(&source), shape_(shape), seed_(seed) {
    for (const auto& [begin, size] : source.documents()) {
      for (std::int64_t at = 0; at + 1 < size; at += shape.block) {
        sequences_.push_back({begin + at, std::min(shape.block, size - 1 - at)});
      }
    }
    if (sequences_.empty()) throw DataError("the training split has no document of two tokens or more");
  }

  Batch next() override {
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

  Json state() const override { return {{"visited", visited_}}; }
  void restore(const Json& state) override {
    visited_ = state.at("visited").get<std::int64_t>();
    if (visited_ < 0) throw DataError("the checkpoint's place lies outside the training text");
  }

 private:
  struct Sequence {
    std::int64_t begin;
    std::int64_t count;  // predictions
  };
  const Sequence& visit() {
    const auto count = static_cast<std::int64_t>(sequences_.size());
    if (shuffled_ != visited_ / count) shuffle(visited_ / count);
    const std::int64_t index = order_[static_cast<std::size_t>(visited_++ % count)];
    return sequences_[static_cast<std::size_t>(index)];
  }

  void shuffle(std::int64_t epoch) {
    const std::uint64_t bits =
        random_bits(static_cast<std::uint64_t>(seed_), kChunkOrder, static_cast<std::uint64_t>(epoch));
    order_ = random_order(sequences_.size(), bits);
    shuffled_ = epoch;
  }

  const TokenSource* source_;
  BatchShape shape_;
  std::int64_t seed_;
  std::vector<Sequence> sequences_;
  std::int64_t visited_ = 0;         // sequences, over all epochs
  std::int64_t shuffled_ = -1;       // the epoch whose order is in order_
  std::vector<std::int64_t> order_;  // in which sequences are visited
};

/// A window, and where its document begins. If first tokens are scored, the end-of-text symbol is the document's token
/// 0, so `document_begin` is the place before its first token.
struct PlacedWindow {
  std::int64_t document_begin;
  OverlapWindow window;
};

/// Windows over documents, with state or without (Yoshida et al. 2020, §4.2). Scores every token of a document once,
/// the first one only with `settings.first_token`. Without state, `settings.rows` windows of any documents are computed
/// at a time. With state, so many documents advance side by side, window by window.
class OverlapEvaluation {
 public:
  OverlapEvaluation(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                    const ProgressCallback& progress)
      : model_(&model),
        source_(&source),
        settings_(&settings),
        progress_(&progress),
        shape_(windows_of(model)),
        calls_(model, settings) {
    read_documents();
    if (settings.group != nullptr) total_ /= settings.group->size();
  }

  void without_state() {
    // A document's first window scores more predictions than the later ones. Separate calls keep the later ones small.
    std::vector<PlacedWindow> first;
    std::vector<PlacedWindow> later;
    const auto add_all = [&](std::vector<PlacedWindow>& rows) {
      if (!rows.empty() && !result_.stopped && is_own_turn()) add(rows, {});
      rows.clear();
    };
    for (const auto& [begin, size] : documents_) {
      const OverlapWindows windows(size, shape_.window, shape_.overlap);
      for (std::int64_t i = 0; i < windows.size() && !result_.stopped; ++i) {
        std::vector<PlacedWindow>& rows = windows[i].first_scored() == 0 ? first : later;
        rows.push_back({begin, windows[i]});
        if (static_cast<std::int64_t>(rows.size()) == settings_->rows) add_all(rows);
      }
    }
    add_all(first);
    add_all(later);
  }

  void with_state() {
    auto documents = documents_;
    // Longest first, so that documents that have ended are the last rows.
    std::ranges::stable_sort(documents, [](const auto& a, const auto& b) { return a.second > b.second; });
    const auto count = static_cast<std::int64_t>(documents.size());
    for (std::int64_t first = 0; first < count && !result_.stopped; first += settings_->rows) {
      if (!is_own_turn()) continue;
      State state = model_->initial_state(std::min(settings_->rows, count - first));
      for (std::int64_t i = 0; !result_.stopped; ++i) {
        std::vector<PlacedWindow> rows;
        for (std::int64_t at = first; at < std::min(count, first + settings_->rows); ++at) {
          const auto& [begin, size] = documents[static_cast<std::size_t>(at)];
          const OverlapWindows windows(size, shape_.window, shape_.overlap);
          if (i < windows.size()) rows.push_back({begin, windows[i]});
        }
        if (rows.empty()) break;
        state = add(rows, state_rows(state, 0, static_cast<std::int64_t>(rows.size())));
      }
    }
  }

  const SplitLoss& result() const { return result_; }

 private:
  /// If first tokens are scored, the end-of-text symbol before a document counts as its token. Of the documents the
  /// first `settings.max_windows` blocks are left.
  void read_documents() {
    documents_ = source_->documents();
    std::int64_t all = 0;
    for (auto& [begin, size] : documents_) {
      if (settings_->first_token) {
        --begin;
        ++size;
      }
      all += std::max<std::int64_t>(0, size - 1);
    }
    total_ = first_windows(settings_->max_windows, settings_->block, all);
    result_.whole = total_ == all;
    std::int64_t left = total_;
    for (auto& [begin, size] : documents_) {
      size = std::min(size, left + 1);
      left -= std::max<std::int64_t>(0, size - 1);
    }
  }

  void copy_input(const PlacedWindow& row, std::int64_t* out) const {
    const std::int64_t added = settings_->first_token && row.window.begin == 0 ? 1 : 0;
    if (added > 0) *out = source_->end_of_text();
    source_->copy(row.document_begin + row.window.begin + added, row.window.length - added, out + added);
  }

  /// Scores windows side by side, the shorter ones padded at their end; returns the state after them.
  State add(const std::vector<PlacedWindow>& rows, const State& state) {
    std::int64_t longest = 0;
    std::int64_t first_scored = shape_.window;
    for (const auto& [begin, window] : rows) {
      longest = std::max(longest, window.length);
      first_scored = std::min(first_scored, window.first_scored());
    }
    const auto count = static_cast<std::int64_t>(rows.size());
    const torch::Tensor tokens = torch::zeros({count, longest}, torch::kLong);             // [B, T]
    const torch::Tensor targets = torch::full({count, longest}, kNoTarget, torch::kLong);  // [B, T]
    std::int64_t scored = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto& [begin, window] = rows[row];
      const std::int64_t at = static_cast<std::int64_t>(row) * longest;
      copy_input(rows[row], tokens.data_ptr<std::int64_t>() + at);
      source_->copy(begin + window.first_target(), window.scored,
                    targets.data_ptr<std::int64_t>() + at + window.first_scored());
      scored += window.scored;
    }
    const torch::Tensor asked = targets.narrow(1, first_scored, longest - first_scored);
    ScoredCalls::Scored call = calls_.score({.tokens = tokens, .scored = longest - first_scored}, asked, state);
    result_.loss += call.loss;
    if (settings_->parts != nullptr) {
      std::vector<std::int64_t> places;  // of the first column's target, also where that is none
      for (const auto& [begin, window] : rows) {
        places.push_back(begin + window.first_target() + first_scored - window.first_scored());
      }
      settings_->parts->add(call.losses, call.targets, places);
    }
    result_.tokens += scored;
    result_.bytes += source_->bytes(asked);
    result_.stopped = !(*progress_)(result_.tokens, total_);
    return std::move(call.state);
  }

  /// Processes take turns.
  bool is_own_turn() {
    const ProcessGroup* group = settings_->group;
    return group == nullptr || turn_++ % group->size() == group->rank();
  }

  LanguageModel* model_;
  const TokenSource* source_;
  const SplitSettings* settings_;
  const ProgressCallback* progress_;
  WindowShape shape_;
  ScoredCalls calls_;
  std::int64_t total_ = 0;  // predictions that this process will score, approximately
  std::int64_t turn_ = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> documents_;  // {begin, tokens}
  SplitLoss result_;
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
    OverlapEvaluation evaluation(model, source, settings, progress);
    if (model.initial_state(1).empty()) {
      evaluation.without_state();
    } else {
      evaluation.with_state();
    }
    return evaluation.result();
  }
};

}  // namespace

const Scheme& windows_scheme() {
  static const Windows scheme;
  return scheme;
}

}  // namespace xlm
