// The last lines of what a program said, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xlm {

/// Without the sequences by which programs colour text and move a cursor.
std::string without_escapes(std::string_view text);

/// Output as a terminal would show it at the end, without the terminal: escape sequences are removed, of what a
/// carriage return overwrites (progress bars) only the last stays, invalid UTF-8 becomes U+FFFD. The last `lines` lines
/// that are not blank, each shortened to `width` bytes.
std::string shown_output(std::string_view raw, std::size_t lines, std::size_t width);

/// Keeps the end of any amount of output.
class LastOutput {
 public:
  void add(std::string_view output);

  /// For a message: 20 lines of up to 400 bytes.
  std::string message() const;
  /// For a search: 200 lines.
  std::string recent() const;

 private:
  std::string end_;
};

}  // namespace xlm
