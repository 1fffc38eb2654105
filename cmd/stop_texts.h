// Ends a text that comes piece by piece where one of some texts begins in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> texts);

  /// What can be shown now that `piece` has come: what may be the beginning of a stop is held back.
  std::string take(std::string_view piece);

  /// What was held back and turned out to be text.
  std::string finish();

  /// A stop was found: nothing more is shown.
  bool found() const { return found_; }

 private:
  std::vector<std::string> texts_;
  std::string held_;
  bool found_ = false;
};

}  // namespace xlm
