// The verdict on a value that a paper prints: whether ours agrees with it, and how sure that is.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/quantities/number_format.h"

namespace xlm {

enum class Verdict {
  kAgrees,       // within the interval of our seeds, or within the tolerance that the table states
  kDiffers,      // outside of both
  kTooFewSeeds,  // one seed and no tolerance: nothing is known of how much seeds differ
  kSmallerRun,   // a profile that is not the paper's own: no verdict
};
inline constexpr std::array<std::string_view, 4> kVerdictNames{"agrees", "differs", "too few seeds", "smaller run"};
inline std::string_view name_of(Verdict verdict) { return kVerdictNames.at(static_cast<std::size_t>(verdict)); }

/// A number as a paper prints it, and half a unit of its last digit: what rounding may have hidden.
struct PrintedNumber {
  double value = 0;
  double rounding = 0;
};

/// "1.136*" is 1.136 ± 0.0005, "38M" 38 million ± half a million, "1.5B" 1.5 billion, or bytes in a column of
/// bytes; in a column of percents "93.1" is 0.931. Nothing for text that is no number.
std::optional<PrintedNumber> printed_number(const std::string& text, NumberFormat format);

/// Digits behind the point of "1.136*": 3. Nothing for text that is no plain number, such as "38M".
std::optional<int> printed_digits(const std::string& text);

struct VerdictSettings {
  double level = 0.95;              // of the interval over seeds
  std::optional<double> tolerance;  // a difference that does not count, in units of the value; nothing: none is stated
  bool exact = false;               // the value follows from the configuration: parameters, FLOPs
  bool paper_size = true;           // the runs are of the paper's own sizes
};

/// Ours beside the paper's.
struct PrintedComparison {
  double printed = 0;
  double difference = 0;             // ours − printed
  std::optional<double> half_width;  // of the interval of our mean, by Student's t; nothing for one seed
  Verdict verdict = Verdict::kTooFewSeeds;
};

/// `by_seed`: a number for each seed, at least one.
PrintedComparison compare_with_print(const std::vector<double>& by_seed, const PrintedNumber& printed,
                                     const VerdictSettings& settings);

}  // namespace xlm
