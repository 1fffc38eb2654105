// Cells of CSV files.
#pragma once

#include <string>

namespace xlm {

/// A cell of RFC 4180: in quotes if it contains a comma, a quote or a line end.
inline std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace xlm
