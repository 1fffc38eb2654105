// What a plain scalar of YAML means: version 1.2, core schema.
#pragma once

#include <string_view>

#include "base/json.h"

namespace xlm {

/// Whether `text` is a null word, also for yaml-cpp.
bool is_null_word(std::string_view text);

/// Reads null, true, false, a whole number or a real number; any other text stays text. A whole number of more than 64
/// bits becomes real. .inf and .nan stay text: JSON lacks them, and no option takes them.
Json core_value(std::string_view text);

/// A hint " (YAML 1.2 …)" for text that is a number only in YAML 1.1, such as 1_000, or is not finite; otherwise "".
std::string_view number_hint(std::string_view text);

}  // namespace xlm
