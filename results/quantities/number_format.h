// Numbers as tables print them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace xlm {

enum class NumberFormat { kNumber, kCount, kBytes, kDuration, kPercent };
inline constexpr std::array<std::string_view, 5> kNumberFormatNames{"number", "count", "bytes", "duration", "percent"};

/// "1.136" (digits behind the point), "38M" (a count), "3.1 GB", "4 min 10 s", "12.5 %" (of a share of 1). `digits` <
/// 0: three for a number, one for a percentage, three in all for counts and bytes.
std::string format_number(double value, NumberFormat format, std::int64_t digits);

}  // namespace xlm
