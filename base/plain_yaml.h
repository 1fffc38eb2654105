// The plainest part of YAML, line by line: what resolved configurations are written in. A folder of runs holds one for
// each run, and reading them by yaml-cpp would take longer than everything else that is done with them.
#pragma once

#include <optional>
#include <string_view>

#include "base/yaml.h"

namespace xlm {

/// The tree of a text of nothing but lines "KEY: VALUE" and "KEY:" above lines that are two spaces deeper, where values
/// are words, numbers, "text" without escapes, and flat lists of them, all in ASCII. Nothing for any other text, right
/// or wrong: that is for `parse_yaml`, which gives the very same tree for these.
std::optional<Yaml> parse_plain_yaml(std::string_view text, const std::shared_ptr<const std::string>& source);

}  // namespace xlm
