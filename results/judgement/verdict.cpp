// Verdicts, in words.
#include "results/judgement/verdict.h"

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

std::string interval_text(double low, double high, const std::function<std::string(double)>& shown) {
  return fmt::format("{} to {}", shown(low), shown(high));
}

std::string seeds_in_words(const std::optional<std::int64_t>& seeds_to_decide) {
  if (!seeds_to_decide) return "more than 10,000 seeds would be needed";
  return in_thousands(*seeds_to_decide) + " seeds would decide";
}

}  // namespace xlm
