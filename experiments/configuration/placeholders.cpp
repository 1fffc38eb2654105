// Names in braces.
#include "experiments/configuration/placeholders.h"

#include <array>
#include <charconv>

#include <re2/re2.h>

#include "base/lookup.h"
#include "base/text.h"

namespace xlm {
namespace {

/// Calls `literal` with each piece of text and `name` with each name, in order.
template <class Literal, class Name>
void scan(std::string_view text, Literal literal, Name name) {
  // {{name}}, which stands for {name} itself; {name}; other text.
  static const RE2 part(R"((?s)\{(\{[A-Za-z_][\w.-]*\})\}|\{([A-Za-z_][\w.-]*)\}|(\{|[^{]+))", RE2::Latin1);
  re2::StringPiece rest(text.data(), text.size());
  std::string escaped;
  std::string named;
  for (std::string other; RE2::Consume(&rest, part, &escaped, &named, &other);) {
    if (named.empty()) {
      literal(escaped + other);
    } else {
      name(named);
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
  return join(mapped(value, value_text), ",");
}

}  // namespace xlm
