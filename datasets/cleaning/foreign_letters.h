// The letters and digits that a cleaner removed because its alphabet lacks them. Punctuation does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

struct ForeignLetters {
  std::int64_t kept = 0;  // letters and digits
  std::int64_t lost = 0;
  std::vector<std::string> examples;  // of lost letters, with the text around them

  void add(const ForeignLetters& more);
  /// Counts a lost letter: the one at `text[position]`, which is valid UTF-8.
  void lose(std::string_view text, std::size_t position) {
    ++lost;
    if (examples.size() < kMaxExamples && position >= next_example_) show(text, position);
  }
  /// Begins the next text, whose positions count from 0.
  void begin_text() { next_example_ = 0; }

 private:
  static constexpr std::size_t kMaxExamples = 3;
  void show(std::string_view text, std::size_t position);

  std::size_t next_example_ = 0;  // letters before it would give the same example
};

/// True for a letter or digit, and for U+FFFD, whose original is unknown.
bool is_letter_or_digit(char32_t character);

}  // namespace xlm
