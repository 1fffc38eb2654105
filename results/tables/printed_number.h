// Numbers as papers print them: with a star, a unit's prefix, a standard deviation, and so many digits.
#pragma once

#include <optional>
#include <string>

#include "results/quantities/number_format.h"

namespace xlm {

/// A number as a paper prints it, and half a unit of its last digit: what rounding may have hidden.
struct PrintedNumber {
  double value = 0;
  double rounding = 0;
  std::optional<double> deviation = {};  // "1.136 ± 0.004": the sample standard deviation over the paper's runs
};

/// "1.136*" is 1.136 ± 0.0005, "38M" 38 million ± half a million, "1.5B" 1.5 billion, or bytes in a column of
/// bytes. "93.1 %" is 0.931, and so is "93.1" in a column of percents. Nothing for text that is no number.
std::optional<PrintedNumber> printed_number(const std::string& text, NumberFormat format);

/// Digits behind the point of "1.136*": 3. Nothing for text that is no plain number, such as "38M".
std::optional<int> printed_digits(const std::string& text);

/// Whether a paper prints a star with a value: "1.136*".
bool has_printed_star(const std::string& text);

/// Whether a text says that the paper prints no value: "–", "-".
bool prints_nothing(const std::string& text);

}  // namespace xlm
