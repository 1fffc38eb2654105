// Words of the small languages (KEY=VALUE, conditions, lists, columns), and the one rule by which they are quoted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// A value as a user writes it.
struct Word {
  std::string text;     // without the blanks around it, and without quotes
  bool quoted = false;  // it is text then, whatever it looks like, and none of its signs has a meaning
};

bool begins_with_quote(std::string_view text);

/// Reads one word, quoted as YAML quotes: in '…' a quote is written twice, in "…" a backslash begins an escape (\", \\,
/// \n). Throws UsageError for quotes that are not closed, or that something follows.
Word read_word(std::string_view text);

/// The parts of `text` between separators that stand neither in quotes nor in `brackets`, which are pairs: "[]()". A
/// quote opens only where a word begins, so that it's is a word. Throws UsageError for quotes that are not closed.
std::vector<std::string> split_words(std::string_view text, char separator, std::string_view brackets = "");

/// `text` as read_word gives it back: in quotes where it needs them.
std::string as_word(const std::string& text);
std::string quoted_word(const std::string& text);  // in any case

}  // namespace xlm
