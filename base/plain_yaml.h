// A simple subset of YAML, in which resolved configurations are written. Every run has one, and reading all of them
// with yaml-cpp would dominate the time of a sync.
#pragma once

#include <optional>
#include <string_view>

#include "base/yaml.h"

namespace xlm {

/// Parses lines "KEY: VALUE", and "KEY:" above lines indented by two more spaces. Values are words, numbers, "text"
/// without escapes, and flat lists of these, in ASCII. Returns nullopt for any other text, valid or not: parse it with
/// `parse_yaml`, which gives the same tree for this subset.
std::optional<Yaml> parse_plain_yaml(std::string_view text, const std::shared_ptr<const std::string>& source);

}  // namespace xlm
