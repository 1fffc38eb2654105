// Ends a text before the first of some stop texts.
#include "cmd/stop_texts.h"

#include <algorithm>
#include <utility>

namespace xlm {

StopTexts::StopTexts(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase(texts_, "");  // would end every text before it begins
}

std::string StopTexts::take(std::string_view piece) {
  if (found_) return "";
  held_ += piece;
  std::size_t first = std::string::npos;
  for (const std::string& text : texts_) first = std::min(first, held_.find(text));
  if (first != std::string::npos) {
    found_ = true;
    return std::exchange(held_, "").substr(0, first);
  }
  std::size_t kept = 0;  // the longest suffix with which a stop may begin
  for (const std::string& text : texts_) {
    for (std::size_t size = std::min(text.size() - 1, held_.size()); size > kept; --size) {
      if (held_.ends_with(text.substr(0, size))) kept = size;
    }
  }
  std::string shown = held_.substr(0, held_.size() - kept);
  held_.erase(0, shown.size());
  return shown;
}

std::string StopTexts::finish() { return std::exchange(held_, ""); }

}  // namespace xlm
