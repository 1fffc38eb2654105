// Numbers as programs print them.
#pragma once

#include <optional>
#include <string_view>

namespace xlm {

/// "2.1", "-3", "1e-4", "+5", and what is not finite as most languages write it: "nan", "NaN", "inf", "-Infinity", …
/// Nothing for any other text.
std::optional<double> printed_number(std::string_view text);

/// The same, also with a letter for its size behind it, as people read it: "10.65M" (k, K, M, G, B, T).
std::optional<double> printed_count(std::string_view text);

}  // namespace xlm
