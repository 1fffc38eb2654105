// Numbers as programs print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlm {

/// "2.1", "-3", "1e-4", "+5", and what is not finite as most languages write it: "nan", "NaN", "inf", "-Infinity", …
/// Nothing for any other text.
std::optional<double> printed_number(std::string_view text);

/// The same, also with a letter for its size behind it, as people read it: "10.65M" (k, K, M, G, B, T).
std::optional<double> printed_count(std::string_view text);

/// A number without the sign between its thousands: "-4175.5" of "-4,175.5" and ','. A text without the sign stays as
/// it is; nullopt if the sign stands elsewhere, as in "4,17".
std::optional<std::string> without_thousands(std::string_view text, char sign);

/// Signs that a program may print between thousands, and that are no part of another number.
inline constexpr std::string_view kThousandsSigns = ",'_ ";

/// How to read a text that is no number only for such signs, as a remedy behind no_number; "" for another text.
std::string thousands_remedy(std::string_view text);

/// A text without the marks of a sentence behind it: "2.5" of "2.5," and "2.5).".
std::string_view without_marks_behind(std::string_view text);

/// The number in a line of which `part` holds only some: "1.5e-05" around "1.5", "12,345" around "12" or "345", "2.51"
/// around "1", "-0.5" around "0.5". Empty: `part` is whole, as far as one sees.
std::string_view number_around(std::string_view line, std::string_view part);

/// A number as a step: whole, from 0 on. Nothing for any other.
std::optional<std::int64_t> whole_step(double number);

/// What to say of another: "'step' is '1.5'; a step is a whole number, from 0 on".
std::string no_step(std::string_view name, std::string_view text);

/// What to say of a text: "'loss' is 'high', which is no number".
std::string no_number(std::string_view name, std::string_view text);

}  // namespace xlm
