// Tables as text, Markdown, CSV, JSON and LaTeX.
#include "results/tables/table_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/tables/table_notes.h"

namespace xlm {
namespace {

Sheet table_sheet(const Table& table, TableFormat format) {
  Sheet sheet{.title = table.title,
              .name = table.name,
              .columns = {{table.corner}},
              .under_head = table.columns.empty() ? "" : column_label(table.columns.front().cells.value),
              .notes = footnotes(table, best_mark(format)),
              .goes_on_below = true};
  for (const TableColumn& column : table.columns) sheet.columns.push_back({column.label, true});
  for (const TableRow& row : table.rows) {
    std::vector<SheetCell>& cells = sheet.rows.emplace_back();
    cells.push_back({row.label});
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const TableCell& cell = row.cells[c];
      const CellOptions& options = table.columns[c].cells;
      cells.push_back({.text = cell.value ? format_number(*cell.value, options.format, options.digits) : "–",
                       .best = cell.best,
                       .behind = cell.spread ? " ± " + cell_spread_text(*cell.spread, options) : "",
                       .star = cell.star,
                       .printed = cell.printed});
    }
  }
  return sheet;
}

constexpr std::size_t kPrintedPart = 5;  // of csv_parts; those behind it compare with the printed value

/// What CSV says of a cell, by what its column adds to the label.
std::vector<std::pair<std::string, std::string>> csv_parts(const TableCell& cell) {
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : ""; };
  const bool compared = cell.compared.has_value();
  const bool decides = compared && cell.compared->decides && cell.compared->decides->seeds;
  return {{"", number(cell.value)},
          {" sd", number(cell.spread)},
          {" n", fmt::to_string(cell.rows.size())},
          {" chosen", join(cell.chosen, "; ")},
          {" differ in", join(cell.differ_in, " ")},
          {" paper", cell.printed},
          {" verdict", compared ? std::string(name_of(cell.compared->verdict)) : ""},
          {" difference", compared ? json_number(cell.compared->difference) : ""},
          {" half_width", compared ? number(cell.compared->half_width) : ""},
          {" decides", decides ? fmt::to_string(*cell.compared->decides->seeds) : ""}};
}

/// One line per row; behind each value its spread, number of runs, what else its runs differ in and, if any row has
/// one, the printed value and how ours compares with it.
std::string render_csv(const Table& table) {
  std::vector<TextTable::Column> columns{{table.corner.empty() ? "row" : table.corner}};
  std::vector<std::vector<std::string>> lines;
  for (const TableRow& row : table.rows) lines.push_back({row.label});
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::vector<std::vector<std::pair<std::string, std::string>>> parts;
    for (const TableRow& row : table.rows) parts.push_back(csv_parts(row.cells[c]));
    for (std::size_t part = 0; part < parts.front().size(); ++part) {
      const std::size_t asked = std::min(part, kPrintedPart);
      const bool is_said = std::ranges::any_of(parts, [&](const auto& row) { return !row[asked].second.empty(); });
      if (part > 0 && !is_said) continue;
      columns.push_back({table.columns[c].label + parts.front()[part].first});
      for (std::size_t r = 0; r < lines.size(); ++r) lines[r].push_back(parts[r][part].second);
    }
  }
  TextTable text(std::move(columns));
  for (std::vector<std::string>& line : lines) text.add(std::move(line));
  return text.render(TextTable::Format::kCsv);
}

/// Null for what is not known, so that every cell has the same keys.
void add_comparison(Json& item, const TableCell& cell) {
  const PrintedComparison compared = cell.compared.value_or(PrintedComparison{});
  const bool there = cell.compared.has_value();
  const auto known = [](const auto& value) { return value ? Json(*value) : Json(); };
  item["verdict"] = there ? Json(name_of(compared.verdict)) : Json();
  item["verdict_by_own_spread"] = compared.by_own ? Json(name_of(*compared.by_own)) : Json();
  item["difference"] = there ? Json(compared.difference) : Json();
  item["half_width"] = known(compared.half_width);
  item["margin"] = known(compared.margin);
  item["difference_p"] = known(compared.p);
  const SeedsToDecide decides = compared.decides.value_or(SeedsToDecide{});
  item["decides"] = known(decides.seeds);
  item["decides_at_ends"] = Json::array({known(decides.at_low), known(decides.at_high)});
  item["not_comparable_in"] = Json::array();
  for (const KeyApart& apart : compared.apart) item["not_comparable_in"].push_back(apart.key);
}

}  // namespace

Json to_json(const Table& table) {
  Json json = {{"table", table.title}, {"name", table.name}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const TableColumn& column : table.columns) {
    json["columns"].push_back({{"label", column.label},
                               {"value", column.cells.value},
                               {"aggregate", kAggregateNames[static_cast<std::size_t>(column.cells.aggregate)]}});
  }
  for (const TableRow& row : table.rows) {
    Json cells = Json::array();
    for (std::size_t c = 0; c < row.cells.size(); ++c) {
      const TableCell& cell = row.cells[c];
      Json item = {{"column", table.columns[c].label}};
      item["value"] = cell.value ? Json(*cell.value) : Json();
      item["sd"] = cell.spread ? Json(*cell.spread) : Json();
      item["n"] = cell.rows.size();
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

std::string render_table(const Table& table, TableFormat format, int width) {
  if (format == TableFormat::kCsv) return render_csv(table);
  if (format == TableFormat::kJson) return json_text(to_json(table));
  return render_sheet(table_sheet(table, format), format, width);
}

}  // namespace xlm
