// Tables as HTML, every cell with its runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

/// Links to runs, as HTML; empty where a page has no place to link to.
using RunReferences = std::function<std::string(const std::vector<std::string>& runs)>;

/// The table with its notes, without its title. Cells carry the attributes of results/pages/html.h; one that is missing
/// says why when it is hovered over, and under a printed value stands how ours compares with it.
std::string table_html(const Table& table, const RunReferences& references);

/// All runs whose numbers a table shows, each once, cell by cell.
std::vector<std::string> runs_of(const Table& table);

/// Whether no cell has a number of our own.
bool is_empty(const Table& table);

}  // namespace xlm
