// What a plain scalar of YAML means: version 1.2, core schema.
#pragma once

#include <string_view>

#include "base/json.h"

namespace xlm {

/// The words for nothing, which yaml-cpp reads so too.
bool is_null_word(std::string_view text);

/// null, true or false, a whole number, a real number, otherwise `text` itself. A whole number of more than 64 bits is
/// a real one; .inf and .nan, which are numbers that JSON has not, stay text, as they are no value of any option.
Json core_value(std::string_view text);

/// " (YAML 1.2 …)" for text that is a number in YAML 1.1 alone, such as 1_000, or no finite one; otherwise "".
std::string_view number_hint(std::string_view text);

}  // namespace xlm
