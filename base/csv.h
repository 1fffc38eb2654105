// Cells of CSV files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// A cell of RFC 4180: in quotes if it contains a comma, a quote or a line end.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

/// The cells of a row, without their quotes; `cells` gets as many as there are.
inline void split_csv(std::string_view row, char separator, std::vector<std::string>& cells) {
  std::size_t count = 1;
  const auto cell = [&]() -> std::string& {
    if (cells.size() < count) cells.emplace_back();
    return cells[count - 1];
  };
  cell().clear();
  bool in_quotes = false;
  bool begins = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (in_quotes && c == '"' && i + 1 < row.size() && row[i + 1] == '"') {
      cell() += row[++i];
    } else if (c == '"' && (in_quotes || begins)) {
      in_quotes = !in_quotes;
    } else if (c == separator && !in_quotes) {
      ++count;
      cell().clear();
      begins = true;
      continue;
    } else {
      cell() += c;
    }
    begins = false;
  }
  cells.resize(count);
}

}  // namespace xlm
