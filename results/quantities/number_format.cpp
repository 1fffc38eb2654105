// Numbers as tables print them.
#include "results/quantities/number_format.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr double kFromHereInThousands = 1e4;          // integers from here on: 8192 is read as a size
constexpr double kFromHereFractionInThousands = 1e3;  // other numbers from here on: decimals no longer matter
constexpr double kFromHereWithPrefix = 1e5;
constexpr double kBeyondIntegers = 9e18;

/// A number scaled to k, M, G, … with `digits` decimals.
std::string scaled(double value, std::int64_t digits, std::string_view unit) {
  if (std::abs(value) >= kBeyondPrefixes) return fmt::format("{:.6g}{}{}", value, unit.empty() ? "" : " ", unit);
  const double rounding = 0.5 * std::pow(10.0, -static_cast<double>(digits));
  const auto [number, prefix] = with_prefix(value, 1000 - rounding);
  return fmt::format("{:.{}f}{}{}{}", number, digits, unit.empty() ? "" : " ", prefix, unit);
}

bool is_read_whole(double value) {
  return std::abs(value) >= kFromHereFractionInThousands && value != std::floor(value);
}

/// "0.000" of "-0.000": what rounds to zero has no sign.
std::string without_sign_of_zero(std::string text) {
  if (text.starts_with('-') && text.find_first_of("123456789in") == std::string::npos) text.erase(0, 1);
  return text;
}

/// A number with `digits` decimals, or with as many as it needs: none if it is an integer. Large numbers have thousands
/// separators.
std::string plain_number(double value, std::int64_t digits) {
  const double size = std::abs(value);
  if (size >= kBeyondIntegers && std::isfinite(value)) return fmt::format("{:.6g}", value);
  if (digits < 0 && (value == std::floor(value) || is_read_whole(value))) return shown_number(value);
  std::string text = without_sign_of_zero(fmt::format("{:.{}f}", value, digits < 0 ? 3 : digits));
  const double from_here = digits == 0 ? kFromHereInThousands : kFromHereFractionInThousands;
  if (size < from_here || !std::isfinite(value)) return text;
  const std::size_t whole = std::min(text.find('.'), text.size());
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + whole, number);
  return in_thousands(number) + text.substr(whole);
}

}  // namespace

std::string format_number(double value, NumberFormat format, std::int64_t digits) {
  const bool automatic = digits < 0;
  switch (format) {
    case NumberFormat::kNumber:
      return plain_number(value, digits);
    case NumberFormat::kCount:
      return automatic ? human_count(value) : scaled(value, digits, "");
    case NumberFormat::kBytes:
      return automatic ? human_bytes(value) : scaled(value, digits, "B");
    case NumberFormat::kPercent:
      return without_sign_of_zero(fmt::format("{:.{}f}", 100 * value, automatic ? 1 : digits)) + " %";
  }
  return "";
}

std::string in_thousands(std::int64_t number) {
  std::string digits = fmt::to_string(number);
  for (auto place = static_cast<std::int64_t>(digits.size()) - 3; place > (number < 0 ? 1 : 0); place -= 3) {
    digits.insert(static_cast<std::size_t>(place), ",");
  }
  return digits;
}

std::string with_digits(double value, int digits) {
  constexpr int kMaxDecimals = 15;
  if (!std::isfinite(value) || value == 0) return fmt::format("{:g}", value);
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(value))));  // place of the first digit
  std::string text = plain_number(value, std::clamp(digits - 1 - leading, 0, kMaxDecimals));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string difference_with_digits(double value, int digits) {
  return (value < 0 ? "" : "+") + with_digits(value, digits);
}

std::string shown_number(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (std::abs(value) >= kFromHereWithPrefix) return human_count(value);
  if (std::abs(value) >= kFromHereInThousands || is_read_whole(value)) return in_thousands(std::llround(value));
  constexpr int kDigits = 5;
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : with_digits(value, kDigits);
}

}  // namespace xlm
