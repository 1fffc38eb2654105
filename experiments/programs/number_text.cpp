// Reading printed numbers.
#include "experiments/programs/number_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "experiments/programs/shown_line.h"

namespace xlm {
namespace {

/// What std::from_chars calls out of range: too large, or too small to be told from 0.
double out_of_range(std::string_view digits, bool negative) {
  const std::size_t exponent = digits.find_first_of("eE");
  const bool is_small = exponent != std::string_view::npos ? digits.substr(exponent + 1).starts_with('-')
                                                           : digits.starts_with("0.") || digits.starts_with('.');
  const double value = is_small ? 0 : std::numeric_limits<double>::infinity();
  return negative ? -value : value;
}

}  // namespace

std::optional<double> printed_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  // std::from_chars also reads a second minus, and "nan(…)".
  if (text.empty() || text.front() == '-' || text.ends_with(')')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) return out_of_range(text, negative);
  return negative ? -value : value;
}

std::optional<double> printed_count(std::string_view text) {
  static constexpr std::array<std::pair<char, double>, 6> kSizes{
      {{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'B', 1e9}, {'T', 1e12}}};
  for (const auto& [letter, size] : kSizes) {
    if (!text.ends_with(letter)) continue;
    const std::optional<double> number = printed_number(text.substr(0, text.size() - 1));
    return number ? std::optional<double>(*number * size) : std::nullopt;
  }
  return printed_number(text);
}

std::optional<std::string> without_thousands(std::string_view text, char sign) {
  constexpr std::size_t kGroup = 3;
  if (text.find(sign) == std::string_view::npos) return std::string(text);
  std::string plain;
  std::size_t at = 0;
  if (text.front() == '-' || text.front() == '+') plain += text[at++];
  std::size_t digits = 0;  // of the present group
  bool is_first = true;
  for (; at < text.size(); ++at) {
    if (text[at] >= '0' && text[at] <= '9') {
      plain += text[at];
      ++digits;
    } else if (text[at] == sign) {
      if (digits == 0 || digits > kGroup || (!is_first && digits < kGroup)) return std::nullopt;
      is_first = false;
      digits = 0;
    } else {
      break;
    }
  }
  const std::string_view rest = text.substr(at);
  if (is_first || digits != kGroup || rest.find(sign) != std::string_view::npos) return std::nullopt;
  plain += rest;
  return plain;
}

std::string thousands_remedy(std::string_view text) {
  for (const char sign : kThousandsSigns) {
    if (text.find(sign) == std::string_view::npos) continue;
    const std::optional<std::string> plain = without_thousands(text, sign);
    if (!plain || !printed_count(*plain)) continue;
    return fmt::format("\nif '{0}' stands between thousands, say so: {{lines: …, thousands: \"{0}\"}}", sign);
  }
  return "";
}

std::string_view without_marks_behind(std::string_view text) {
  const std::size_t last = text.find_last_not_of(",;:.)]}");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether line[at - 1] stands between thousands: up to three digits before it, exactly three behind it.
bool follows_thousands(std::string_view line, std::size_t at) {
  if (at < 2 || (line[at - 1] != ',' && line[at - 1] != '\'')) return false;
  std::size_t behind = at;
  while (behind < line.size() && is_digit(line[behind])) ++behind;
  std::size_t begin = at - 1;
  while (begin > 0 && is_digit(line[begin - 1])) --begin;
  const std::size_t before = at - 1 - begin;
  return behind - at == 3 && before >= 1 && before <= 3 && (begin == 0 || line[begin - 1] != '.');
}

}  // namespace

std::string_view number_around(std::string_view line, std::string_view part) {
  // Digits; then a point or an exponent with digits, or thousands of three digits each.
  static const RE2 rest(R"(^(?:\d+|\.\d|[eE][-+]?\d|[kKMGBT](?:\W|$)|\(-?\d))");
  static const RE2 thousands(R"(^[,']\d{3}(?:\D|$))");
  static const RE2 whole(R"(^[-+]?[\d.]*(?:[,']\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+|[kKMGBT]|\([-\d.]+\))?)");
  const auto begin = static_cast<std::size_t>(part.data() - line.data());
  const std::size_t end = begin + part.size();
  const re2::StringPiece behind(line.data() + end, line.size() - end);
  const bool is_whole_number = part.find('.') == std::string_view::npos;
  const bool goes_on = RE2::PartialMatch(behind, rest) || (is_whole_number && RE2::PartialMatch(behind, thousands));
  std::size_t first = begin;
  while (first > 0 && (is_digit(line[first - 1]) || line[first - 1] == '.' || follows_thousands(line, first))) --first;
  const bool has_sign = first > 0 && line[first - 1] == '-' &&
                        (first == 1 || line[first - 2] == ' ' || line[first - 2] == '=' || line[first - 2] == ':');
  if (has_sign) --first;
  const std::string_view before = line.substr(first, begin - first);
  const bool is_padding =  // "0012", or dots of a sentence
      before.find_first_of("123456789-") == std::string_view::npos && before.find("0.") == std::string_view::npos;
  if (part.empty() || !is_digit(part.back()) || (!goes_on && is_padding)) return {};
  re2::StringPiece found;
  const re2::StringPiece from(line.data() + first, line.size() - first);
  if (!whole.Match(from, 0, from.size(), RE2::ANCHOR_START, &found, 1)) return {};
  return {found.data(), found.size()};
}

std::optional<std::int64_t> whole_step(double number) {
  constexpr double kHighest = 9007199254740992.0;  // 2^53: above it a double is not every whole number
  if (!(number >= 0 && number <= kHighest) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string no_step(std::string_view name, std::string_view text) {
  return fmt::format("'{}' is '{}'; a step is a whole number, from 0 on", name, shown_line(text));
}

std::string no_number(std::string_view name, std::string_view text) {
  return fmt::format("'{}' is '{}', which is no number", name, shown_line(text));
}

}  // namespace xlm
