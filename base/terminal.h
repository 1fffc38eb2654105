// The terminal to which the program writes, and aligned tables of text for it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// Standard error or output as a terminal. Colours are on only there, and never when NO_COLOR is set.
struct Terminal {
  bool is_terminal = false;
  bool colour = false;
  int width = 80;   // columns
  int height = 24;  // lines

  static Terminal of(int descriptor);

  /// The same with the current size of the stream's terminal, if it is one: users resize it.
  Terminal resized(std::FILE* out) const;
};

enum class Colour { kRed, kGreen, kYellow, kBlue, kGrey, kBold };

/// `text` in `colour` if the terminal has colours, otherwise unchanged.
std::string paint(const Terminal& terminal, Colour colour, const std::string& text);

/// Writes to standard error, or to another stream that people watch. Errors are ignored: work does not end because a
/// terminal closed or a disk is full.
void say(std::string_view text, std::FILE* out = stderr);

/// The beginning of a line that fits the terminal with the cursor behind it, in whole characters. Lines with colours
/// cannot be cut.
std::string cut_to_line(const Terminal& terminal, std::string line);

/// The terminal lines that a text takes if the terminal wraps long lines.
std::size_t lines_taken(const Terminal& terminal, std::string_view text);

/// The text, shortened with "…" at its end if it is wider than `width` columns; 0: no limit.
std::string cut_cell(const std::string& text, std::size_t width);

/// A table for people and for files. Numbers are right-aligned by their column's `right` flag.
class TextTable {
 public:
  enum class Format { kText, kMarkdown, kCsv };
  struct Column {
    std::string title;
    bool right = false;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells);

  /// Text is aligned and fits `width` columns by shortening the widest left-aligned cells with "…" (0: no limit).
  std::string render(Format format, int width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace xlm
