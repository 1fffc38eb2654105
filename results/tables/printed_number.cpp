// Numbers as papers print them.
#include "results/tables/printed_number.h"

#include <cmath>
#include <string_view>

#include "base/text.h"

namespace xlm {
namespace {

constexpr std::string_view kPrefixes = "kMGTPE";

/// Digits behind the point of "1.136": 3.
int digits_behind_point(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

/// "1.136" of "1.136*".
std::string_view without_marks(std::string_view text) {
  std::string_view rest = trim(text);
  while (!rest.empty() && (rest.back() == '*' || rest.back() == '%')) rest = trim(rest.substr(0, rest.size() - 1));
  return rest;
}

}  // namespace

std::optional<int> printed_digits(const std::string& text) {
  const std::string_view number = without_marks(text);
  double value = 0;
  return parse_real(number, value) ? std::optional(digits_behind_point(number)) : std::nullopt;
}

std::optional<PrintedNumber> printed_number(const std::string& text, NumberFormat format) {
  if (format != NumberFormat::kPercent && text.find('%') != std::string::npos) {
    return printed_number(text, NumberFormat::kPercent);
  }
  constexpr std::string_view kPlusMinus = "±";
  if (const std::size_t sign = text.find(kPlusMinus); sign != std::string::npos) {
    std::optional<PrintedNumber> number = printed_number(text.substr(0, sign), format);
    const std::optional<PrintedNumber> spread = printed_number(text.substr(sign + kPlusMinus.size()), format);
    if (!number || !spread || number->deviation || spread->deviation || spread->value < 0) return std::nullopt;
    number->deviation = spread->value;
    return number;
  }
  std::string_view rest = without_marks(text);
  double unit = format == NumberFormat::kPercent ? 0.01 : 1;
  if (!rest.empty() && rest.back() == 'B') {
    rest = trim(rest.substr(0, rest.size() - 1));
    const bool bytes = format == NumberFormat::kBytes || (!rest.empty() && kPrefixes.find(rest.back()) != rest.npos);
    if (!bytes) unit *= 1e9;  // "1.5B" parameters
  }
  if (const std::size_t prefix = rest.empty() ? std::string_view::npos : kPrefixes.find(rest.back());
      prefix != std::string_view::npos) {
    unit *= std::pow(1000.0, static_cast<double>(prefix + 1));
    rest = trim(rest.substr(0, rest.size() - 1));
  }
  double value = 0;
  if (!parse_real(rest, value)) return std::nullopt;
  return PrintedNumber{value * unit, 0.5 * unit * std::pow(10.0, -digits_behind_point(rest))};
}

bool has_printed_star(const std::string& text) { return text.find('*') != std::string::npos; }

bool prints_nothing(const std::string& text) {
  const std::string_view rest = trim(text);
  return rest.empty() || rest == "–" || rest == "—" || rest == "-";
}

}  // namespace xlm
