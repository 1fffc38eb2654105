// A report: all tables and figures of recipes on one page, with a section about every run behind them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "results/figures/figures.h"
#include "results/pages/page.h"
#include "results/tables/printed_counts.h"
#include "results/tables/table.h"

namespace xlm {

using Exhibit = std::variant<Table, Figure, NothingToShow>;

struct ReportRecipe {
  std::string title;    // its experiment, or its file
  std::string file;     // as the user named it
  std::string profile;  // empty: none
  std::string command;  // what makes its runs; empty: it describes none
  ClaimList claims;     // none: the recipe has none
  std::vector<Exhibit> exhibits;
  std::vector<std::string> runs;  // all that it is about, with or without numbers in the exhibits
};

struct Report {
  std::string title;
  std::string origin;  // one line: what made it, when, from what
  std::vector<ReportRecipe> recipes;
};

/// Of all tables together.
PrintedCounts count_printed(const Report& report);

/// The whole page: what is claimed, how ours stand beside the papers' values, then every exhibit, then the runs. Runs
/// are numbered in the order in which numbers first refer to them.
std::string report_page(Store& store, const Report& report);

}  // namespace xlm
