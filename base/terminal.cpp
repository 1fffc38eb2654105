// Terminal facts and aligned tables.
#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/lookup.h"
#include "base/text.h"

namespace xlm {
namespace {

void set_size(Terminal& terminal, int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_col > 0) terminal.width = size.ws_col;
  if (size.ws_row > 0) terminal.height = size.ws_row;
}

/// The longest beginning of `text` that takes at most `width` columns.
std::string_view beginning(std::string_view text, std::size_t width) {
  std::size_t columns = 0;
  std::string_view left = text;
  while (!left.empty()) {
    std::string_view rest = left;
    columns += take_character(rest);
    if (columns > width) break;
    left = rest;
  }
  return text.substr(0, text.size() - left.size());
}

std::string shorten(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  return std::string(beginning(text, std::max<std::size_t>(width, 1) - 1)) + "…";
}

}  // namespace

std::string cut_cell(const std::string& text, std::size_t width) { return width == 0 ? text : shorten(text, width); }

namespace {

/// The text on one line, without control characters.
std::string text_cell(const std::string& text) {
  std::string cell = printable(text);
  std::ranges::replace(cell, '\n', ' ');
  return cell;
}

std::string markdown_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text_cell(text)) escaped += c == '|' ? std::string("\\|") : std::string(1, c);
  return escaped;
}

}  // namespace

Terminal Terminal::of(int descriptor) {
  Terminal terminal;
  terminal.is_terminal = ::isatty(descriptor) == 1;
  terminal.colour = terminal.is_terminal && std::getenv("NO_COLOR") == nullptr;
  if (terminal.is_terminal) set_size(terminal, descriptor);
  return terminal;
}

Terminal Terminal::resized(std::FILE* out) const {
  Terminal terminal = *this;
  const int descriptor = ::fileno(out);  // none for a stream in memory
  if (terminal.is_terminal && descriptor >= 0) set_size(terminal, descriptor);
  return terminal;
}

std::string paint(const Terminal& terminal, Colour colour, const std::string& text) {
  if (!terminal.colour) return text;
  constexpr const char* kCodes[] = {"31", "32", "33", "34", "90", "1"};
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<int>(colour)], text);
}

void say(std::string_view text, std::FILE* out) {
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) std::clearerr(out);
}

std::string cut_to_line(const Terminal& terminal, std::string line) {
  constexpr int kLeastWidth = 10;
  line.resize(beginning(line, static_cast<std::size_t>(std::max(terminal.width, kLeastWidth)) - 1).size());
  return line;
}

std::size_t lines_taken(const Terminal& terminal, std::string_view text) {
  const auto width = static_cast<std::size_t>(std::max(terminal.width, 1));
  std::size_t lines = 0;
  for (const std::string& line : split(text, '\n')) {
    lines += std::max<std::size_t>((display_width(line) + width - 1) / width, 1);
  }
  return text.empty() ? 0 : lines - (text.back() == '\n' ? 1 : 0);
}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string TextTable::render(Format format, int width) const {
  std::string out;
  if (format == Format::kCsv) {
    out += join(mapped(columns_, [](const Column& column) { return csv_cell(column.title); }), ",") + "\n";
    for (const auto& row : rows_) out += join(mapped(row, csv_cell), ",") + "\n";
    return out;
  }
  const bool markdown = format == Format::kMarkdown;
  const auto shown = [markdown](const std::string& cell) { return markdown ? markdown_cell(cell) : text_cell(cell); };
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = std::max<std::size_t>(display_width(shown(columns_[c].title)), markdown ? 3 : 0);
    for (const auto& row : rows_) widest = std::max(widest, display_width(shown(row[c])));
    widths.push_back(widest);
  }
  std::size_t total = widths.empty() ? 0 : 2 * (widths.size() - 1);
  for (const std::size_t w : widths) total += w;
  while (!markdown && width > 0 && total > static_cast<std::size_t>(width)) {
    std::size_t widest = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!columns_[c].right && widths[c] > 8 && (widest == columns_.size() || widths[c] > widths[widest])) widest = c;
    }
    if (widest == columns_.size()) break;
    --widths[widest];
    --total;
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = markdown ? shown(cells[c]) : shorten(shown(cells[c]), widths[c]);
      const std::string pad(widths[c] - std::min(widths[c], display_width(cell)), ' ');
      const std::string aligned = columns_[c].right ? pad + cell : cell + pad;
      text += markdown ? "| " + aligned + " " : (c == 0 ? "" : "  ") + aligned;
    }
    if (markdown) return text + "|\n";
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::vector<std::string> titles;
  std::vector<std::string> rules;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    titles.push_back(columns_[c].title);
    std::string rule;
    for (std::size_t i = 0; i < widths[c]; ++i) rule += markdown ? "-" : "─";
    if (markdown && columns_[c].right) rule.back() = ':';
    rules.push_back(rule);
  }
  out += line(titles) + line(rules);
  for (const auto& row : rows_) out += line(row);
  return out;
}

}  // namespace xlm
