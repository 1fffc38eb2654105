// Names in braces.
#include "experiments/configuration/placeholders.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.h"

namespace xlm {
namespace {

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool is_in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '.' || c == '-'; }

/// The length of `{name}` at the beginning of a text; 0 if something else stands there.
std::size_t braced_length(std::string_view text) {
  if (text.size() < 3 || text[0] != '{' || !begins_name(text[1])) return 0;
  std::size_t end = 2;
  while (end < text.size() && is_in_name(text[end])) ++end;
  return end < text.size() && text[end] == '}' ? end + 1 : 0;
}

/// Calls `literal` with each piece of text and `name` with each name, in order.
template <class Literal, class Name>
void scan(std::string_view text, Literal literal, Name name) {
  while (!text.empty()) {
    if (const std::size_t escaped = braced_length(text.substr(1));
        text[0] == '{' && escaped > 0 && text.substr(1 + escaped).starts_with('}')) {
      literal(text.substr(1, escaped));
      text.remove_prefix(escaped + 2);
    } else if (const std::size_t length = braced_length(text); length > 0) {
      name(std::string(text.substr(1, length - 2)));
      text.remove_prefix(length);
    } else {
      const std::size_t next = std::min(text.find('{', 1), text.size());
      literal(text.substr(0, next));
      text.remove_prefix(next);
    }
  }
}

/// A negative number without an exponent: Python's argparse takes -1e-05 for an option (before 3.14).
std::string without_exponent(double value) {
  std::array<char, 400> digits{};  // -5e-324 has 326
  const auto end = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed).ptr;
  const std::string text(digits.begin(), end);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

}  // namespace

std::vector<std::string> placeholders_in(std::string_view text) {
  std::vector<std::string> names;
  scan(
      text, [](std::string_view /*literal*/) {}, [&](std::string name) { names.push_back(std::move(name)); });
  return names;
}

std::string with_values(std::string_view text, const std::function<std::string(const std::string& name)>& value_of) {
  std::string result;
  scan(
      text, [&](std::string_view literal) { result += literal; },
      [&](const std::string& name) { result += value_of(name); });
  return result;
}

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) {
    std::string text = value.dump();
    const bool is_taken_for_option = text.starts_with('-') && text.find('e') != std::string::npos;
    return is_taken_for_option ? without_exponent(value.get<double>()) : text;
  }
  std::vector<std::string> parts;
  for (const Json& item : value) parts.push_back(value_text(item));
  return join(parts, ",");
}

}  // namespace xlm
