// Lines of JSON, and of what is nearly JSON.
#include "experiments/programs/json_record.h"

#include <limits>
#include <string>

#include <re2/re2.h>

namespace xlm {
namespace {

/// The line with quotes around NaN, Infinity and -Infinity where they stand outside of texts.
std::string with_quoted_words(std::string_view line) {
  static const RE2 part(R"((?s)(-?Infinity|NaN)|("(?:[^"\\]|\\.)*"?|.))", RE2::Latin1);
  re2::StringPiece rest(line.data(), line.size());
  std::string quoted;
  std::string word;
  for (std::string other; RE2::Consume(&rest, part, &word, &other);) {
    quoted += word.empty() ? other : '"' + word + '"';
  }
  return quoted;
}

}  // namespace

std::optional<Json> JsonLineParser::parse(std::string_view line) {
  std::optional<Json> value = parser_.parse(line);
  const bool may_have_words =
      line.find("NaN") != std::string_view::npos || line.find("Infinity") != std::string_view::npos;
  if (!value && may_have_words) value = parser_.parse(with_quoted_words(line));
  return value;
}

std::optional<double> json_number_of(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::string shown_json(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xlm
