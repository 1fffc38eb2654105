// Small text helpers for messages that people read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// Levenshtein distance, counting a swap of neighbours as one.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// " (did you mean 'X'?)" for the nearest of `candidates` when one is near enough, otherwise "". The last part of a
/// dotted name means the name: "lr" is near optimizer.lr. What abbreviates the word is near: "list" is near ls.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

/// did_you_mean(), or "; it takes A, B" if no candidate is near and they are few.
std::string which_instead(std::string_view word, const std::vector<std::string>& candidates);

/// "3.2 s", "4 min 10 s", "2 h 05 min".
std::string human_duration(double seconds);

/// "512 B", "3.1 MB" (powers of 1000).
std::string human_bytes(double bytes);

/// "950", "38.1M", "1.2G" (powers of 1000, three digits).
std::string human_count(double count);

/// A value and the prefix by which it was divided, in powers of 1000: 38.1 and "M". A value that reaches `limit` is
/// divided once more (999.5 for three digits, so that 1000 never appears).
struct Prefixed {
  double value = 0;
  std::string_view prefix;
};
Prefixed with_prefix(double value, double limit);

/// From here on there is none, and numbers are written with an exponent.
inline constexpr double kBeyondPrefixes = 1e27;

/// "bpc-against-span" from "Bpc against span": a file name for a title.
std::string name_from_title(const std::string& title);

/// "1 run", "3 runs".
std::string counted(std::size_t count, std::string_view noun);

/// Names as a sentence lists them: "a", "a and b", "a, b and c", "a, b, c and 4 more"; never "and 1 more".
std::string listed_names(const std::vector<std::string>& names, std::size_t most);

/// The first names of a list: "a, b, c", "a, b, c and 4 more"; `rest` may be another word than "more".
std::string some_listed(const std::vector<std::string>& names, std::size_t most = 6, std::string_view rest = "more");

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view text, char separator);
/// `text` without terminal control: control characters appear as \x1b. Line ends, tabs and the colours of `paint` stay.
std::string printable(std::string_view text);
/// `text` without user names and passwords in addresses: what is between "://" and "@".
std::string without_logins(std::string text);
/// Up to the first line end.
std::string first_line(const std::string& text);
std::string_view trim(std::string_view text);
/// A to Z as a to z, in any locale; all else stays.
std::string lower_case(std::string_view text);

/// Reads a whole decimal integer or floating-point number; false when `text` is anything else.
bool parse_integer(std::string_view text, std::int64_t& value);
bool parse_real(std::string_view text, double& value);

/// `text` as one word of a POSIX shell, in quotes if it needs them. A backslash stays outside the quotes: sbatch reads
/// it literally in any quotes of #SBATCH lines, and so gets the same word.
std::string shell_word(const std::string& text);

/// Removes the first character, or what sets a colour, from a text that is not empty. Returns its columns.
std::size_t take_character(std::string_view& text);

/// Columns that `text` takes on a terminal. Counts UTF-8, combining marks and wide characters; colours take none.
std::size_t display_width(std::string_view text);

/// The same for the widest of its lines.
std::size_t widest_line(const std::string& text);

}  // namespace xlm
