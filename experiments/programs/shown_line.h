// Lines of foreign output in messages.
#pragma once

#include <string>
#include <string_view>

#include "base/text.h"
#include "base/utf8.h"

namespace xlm {

/// A line without control characters, and no longer than a few lines of a terminal.
inline std::string shown_line(std::string_view line) {
  constexpr std::size_t kShownBytes = 300;
  const std::string shown = printable(repaired_utf8(trim(line.substr(0, kShownBytes))));
  return line.size() > kShownBytes ? shown + "…" : shown;
}

}  // namespace xlm
