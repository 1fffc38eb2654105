// Verdicts, in words.
#include "results/judgement/verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "results/quantities/number_format.h"

namespace xlm {

Verdict verdict_on_claim(Decision decision) {
  switch (decision) {
    case Decision::kInside:
      return Verdict::kConfirmed;
    case Decision::kOutside:
      return Verdict::kRefuted;
    case Decision::kUndecided:
      break;
  }
  return Verdict::kUndecided;
}

Verdict verdict_on_printed(Decision decision, bool has_margin) {
  if (decision == Decision::kOutside) return Verdict::kDiffers;
  if (!has_margin) return Verdict::kConsistent;
  return decision == Decision::kInside ? Verdict::kAgrees : Verdict::kUndecided;
}

std::string p_text(double p) { return p < 0.0001 ? "< 0.0001" : with_digits(p, 2); }

std::string p_in_words(double p) { return (p < 0.0001 ? "p " : "p = ") + p_text(p); }

int decimals_of_width(double half_width) {
  constexpr int kMaxDecimals = 12;
  if (!(half_width > 0)) return 0;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, kMaxDecimals);
}

int digits_beside(double value, const std::optional<double>& half_width) {
  constexpr int kDigits = 3;
  if (!half_width || value == 0) return kDigits;
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::max(kDigits, decimals_of_width(*half_width) + leading + 1);
}

std::string diverged_in_words(std::int64_t diverged, const std::optional<Verdict>& worst) {
  if (diverged == 0) return "";
  const std::string text = fmt::format("{} diverged", diverged);
  return worst ? fmt::format("{}: {} if {} the worst", text, name_of(*worst),
                             diverged == 1 ? "it counts as" : "they count as")
               : text;
}

std::string interval_text(double low, double high, const std::function<std::string(double)>& shown) {
  return fmt::format("{} to {}", shown(low), shown(high));
}

std::string seeds_in_words(const std::optional<SeedsToDecide>& needed, std::string_view seeds) {
  if (!needed) return "these seeds do not show how many would decide";
  const auto count = [](const std::optional<std::int64_t>& number) {
    return number ? in_thousands(*number) : "more than 10,000";
  };
  return fmt::format(
      "{} {} would decide if the present difference were the true one; if its interval's lower end were, {}; its "
      "upper, {}",
      count(needed->seeds), seeds, count(needed->at_low), count(needed->at_high));
}

}  // namespace xlm
