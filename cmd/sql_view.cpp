// Results of SQL queries.
#include "cmd/sql_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.h"
#include "cmd/run_results.h"
#include "results/quantities/number_format.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

using SqlCells = std::vector<std::vector<std::string>>;  // by row and column

/// All digits before the point, without prefixes and separators: what is asked by SQL is read on.
std::string plain_digits(double value) {
  constexpr double kFromHere = 1e3;
  constexpr double kBeyondWholeNumbers = 1e15;
  const double size = std::abs(value);
  if (!std::isfinite(value) || size < kFromHere) return shown_number(value);
  if (size >= kBeyondWholeNumbers) return fmt::format("{:g}", value);
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
}

/// A number of a column that the store's views name: "test_bpc" is test.bpc. Counts, sizes, times and rates are printed
/// as numbers.
std::string sql_number(std::string column, double value) {
  if (quantity_of_column(column) == nullptr) {
    if (const std::size_t split = column.find('_'); split != std::string::npos) column[split] = '.';
  }
  const Quantity* known = quantity_of_column(column);
  const bool is_measure = known != nullptr && known->format == NumberFormat::kNumber && known->digits > 0;
  return is_measure ? list_number(*known, value) : plain_digits(value);
}

std::string sql_cell(const std::string& column, const Json& value, bool for_people) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  return for_people && value.is_number_float() ? sql_number(column, value.get<double>()) : value.dump();
}

SqlCells sql_cells(const SqlResult& result, bool for_people) {
  SqlCells cells;
  for (const std::vector<Json>& row : result.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (std::size_t c = 0; c < row.size(); ++c) line.push_back(sql_cell(result.columns[c], row[c], for_people));
  }
  return cells;
}

TextTable sql_table(const SqlResult& result, const SqlCells& cells) {
  std::vector<TextTable::Column> columns;
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    const bool right =
        std::ranges::any_of(result.rows, [&](const std::vector<Json>& row) { return row[i].is_number(); });
    columns.push_back({result.columns[i], right});
  }
  TextTable table(std::move(columns));
  for (const std::vector<std::string>& line : cells) table.add(line);
  return table;
}

/// Shortens run ids at their beginning, because their ends distinguish them.
SqlCells with_short_ids(const SqlResult& result, SqlCells cells) {
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    if (result.columns[c] != "run_id") continue;
    std::vector<std::string> ids;
    for (const std::vector<std::string>& line : cells) ids.push_back(line[c]);
    const std::vector<std::string> shorter = short_ids(ids);
    for (std::size_t row = 0; row < cells.size(); ++row) cells[row][c] = shorter[row];
  }
  return cells;
}

}  // namespace

std::string sql_text(const SqlResult& result, const std::string& format, const Terminal& terminal) {
  if (format == "json") {
    Json list = Json::array();
    for (const std::vector<Json>& row : result.rows) {
      Json object = Json::object();
      for (std::size_t i = 0; i < row.size(); ++i) object[result.columns[i]] = row[i];
      list.push_back(std::move(object));
    }
    return json_text(list);
  }
  const SqlCells cells = sql_cells(result, format == "table");
  if (format == "csv") return sql_table(result, cells).render(TextTable::Format::kCsv);
  const int width = terminal.is_terminal ? terminal.width : 0;
  const auto rendered = [&](const SqlCells& shown) {
    return sql_table(result, shown).render(TextTable::Format::kText, width);
  };
  const bool fits = width == 0 || widest_line(sql_table(result, cells).render(TextTable::Format::kText)) <=
                                      static_cast<std::size_t>(width);
  const std::string count = counted(result.rows.size(), "row") + "\n";
  return rendered(fits ? cells : with_short_ids(result, cells)) + count;
}

}  // namespace xlm
