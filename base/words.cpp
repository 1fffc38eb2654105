// Words of the small languages.
#include "base/words.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"

namespace xlm {
namespace {

constexpr std::string_view kBeforeWords = ",=<>!@([{";  // a word begins behind these

/// The position where the quote at `open` is closed.
std::size_t closing_quote(std::string_view text, std::size_t open) {
  const char quote = text[open];
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    const bool is_pair = quote == '\'' && text.substr(i, 2) == "''";
    if (is_pair || (quote == '"' && text[i] == '\\')) {
      ++i;
    } else if (text[i] == quote) {
      return i;
    }
  }
  throw UsageError(fmt::format("{}: the quote is not closed\nput text that begins with a quote in quotes: {}", text,
                               quoted_word(std::string(text.substr(open)))));
}

}  // namespace

bool begins_with_quote(std::string_view text) { return text.starts_with('"') || text.starts_with('\''); }

Word read_word(std::string_view text) {
  text = trim(text);
  if (!begins_with_quote(text)) return {std::string(text), false};
  const std::size_t close = closing_quote(text, 0);
  if (close + 1 != text.size()) {
    throw UsageError(fmt::format("{}: '{}' follows the quotes\nput the whole value in quotes: {}", text,
                                 text.substr(close + 1), quoted_word(std::string(text))));
  }
  if (text.front() == '"') return {parse_yaml(text, std::string(text)).scalar, true};
  Word word{.quoted = true};
  for (std::size_t i = 1; i < close; ++i) {
    word.text += text[i];
    if (text[i] == '\'') ++i;  // it is doubled
  }
  return word;
}

std::vector<std::string> split_words(std::string_view text, char separator, std::string_view brackets) {
  std::vector<std::string> parts{""};
  int depth = 0;
  bool begins_word = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins_word && begins_with_quote(text.substr(i))) {
      const std::size_t close = closing_quote(text, i);
      parts.back() += text.substr(i, close + 1 - i);
      i = close;
      begins_word = false;
      continue;
    }
    const std::size_t bracket = brackets.find(text[i]);
    if (bracket != std::string_view::npos && bracket % 2 == 0) ++depth;
    if (bracket != std::string_view::npos && bracket % 2 == 1 && depth > 0) --depth;
    if (text[i] == separator && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += text[i];
    }
    if (text[i] != ' ') begins_word = kBeforeWords.find(text[i]) != std::string_view::npos;
  }
  return parts;
}

std::string as_word(const std::string& text) {
  const bool is_plain = !text.empty() && trim(text).size() == text.size() && !begins_with_quote(text) &&
                        text.find_first_of(",=<>@#[]{}\n\r\t") == std::string::npos;
  return is_plain ? text : quoted_word(text);
}

std::string quoted_word(const std::string& text) {
  std::string word = "\"";
  for (const char c : text) {
    const std::size_t escaped = std::string_view("\"\\\n\r\t").find(c);
    if (escaped != std::string_view::npos) word += '\\';
    word += escaped == std::string_view::npos ? c : "\"\\nrt"[escaped];
  }
  return word + "\"";
}

}  // namespace xlm
