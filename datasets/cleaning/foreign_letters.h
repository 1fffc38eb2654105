// What a cleaner threw away of a text: letters and digits that its alphabet lacks. Punctuation does not count.
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
  std::vector<std::string> examples;  // of what was lost, with what stands around it

  void add(const ForeignLetters& more);
  /// One letter is lost: the one at `text[position]`, which is valid UTF-8.
  void lose(std::string_view text, std::size_t position) {
    ++lost;
    if (examples.size() < kMostExamples && position >= next_example_) show(text, position);
  }
  /// The next text begins, in which positions count from 0.
  void begin_text() { next_example_ = 0; }

 private:
  static constexpr std::size_t kMostExamples = 3;
  void show(std::string_view text, std::size_t position);

  std::size_t next_example_ = 0;  // those in between would show the same
};

/// True for a letter or digit, and for U+FFFD, which was something before it was damaged.
bool is_letter_or_digit(char32_t character);

}  // namespace xlm
