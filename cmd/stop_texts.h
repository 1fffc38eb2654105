// Ends a text that comes piece by piece before the first of some stop texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> texts);

  /// The text that can be shown after `piece`. A suffix with which a stop may begin is held back.
  std::string take(std::string_view piece);

  /// The text that is still held back at the end.
  std::string finish();

  /// Whether a stop was found: no more text is shown.
  bool found() const { return found_; }

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool found_ = false;
};

}  // namespace xlm
