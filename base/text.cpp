// Small text helpers for messages that people read.
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cwchar>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace xlm {
namespace {

std::string three_digits(double value, std::string_view separator, std::string_view unit, bool small_is_whole) {
  const auto [scaled, prefix] = with_prefix(value, 999.5);
  if (std::abs(value) >= kBeyondPrefixes) return fmt::format("{:.3g}{}{}", value, separator, unit);
  if (prefix.empty()) {
    return fmt::format(fmt::runtime(small_is_whole ? "{:.0f}{}{}" : "{:.3g}{}{}"), scaled, separator, unit);
  }
  const int digits = std::abs(scaled) < 9.995 ? 2 : std::abs(scaled) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}{}{}{}", scaled, digits, separator, prefix, unit);
}

/// The colour code of `paint` with which `text` begins; otherwise "".
std::string_view leading_colour(std::string_view text) {
  for (const std::string_view colour :
       {"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[90m"}) {
    if (text.starts_with(colour)) return colour;
  }
  return {};
}

/// Takes a sign before a number; a second sign is not allowed.
bool take_plus(std::string_view& text) {
  if (text.starts_with("+-")) return false;
  if (text.starts_with('+')) text.remove_prefix(1);
  return !text.empty();
}

template <class Number>
bool parse_number(std::string_view text, Number& value) {
  if (!take_plus(text)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Whether a name abbreviates a word: "ls" a list, "rm" to remove.
bool abbreviates(std::string_view name, std::string_view word) {
  if (name.size() < 2 || name.size() >= word.size() || 3 * name.size() < word.size() || name[0] != word[0])
    return false;
  std::size_t matched = 0;
  for (const char letter : word) matched += matched < name.size() && letter == name[matched] ? 1 : 0;
  return matched == name.size();
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.size() > 100) return "";
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool is_its_end = candidate.size() > word.size() && candidate.ends_with(word) &&
                            candidate[candidate.size() - word.size() - 1] == '.';
    const std::size_t distance = is_its_end ? 0 : abbreviates(candidate, word) ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? "" : fmt::format(" (did you mean '{}'?)", *best);
}

std::string which_instead(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kFew = 16;
  std::string meant = did_you_mean(word, candidates);
  if (!meant.empty() || candidates.empty() || candidates.size() > kFew) return meant;
  return "; it takes " + join(candidates, ", ");
}

std::string human_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds > 1e12) return fmt::format("{:.3g} s", seconds);
  if (seconds < 59.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  const std::int64_t minutes = (whole + 30) / 60;
  if (minutes < std::int64_t{48} * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {:02} h", minutes / 1440, minutes % 1440 / 60);
}

Prefixed with_prefix(double value, double limit) {
  constexpr std::string_view kPrefixes = "kMGTPEZY";
  if (std::abs(value) >= kBeyondPrefixes) return {value, {}};
  std::size_t divisions = 0;
  while (std::abs(value) >= limit && divisions < kPrefixes.size()) {
    value /= 1000;
    ++divisions;
  }
  return {value, divisions == 0 ? std::string_view() : kPrefixes.substr(divisions - 1, 1)};
}

std::string human_bytes(double bytes) { return three_digits(bytes, " ", "B", true); }

std::string human_count(double count) { return three_digits(count, "", "", count == std::floor(count)); }

std::string name_from_title(const std::string& title) {
  std::string name;
  for (const char c : lower_case(title)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) name += c;
    if (c == ' ' && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string listed_names(const std::vector<std::string>& names, std::size_t most) {
  if (names.empty()) return "";
  const std::size_t shown = names.size() <= most + 1 ? names.size() - 1 : most;  // never "and 1 more"
  const std::string first = join({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown)}, ", ");
  const std::string rest = names.size() - shown == 1 ? names.back() : fmt::format("{} more", names.size() - shown);
  return first.empty() ? rest : first + " and " + rest;
}

std::string some_listed(const std::vector<std::string>& names, std::size_t most, std::string_view rest) {
  if (names.size() <= most) return join(names, ", ");
  const std::vector<std::string> first(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most));
  return fmt::format("{} and {} {}", join(first, ", "), names.size() - most, rest);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string printable(std::string_view text) {
  const auto is_plain = [](char c) {  // whatever is around it
    const auto byte = static_cast<unsigned char>(c);
    return (byte >= 0x20 && byte != 0x7F && byte != 0xC2) || byte == '\n' || byte == '\t';
  };
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto special = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(), is_plain);
    const auto plain = static_cast<std::size_t>(special - text.begin()) - i;
    shown.append(text.substr(i, plain));
    i += plain;
    if (i == text.size()) break;
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (const std::string_view colour = leading_colour(text.substr(i)); !colour.empty()) {
      shown += colour;
      i += colour.size() - 1;
    } else if (byte == 0xC2 && next >= 0x80 && next <= 0x9F) {  // U+0080 … U+009F, which some terminals obey, too
      shown += fmt::format("\\x{:02x}", next);
      ++i;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[i];
    }
  }
  return shown;
}

std::string without_logins(std::string text) {
  constexpr std::string_view kBegin = "://";
  for (std::size_t place = text.find(kBegin); place != std::string::npos; place = text.find(kBegin, place)) {
    place += kBegin.size();
    const std::size_t at = text.substr(place, text.find_first_of(" \t\n/?#'\"", place) - place).rfind('@');
    if (at != std::string::npos) text.erase(place, at + 1);
  }
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\f\v";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

bool parse_integer(std::string_view text, std::int64_t& value) { return parse_number(text, value); }

bool parse_real(std::string_view text, double& value) { return parse_number(text, value) && std::isfinite(value); }

std::size_t take_character(std::string_view& text) {
  if (text.starts_with("\033[")) {  // colours take no columns
    const std::size_t end = text.find('m', 2);
    text.remove_prefix(end == std::string_view::npos ? 2 : end + 1);
    return 0;
  }
  if (const char first = text.front(); first >= ' ' && first <= '~') {
    text.remove_prefix(1);
    return 1;
  }
  wchar_t character = 0;
  std::mbstate_t state{};
  const std::size_t bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) {  // a zero byte, or not valid in this locale: count bytes that start one
    const bool starts = (static_cast<unsigned char>(text.front()) & 0xC0U) != 0x80U;
    text.remove_prefix(1);
    return starts ? 1 : 0;
  }
  text.remove_prefix(bytes);
  return static_cast<std::size_t>(std::max(0, ::wcwidth(character)));
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) columns += take_character(text);
  return columns;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (const std::string& line : split(text, '\n')) widest = std::max(widest, display_width(line));
  return widest;
}

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string word = "'";
  for (const char c : text) {
    word += c == '\'' ? "'\\''" : c == '\\' ? "'\\\\'" : std::string(1, c);
  }
  return word + "'";
}

}  // namespace xlm
