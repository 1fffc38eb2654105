// What is said of a comparison: the same words in tables, claims, comparisons, reports and pages.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "results/judgement/limits.h"

namespace xlm {

enum class Verdict {
  // Of a claim:
  kConfirmed,  // the interval lies where the claim says
  kRefuted,    // it lies outside of that
  kUndecided,  // neither; or how much seeds differ is not known. Of every comparison
  kNotTried,   // runs or configurations are missing
  // Of a value that a paper prints, and of two settings:
  kAgrees,         // the interval of the difference lies within the margin; of a cost, the difference itself
  kConsistent,     // no margin is stated, and zero is in the interval. This is not evidence that both are equal
  kDiffers,        // the interval lies outside of the margin, or of zero
  kNotComparable,  // the runs are not configured as the paper's
};
inline constexpr std::array<std::string_view, 8> kVerdictNames{
    "confirmed", "refuted", "undecided", "not tried", "agrees", "consistent", "differs", "not comparable"};
inline constexpr std::size_t kClaimVerdicts = 4;  // the first are those of claims
inline std::string_view name_of(Verdict verdict) { return kVerdictNames.at(static_cast<std::size_t>(verdict)); }

/// Whether a claim holds that allows what lies within the limits.
Verdict verdict_on_claim(Decision decision);

/// Whether ours and the printed value are alike: within a margin, or where none is known, not apart.
Verdict verdict_on_printed(Decision decision, bool has_margin);

/// "0.0045", "< 0.0001".
std::string p_text(double p);
/// "p = 0.0045", "p < 0.0001".
std::string p_in_words(double p);

/// Significant digits of a number whose interval is so wide: three, and as many more as show two digits of the width.
int digits_beside(double value, const std::optional<double>& half_width);

/// Digits behind the point that show two digits of a width.
int decimals_of_width(double half_width);

/// "5 diverged: undecided if they count as the worst", of seeds; empty if none did. `worst`: the verdict then, nullopt
/// if it cannot be known.
std::string diverged_in_words(std::int64_t diverged, const std::optional<Verdict>& worst);

/// "-0.030 to -0.012", with both ends as `shown` writes numbers.
std::string interval_text(double low, double high, const std::function<std::string(double)>& shown);

/// What a verdict rests on if a setting has the same number with all its seeds.
inline constexpr std::string_view kSeedsSayNothing =
    "seeds of a setting have the same number: the program does not seem to use its seed, or the number does not "
    "depend on it";

/// And if two sides have the same numbers, seed by seed.
inline constexpr std::string_view kSidesSayNothing =
    "both sides have the same number with every seed: what differs between them does not seem to reach the program, or "
    "does not change this number";

/// What a comparison still needs that is undecided though its error is known: "9 seeds would decide if the present
/// difference were the true one; if its interval's lower end were, 5; its upper, 40". `seeds`: what is counted, "seeds
/// of each side".
std::string seeds_in_words(const std::optional<SeedsToDecide>& needed, std::string_view seeds = "seeds");

}  // namespace xlm
