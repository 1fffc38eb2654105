// Tables as HTML with the runs of every cell.
#pragma once

#include <string>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

/// The table with its notes, without its title. Cells have the attributes of results/pages/html.h. A missing cell shows
/// the reason on hover. Below a printed value stands how ours compares with it.
std::string table_html(const Table& table);

/// All runs whose numbers a table shows, each once, cell by cell.
std::vector<std::string> runs_of(const Table& table);

/// Whether no cell has a number of ours.
bool is_empty(const Table& table);

}  // namespace xlm
