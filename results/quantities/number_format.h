// Numbers as tables print them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace xlm {

enum class NumberFormat { kNumber, kCount, kBytes, kPercent };
inline constexpr std::array<std::string_view, 4> kNumberFormatNames{"number", "count", "bytes", "percent"};

/// "1.136" (with decimals), "5,791.62", "8192", "38M" (a count), "3.1 GB", "4 min 10 s", "12.5 %" (of a share of 1).
/// `digits` is the number of decimals. If it is negative: three for a number, none if it is an integer or large; one
/// for a percentage; three digits in all for counts and bytes.
std::string format_number(double value, NumberFormat format, std::int64_t digits);

/// 600000 as "600,000".
std::string in_thousands(std::int64_t number);

/// With `digits` significant digits, without final zeros or powers of ten: "2.0483", "0.000012", "13,119" (all digits
/// before the point stay).
std::string with_digits(double value, int digits);

/// The same with its sign: "+0.101".
std::string difference_with_digits(double value, int digits);

/// A number of unknown size for people: "343k", "12,010", "5,792" for 5791.6, "1024", "2.0483".
std::string shown_number(double value);

}  // namespace xlm
