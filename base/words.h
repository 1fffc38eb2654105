// Words of the small languages (KEY=VALUE, conditions, lists, columns), and their one rule of quoting.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// A value as a user writes it.
struct Word {
  std::string text;     // without blanks around it, and without quotes
  bool quoted = false;  // it is text then, and its signs have no meaning
};

bool begins_with_quote(std::string_view text);

/// Reads one word, quoted as in YAML: '…' doubles a quote, "…" has backslash escapes (\", \\,
/// ). Throws UsageError if quotes are not closed, or if text follows them.
Word read_word(std::string_view text);

/// The parts of `text` between separators outside of quotes and of `brackets`, which are pairs: "[]()". A quote opens
/// only at the beginning of a word, so that it's is a word. Throws UsageError if quotes are not closed.
std::vector<std::string> split_words(std::string_view text, char separator, std::string_view brackets = "");

/// `text` in the form that read_word reads back: in quotes if it needs them.
std::string as_word(const std::string& text);
std::string quoted_word(const std::string& text);  // in any case

}  // namespace xlm
