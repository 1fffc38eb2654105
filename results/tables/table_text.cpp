// Tables as text, Markdown, CSV, JSON and LaTeX.
#include "results/tables/table_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "results/tables/latex.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

/// How the best number of a column is set apart.
struct BestMark {
  std::string_view before;
  std::string_view after;
};
constexpr BestMark kTextMark{"▸", ""};  // a terminal's bold would be lost in a file and on paper
constexpr BestMark kMarkdownMark{"**", "**"};

std::string cell_text(const TableCell& cell, const CellOptions& options, const BestMark& mark) {
  std::string text = cell.value ? number_with_unit(*cell.value, options) : "–";
  if (cell.best) text = fmt::format("{}{}{}", mark.before, text, mark.after);
  if (cell.spread) text += " ± " + number_with_unit(*cell.spread, options);
  if (cell.star) text += "*";
  if (!cell.printed.empty()) text += " [" + cell.printed + "]";
  return text;
}

std::vector<std::string> titles(const Table& table, std::size_t begin, std::size_t end) {
  std::vector<std::string> result{table.corner};
  for (std::size_t c = begin; c < end; ++c) result.push_back(table.columns[c].label);
  return result;
}

/// The columns [begin, end) with the row labels in front.
std::string render_columns(const Table& table, std::size_t begin, std::size_t end, TextTable::Format format,
                           int width) {
  std::vector<TextTable::Column> columns;
  for (const std::string& title : titles(table, begin, end)) columns.push_back({title, !columns.empty()});
  TextTable text(std::move(columns));
  const BestMark& mark = format == TextTable::Format::kMarkdown ? kMarkdownMark : kTextMark;
  for (const TableRow& row : table.rows) {
    std::vector<std::string> cells{row.label};
    for (std::size_t c = begin; c < end; ++c) cells.push_back(cell_text(row.cells[c], table.columns[c].cells, mark));
    text.add(std::move(cells));
  }
  return text.render(format, width);
}

std::size_t column_width(const Table& table, std::size_t column) {
  std::size_t widest = display_width(table.columns[column].label);
  for (const TableRow& row : table.rows) {
    widest = std::max(widest, display_width(cell_text(row.cells[column], table.columns[column].cells, kTextMark)));
  }
  return widest;
}

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

std::string render_text(const Table& table, int width) {
  std::string out = wrapped(table.title, width) + "\n";
  std::size_t labels = display_width(table.corner);
  for (const TableRow& row : table.rows) labels = std::max(labels, display_width(row.label));
  for (std::size_t begin = 0; begin < table.columns.size();) {
    std::size_t end = begin;
    std::size_t used = labels;
    while (end < table.columns.size() &&
           (end == begin || width <= 0 || used + 2 + column_width(table, end) <= static_cast<std::size_t>(width))) {
      used += 2 + column_width(table, end++);
    }
    out += render_columns(table, begin, end, TextTable::Format::kText, width) + "\n";
    begin = end;
  }
  return out + wrapped_lines(footnotes(table, kTextMark.before), width);
}

std::string render_markdown(const Table& table) {
  std::string out = "**" + table.title + "**\n\n";
  out += render_columns(table, 0, table.columns.size(), TextTable::Format::kMarkdown, 0);
  for (const std::string& note : footnotes(table, "Bold")) out += "\n" + note + "\n";
  return out;
}

/// One line per row; behind each value its spread, number of seeds, what else its runs differ in and, if any row has
/// one, the printed value and how ours compares with it.
std::string render_csv(const Table& table) {
  std::vector<TextTable::Column> columns{{table.corner.empty() ? "row" : table.corner}};
  const auto any = [&](std::size_t c, const auto& has) {
    return std::any_of(table.rows.begin(), table.rows.end(), [&](const TableRow& row) { return has(row.cells[c]); });
  };
  const auto has_spread = [](const TableCell& cell) { return cell.spread.has_value(); };
  const auto has_printed = [](const TableCell& cell) { return !cell.printed.empty(); };
  const auto is_mixed = [](const TableCell& cell) { return !cell.differ_in.empty(); };
  const auto is_chosen = [](const TableCell& cell) { return !cell.chosen.empty(); };
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const std::string& label = table.columns[c].label;
    columns.push_back({label});
    if (any(c, has_spread)) columns.push_back({label + " sd"});
    columns.push_back({label + " n"});
    if (any(c, is_chosen)) columns.push_back({label + " chosen"});
    if (any(c, is_mixed)) columns.push_back({label + " differ in"});
    if (!any(c, has_printed)) continue;
    for (const char* what : {" paper", " verdict", " difference", " half_width", " decides"})
      columns.push_back({label + what});
  }
  TextTable text(std::move(columns));
  for (const TableRow& row : table.rows) {
    std::vector<std::string> cells{row.label};
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const TableCell& cell = row.cells[c];
      cells.push_back(cell.value ? json_number(*cell.value) : "");
      if (any(c, has_spread)) cells.push_back(cell.spread ? json_number(*cell.spread) : "");
      cells.push_back(fmt::format("{}", cell.groups));
      if (any(c, is_chosen)) cells.push_back(join(cell.chosen, "; "));
      if (any(c, is_mixed)) cells.push_back(join(cell.differ_in, " "));
      if (!any(c, has_printed)) continue;
      const bool compared = cell.compared.has_value();
      cells.push_back(cell.printed);
      cells.emplace_back(compared ? name_of(cell.compared->verdict) : "");
      cells.push_back(compared ? json_number(cell.compared->difference) : "");
      cells.push_back(compared && cell.compared->half_width ? json_number(*cell.compared->half_width) : "");
      cells.push_back(compared && cell.compared->decides ? fmt::to_string(*cell.compared->decides) : "");
    }
    text.add(std::move(cells));
  }
  return text.render(TextTable::Format::kCsv);
}

