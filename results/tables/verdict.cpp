// The verdict on a value that a paper prints.
#include "results/tables/verdict.h"

#include <cmath>

#include "base/text.h"
#include "results/store/statistics.h"

namespace xlm {
namespace {

constexpr std::string_view kPrefixes = "kMGTPE";

/// Digits behind the point of "1.136": 3.
int digits_behind_point(std::string_view number) {
  const std::size_t point = number.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(number.size() - point - 1);
}

Verdict judge(const PrintedComparison& compared, const PrintedNumber& printed, const VerdictSettings& settings) {
  if (!settings.paper_size) return Verdict::kSmallerRun;
  const double apart = std::abs(compared.difference) - printed.rounding;
  if (settings.tolerance && apart <= *settings.tolerance) return Verdict::kAgrees;
  if (compared.half_width && apart <= *compared.half_width) return Verdict::kAgrees;
  if (settings.exact) return apart <= 0 ? Verdict::kAgrees : Verdict::kDiffers;
  return compared.half_width || settings.tolerance ? Verdict::kDiffers : Verdict::kTooFewSeeds;
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

PrintedComparison compare_with_print(const std::vector<double>& by_seed, const PrintedNumber& printed,
                                     const VerdictSettings& settings) {
  PrintedComparison compared{.printed = printed.value, .difference = mean(by_seed) - printed.value};
  compared.half_width = half_interval(by_seed, settings.level);
  compared.verdict = judge(compared, printed, settings);
  return compared;
}

}  // namespace xlm
