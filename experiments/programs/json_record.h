// A line of JSON as programs write it.
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/json_parser.h"

namespace xlm {

/// Parses lines in turn.
class JsonLineParser {
 public:
  /// nullopt if the line is not JSON. NaN, Infinity and -Infinity, which Python writes although JSON has no such
  /// numbers, become strings with these words.
  std::optional<Json> parse(std::string_view line);

 private:
  JsonParser parser_;
};

/// The value as a number; null and the string "NaN" are NaN, "Infinity" and "-Infinity" are infinite. nullopt for any
/// other value.
std::optional<double> json_number_of(const Json& value);

/// A value in a message.
std::string shown_json(const Json& value);

}  // namespace xlm
