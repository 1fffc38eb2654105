// Names in braces that stand for values in the command of a program: `{lr}`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace xlm {

/// The names that stand in braces, in order. A name is letters, digits, `_`, `-` and dots, and begins with a letter or
/// `_`; other braces are text. `{{name}}` is the text `{name}`.
std::vector<std::string> placeholders_in(std::string_view text);

/// `text` with the value of each name in its place.
std::string with_values(std::string_view text, const std::function<std::string(const std::string& name)>& value_of);

/// A value as a word of a command: text as it is, numbers and booleans as JSON has them, lists with commas.
std::string value_text(const Json& value);

}  // namespace xlm
