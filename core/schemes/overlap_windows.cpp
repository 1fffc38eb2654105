// Where the windows of the overlap evaluation lie.
#include "core/schemes/overlap_windows.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace xlm {

OverlapWindows::OverlapWindows(std::int64_t tokens, std::int64_t window, std::int64_t overlap)
    : predictions_(std::max<std::int64_t>(0, tokens - 1)), window_(window), overlap_(overlap) {
  if (window < 1) throw UsageError(fmt::format("a window has {} tokens\ngive it 1 or more", window));
  if (overlap < 0 || overlap >= window) {
    throw UsageError(fmt::format("windows of {} tokens cannot overlap by {}\ngive an overlap from 0 to {}", window,
                                 overlap, window - 1));
  }
  const std::int64_t step = window - overlap;
  const std::int64_t after_first = std::max<std::int64_t>(0, predictions_ - window);
  size_ = predictions_ == 0 ? 0 : 1 + after_first / step + (after_first % step == 0 ? 0 : 1);
}

OverlapWindow OverlapWindows::operator[](std::int64_t index) const {
  const std::int64_t begin = index * (window_ - overlap_);
  const std::int64_t length = std::min(window_, predictions_ - begin);
  return {.begin = begin, .length = length, .scored = index == 0 ? length : length - overlap_};
}

}  // namespace xlm