/// As cell_text, with a bold best number and a raised star.
std::string latex_cell(const TableCell& cell, const CellOptions& options) {
  std::string text = cell.value ? latex_escape(number_with_unit(*cell.value, options)) : "--";
  if (cell.best) text = "\\textbf{" + text + "}";
  if (cell.spread) text += latex_escape(" ± " + number_with_unit(*cell.spread, options));
  if (cell.star) text += "$^{*}$";
  if (!cell.printed.empty()) text += latex_escape(" [" + cell.printed + "]");
  return text;
}

std::string render_latex(const Table& table) {
  LatexTable latex{.caption = table.title, .name = table.name, .notes = footnotes(table, "Bold")};
  for (const std::string& title : titles(table, 0, table.columns.size())) {
    latex.columns.push_back({latex_escape(title), !latex.columns.empty()});
  }
  for (const TableRow& row : table.rows) {
    std::vector<std::string>& cells = latex.rows.emplace_back();
    cells.push_back(latex_escape(row.label));
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      cells.push_back(latex_cell(row.cells[c], table.columns[c].cells));
    }
  }
  return latex_table(latex);
}

}  // namespace

namespace {

/// Null for what is not known, so that every cell has the same keys.
void add_comparison(Json& item, const TableCell& cell) {
  const PrintedComparison compared = cell.compared.value_or(PrintedComparison{});
  const bool there = cell.compared.has_value();
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  item["verdict"] = there ? Json(name_of(compared.verdict)) : Json();
  item["difference"] = there ? Json(compared.difference) : Json();
  item["half_width"] = known(compared.half_width);
  item["margin"] = known(compared.margin);
  item["difference_p"] = known(compared.p);
  item["decides"] = known(compared.decides);
  item["not_comparable_in"] = Json::array();
  for (const KeyApart& apart : compared.apart) item["not_comparable_in"].push_back(apart.key);
}

}  // namespace

Json to_json(const Table& table) {
  Json json = {{"table", table.title}, {"name", table.name}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const TableColumn& column : table.columns) {
    json["columns"].push_back({{"label", column.label}, {"value", column.cells.value}});
  }
  for (const TableRow& row : table.rows) {
    Json cells = Json::array();
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const TableCell& cell = row.cells[c];
      Json item = {{"column", table.columns[c].label}};
      item["value"] = cell.value ? Json(*cell.value) : Json();
      item["sd"] = cell.spread ? Json(*cell.spread) : Json();
      item["n"] = cell.groups;
      if (table.columns[c].cells.choose.is_asked()) item["chosen"] = cell.chosen;
      item["differ_in"] = cell.differ_in;
      item["star"] = cell.star;
      item["p"] = cell.p ? Json(*cell.p) : Json();
      if (table.columns[c].cells.best) item["best"] = cell.best;
      item["printed"] = cell.printed.empty() ? Json() : Json(cell.printed);
      add_comparison(item, cell);
      item["missing"] = cell.missing.empty() ? Json() : Json(cell.missing);
      item["runs"] = cell.runs;
      cells.push_back(std::move(item));
    }
    json["rows"].push_back({{"label", row.label}, {"cells", std::move(cells)}});
  }
  json["tests"] = table.verdicts.tests;
  json["differ_alone"] = table.verdicts.differ_alone;
  json["notes"] = footnotes(table, "best");
  return json;
}

std::string wrapped_lines(const std::vector<std::string>& lines, int width) {
  std::string out;
  for (const std::string& line : lines) out += wrapped(line, width);
  return out;
}

std::string render_table(const Table& table, TableFormat format, int width) {
  switch (format) {
    case TableFormat::kText:
      return render_text(table, width);
    case TableFormat::kMarkdown:
      return render_markdown(table);
    case TableFormat::kCsv:
      return render_csv(table);
    case TableFormat::kJson:
      return json_text(to_json(table));
    case TableFormat::kLatex:
      return render_latex(table);
  }
  return "";
}

}  // namespace xlm
