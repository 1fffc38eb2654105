// Lines of JSON, and of what is nearly JSON.
#include "experiments/programs/json_record.h"

#include <array>
#include <limits>
#include <string>

namespace xlm {
namespace {

/// The line with quotes around NaN, Infinity and -Infinity where they stand outside of texts.
std::string with_quoted_words(std::string_view line) {
  static constexpr std::array<std::string_view, 3> kWords{"NaN", "-Infinity", "Infinity"};
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t taken = 1;
    std::string_view word;
    if (in_text && line[i] == '\\') {
      taken = 2;
    } else if (line[i] == '"') {
      in_text = !in_text;
    } else if (!in_text) {
      for (const std::string_view candidate : kWords) {
        if (line.substr(i).starts_with(candidate)) word = candidate;
      }
    }
    if (word.empty()) {
      quoted += line.substr(i, taken);
    } else {
      taken = word.size();
      quoted += '"';
      quoted += word;
      quoted += '"';
    }
    i += taken;
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
