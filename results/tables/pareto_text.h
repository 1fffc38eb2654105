// A Pareto front as text, Markdown, LaTeX, CSV and JSON.
#pragma once

#include <string>

#include "results/store/pareto.h"
#include "results/tables/table_text.h"

namespace xlm {

/// Every point with its numbers and its run, or the columns that it was grouped by, and below what the points are, how
/// many there are and the hypervolume. CSV and JSON hold numbers in full and every run. `width` as render_table takes
/// it.
std::string render_pareto(const ParetoQuery& query, const ParetoResult& result, TableFormat format, int width = 0);

}  // namespace xlm
