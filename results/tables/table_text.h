// Tables as text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <string>

#include "base/json.h"
#include "results/sheets/sheet.h"
#include "results/tables/table.h"

namespace xlm {

/// Text is for people and fits `width` columns by going on below with further columns (0: any width). CSV and JSON hold
/// numbers in full, with spread, count and the paper's value behind each.
std::string render_table(const Table& table, TableFormat format, int width = 0);

Json to_json(const Table& table);

}  // namespace xlm
