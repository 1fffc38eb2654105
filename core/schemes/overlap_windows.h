// Where the windows of the overlap evaluation lie, and what each scores
// (experiments/recipes/recurrence/README.md#windows-and-overlap). Free of torch.
//
// T tokens of a window, O of them repeated from the window before.
#pragma once

#include <cstdint>

namespace xlm {

/// One input of the model: tokens [begin, begin + length) of the document. Each position predicts the token after it;
/// the last `scored` predictions count.
struct OverlapWindow {
  std::int64_t begin = 0;
  std::int64_t length = 0;  // up to T; the last window may be shorter
  std::int64_t scored = 0;  // T in the first window, T − O in later ones, less in the last

  /// Position inside the window of the first prediction that counts.
  std::int64_t first_scored() const { return length - scored; }
  /// The predictions that count are of the document's tokens [first_target, first_target + scored).
  std::int64_t first_target() const { return begin + first_scored() + 1; }
  bool operator==(const OverlapWindow&) const = default;
};

/// The windows of a document. They start every T − O tokens and score every token but the first exactly once, in order.
/// Windows are computed on access, because with O = T − 1 there is one for nearly every token.
class OverlapWindows {
 public:
  /// `tokens` of the document (any number from 0), T from 1, O from 0 to T − 1. Throws UsageError otherwise.
  OverlapWindows(std::int64_t tokens, std::int64_t window, std::int64_t overlap);

  /// 0 for documents of fewer than two tokens, which have nothing to predict.
  std::int64_t size() const { return size_; }
  /// `index` from 0 to size() − 1.
  OverlapWindow operator[](std::int64_t index) const;
  /// Predictions that count, of all windows together.
  std::int64_t scored() const { return predictions_; }

 private:
  std::int64_t predictions_;
  std::int64_t window_;
  std::int64_t overlap_;
  std::int64_t size_;
};

}  // namespace xlm
