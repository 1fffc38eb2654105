// Sheets as text, Markdown, CSV and LaTeX.
#include "results/sheets/sheet.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/text.h"
#include "results/sheets/latex.h"

namespace xlm {
namespace {

/// Breaks a line at blanks so that it takes at most `width` columns.
std::string wrapped(const std::string& text, int width) {
  if (width <= 0) return text + "\n";
  std::string out;
  std::size_t used = 0;
  for (const std::string& word : split(text, ' ')) {
    const std::size_t length = display_width(word);
    if (used > 0 && used + 1 + length > static_cast<std::size_t>(width)) {
      out += "\n";
      used = 0;
    }
    out += (used > 0 ? " " : "") + word;
    used += length + (used > 0 ? 1 : 0);
  }
  return out + "\n";
}

/// A cell whose best number stands between two marks. A terminal's bold would be lost in a file and on paper.
std::string marked(const SheetCell& cell, TextTable::Format format) {
  std::string text = cell.text;
  if (cell.best) text = format == TextTable::Format::kMarkdown ? "**" + text + "**" : "▸" + text;
  text += cell.behind;
  if (cell.star) text += "*";
  if (!cell.printed.empty()) text += " [" + cell.printed + "]";
  return text;
}

/// The first column, and behind it those from `begin` to below `end`.
std::string render_columns(const Sheet& sheet, std::size_t begin, std::size_t end, TextTable::Format format,
                           int width) {
  const auto place = [](std::size_t c) { return static_cast<std::ptrdiff_t>(c); };
  std::vector<TextTable::Column> columns{sheet.columns.front()};
  columns.insert(columns.end(), sheet.columns.begin() + place(begin), sheet.columns.begin() + place(end));
  TextTable text(std::move(columns));
  for (const std::vector<SheetCell>& row : sheet.rows) {
    std::vector<std::string> cells{marked(row.front(), format)};
    for (std::size_t c = begin; c < end; ++c) cells.push_back(marked(row[c], format));
    text.add(std::move(cells));
  }
  return text.render(format, width);
}

std::size_t column_width(const Sheet& sheet, std::size_t column) {
  std::size_t widest = display_width(sheet.columns[column].title);
  for (const std::vector<SheetCell>& row : sheet.rows) {
    widest = std::max(widest, display_width(marked(row[column], TextTable::Format::kText)));
  }
  return widest;
}

std::string sheet_as_text(const Sheet& sheet, int width) {
  std::string out = sheet.title.empty() ? "" : wrapped_lines({sheet.title}, width) + "\n";
  for (std::size_t begin = 1; begin < sheet.columns.size();) {
    std::size_t end = begin;
    std::size_t used = column_width(sheet, 0);
    while (end < sheet.columns.size()) {
      used += 2 + column_width(sheet, end);
      if (sheet.goes_on_below && end > begin && width > 0 && used > static_cast<std::size_t>(width)) break;
      ++end;
    }
    out += render_columns(sheet, begin, end, TextTable::Format::kText, width) + "\n";
    begin = end;
  }
  return out + wrapped_lines(sheet.notes, width);
}

std::string sheet_as_markdown(const Sheet& sheet) {
  std::string out = sheet.title.empty() ? "" : "**" + sheet.title + "**\n\n";
  out += render_columns(sheet, 1, sheet.columns.size(), TextTable::Format::kMarkdown, 0);
  // "* better than …" would begin a list.
  for (const std::string& note : sheet.notes) out += (note.starts_with("* ") ? "\n\\" : "\n") + note + "\n";
  return out;
}

std::string latex_cell(const SheetCell& cell) {
  std::string text = latex_escape(cell.text);
  if (cell.best) text = "\\textbf{" + text + "}";
  text += latex_escape(cell.behind);
  if (cell.star) text += "$^{*}$";
  if (!cell.printed.empty()) text += latex_escape(" [" + cell.printed + "]");
  return text;
}

/// `name` as far as a label takes it.
std::string latex_label(std::string name) {
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.'; });
  return name;
}

/// How a sheet lies on a page.
struct LatexLayout {
  bool is_of_page = false;   // of all columns of a paper, not of one
  bool is_small = false;     // in a smaller font
  std::string alignment;     // "lrp{0.31\\linewidth}"
  std::vector<bool> breaks;  // columns of text that is broken
};

LatexLayout latex_layout(const Sheet& sheet) {
  constexpr std::size_t kColumn = 44;  // characters
  constexpr std::size_t kLine = 68;    // of a page
  constexpr std::size_t kPage = 81;    // the same in a smaller font
  constexpr std::size_t kShort = 20;   // is not broken
  const std::size_t columns = sheet.columns.size();
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < columns; ++column) widths.push_back(column_width(sheet, column));
  const std::size_t all = std::accumulate(widths.begin(), widths.end(), 3 * columns);
  LatexLayout layout{
      .is_of_page = all > kColumn, .is_small = all > kLine, .alignment = "", .breaks = std::vector<bool>(columns)};
  std::size_t kept = all;
  double weights = 0;  // a text of four times the length gets twice the room
  for (std::size_t column = 0; all > kPage && column < columns; ++column) {
    layout.breaks[column] = !sheet.columns[column].right && widths[column] > kShort;
    if (!layout.breaks[column]) continue;
    kept -= widths[column];
    weights += std::sqrt(static_cast<double>(widths[column]));
  }
  constexpr std::size_t kMaxKept = kPage * 3 / 4;
  const double room = 1 - static_cast<double>(std::min(kept, kMaxKept)) / static_cast<double>(kPage);
  for (std::size_t column = 0; column < columns; ++column) {
    const double share = room * std::sqrt(static_cast<double>(widths[column])) / std::max(weights, 1.0);
    const std::string own = sheet.columns[column].right ? "r" : "l";
    layout.alignment += layout.breaks[column] ? fmt::format("p{{{:.2f}\\linewidth}}", share) : own;
  }
  return layout;
}

/// The lines of a head. Columns "64", "64 test" and "64 span" get one head over all three.
std::vector<std::vector<std::string>> latex_head(const Sheet& sheet) {
  std::vector<std::string> above;
  std::vector<std::string> below;
  bool has_groups = false;
  for (std::size_t column = 0; column < sheet.columns.size();) {
    const std::string& title = sheet.columns[column].title;
    std::size_t end = column + 1;
    while (column > 0 && !sheet.under_head.empty() && end < sheet.columns.size() &&
           sheet.columns[end].title.starts_with(title + " ")) {
      ++end;
    }
    const bool is_group = end > column + 1;
    has_groups = has_groups || is_group;
    above.push_back(is_group ? fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", end - column, latex_escape(title)) : "");
    below.push_back(latex_escape(is_group ? sheet.under_head : title));
    for (std::size_t one = column + 1; one < end; ++one) {
      below.push_back(latex_escape(sheet.columns[one].title.substr(title.size() + 1)));
    }
    column = end;
  }
  if (!has_groups) return {below};
  return {above, below};
}

/// Rules are those of booktabs where the document loads that package, and otherwise LaTeX's own: it needs no package.
std::string sheet_as_latex(const Sheet& sheet) {
  const LatexLayout layout = latex_layout(sheet);
  const std::string environment = layout.is_of_page ? "table*" : "table";
  std::string out = fmt::format("\\begin{{{}}}\n  \\centering\n", environment);
  // Standard classes leave no room below a caption that stands above its table; mnras has no such lengths. Some classes
  // of publishers define one or two of the three rules. All of this ends with the table.
  out += "  \\ifdefined\\abovecaptionskip\\setlength{\\abovecaptionskip}{0pt}\\fi\n";
  out += "  \\ifdefined\\belowcaptionskip\\setlength{\\belowcaptionskip}{6pt}\\fi\n ";
  for (const char* rule : {"top", "mid", "bottom"}) {
    out += fmt::format(R"( \ifdefined\{0}rule\else\let\{0}rule\hline\fi)", rule);
  }
  out += "\n";
  out += fmt::format("  \\caption{{{}}}\n", latex_escape(sheet.title));
  if (const std::string name = latex_label(sheet.name); !name.empty())
    out += fmt::format("  \\label{{tab:{}}}\n", name);
  if (layout.is_small) out += "  \\footnotesize\n";
  out += fmt::format("  \\begin{{tabular}}{{{}}}\n    \\toprule\n", layout.alignment);
  const auto line = [&](const std::vector<std::string>& cells) { out += "    " + join(cells, " & ") + " \\\\\n"; };
  for (const std::vector<std::string>& titles : latex_head(sheet)) line(titles);
  out += "    \\midrule\n";
  for (const std::vector<SheetCell>& row : sheet.rows) {
    std::vector<std::string> cells;
    for (std::size_t column = 0; column < row.size(); ++column) {
      const std::string cell = latex_cell(row[column]);
      cells.push_back(layout.breaks[column] ? "{\\raggedright " + cell + "\\par}" : cell);
    }
    line(cells);
  }
  out += "    \\bottomrule\n  \\end{tabular}\n";
  if (!sheet.notes.empty()) {
    out += "\n  \\medskip\n  {\\footnotesize\n";
    for (const std::string& note : sheet.notes) out += "  " + latex_escape(note) + "\\par\n";
    out += "  }\n";
  }
  return out + fmt::format("\\end{{{}}}\n", environment);
}

}  // namespace

void Sheet::add(const std::vector<std::string>& cells) {
  std::vector<SheetCell>& row = rows.emplace_back();
  for (const std::string& cell : cells) row.push_back({cell});
}

std::string_view best_mark(TableFormat format) { return format == TableFormat::kText ? "▸" : "Bold"; }

std::string render_sheet(const Sheet& sheet, TableFormat format, int width) {
  switch (format) {
    case TableFormat::kText:
      return sheet_as_text(sheet, width);
    case TableFormat::kMarkdown:
      return sheet_as_markdown(sheet);
    case TableFormat::kLatex:
      return sheet_as_latex(sheet);
    case TableFormat::kCsv:
    case TableFormat::kJson:
      break;
  }
  return render_columns(sheet, 1, sheet.columns.size(), TextTable::Format::kCsv, 0);
}

std::string wrapped_lines(const std::vector<std::string>& lines, int width) {
  std::string out;
  for (const std::string& line : lines) out += wrapped(line, width);
  return out;
}

}  // namespace xlm
