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
  /// Nothing where the line is no JSON. Numbers that are not finite, which Python writes as NaN, Infinity and -Infinity
  /// although JSON has none, become these words as texts.
  std::optional<Json> parse(std::string_view line);

 private:
  JsonParser parser_;
};

/// A number of JSON: also null, which is what some write for NaN, and the words above. Nothing for anything else.
std::optional<double> json_number_of(const Json& value);

/// A value in a message.
std::string shown_json(const Json& value);

}  // namespace xlm
