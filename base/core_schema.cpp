// What a plain scalar of YAML means.
#include "base/core_schema.h"

#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace xlm {
namespace {

/// Numbers such as 0o17 and 0xF, which have no sign.
bool parse_prefixed(std::string_view text, std::int64_t& value) {
  const int base = text.starts_with("0o") ? 8 : text.starts_with("0x") ? 16 : 0;
  if (base == 0 || text.size() < 3 || text[2] == '-') return false;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool is_null_word(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

Json core_value(std::string_view text) {
  if (is_null_word(text)) return nullptr;
  for (const std::string_view word : {"true", "True", "TRUE"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"false", "False", "FALSE"}) {
    if (text == word) return false;
  }
  std::int64_t integer = 0;
  if (parse_integer(text, integer) || parse_prefixed(text, integer)) return integer;
  double real = 0;
  if (parse_real(text, real)) return real;
  return std::string(text);
}

std::string_view number_hint(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (const std::string word = lower_case(text); word == ".inf" || word == ".nan") return " (numbers are finite here)";
  if (text.empty() || text.front() < '0' || text.front() > '9') return "";
  if (text.find_first_not_of("0123456789_.") == std::string_view::npos && text.find('_') != std::string_view::npos) {
    return " (YAML 1.2 has no _ in numbers)";
  }
  if (text.find_first_not_of("0123456789:.") == std::string_view::npos && text.find(':') != std::string_view::npos) {
    return " (YAML 1.2 has no numbers to the base 60)";
  }
  if (text.starts_with("0b")) return " (YAML 1.2 has no binary numbers)";
  return "";
}

}  // namespace xlm
