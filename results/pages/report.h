// A report: all tables, figures and fits of recipes on one page, with a section about each run behind them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "results/figures/figures.h"
#include "results/fits/fitted_runs.h"
#include "results/pages/page.h"
#include "results/tables/printed_counts.h"
#include "results/tables/table.h"

namespace xlm {

using Exhibit = std::variant<Table, Figure, FitResult, NothingToShow>;

struct ReportRecipe {
  std::string title;    // its experiment, or its file
  std::string file;     // as the user named it
  std::string profile;  // empty: none
  std::string command;  // makes its runs; empty: it describes none
  ClaimList claims;     // empty: the recipe has none
  std::vector<Exhibit> exhibits;
  std::vector<std::string> runs;  // all its runs, with or without numbers in the exhibits
};

struct Report {
  std::string title;
  std::string origin;  // one line: the program, the time, the source
  std::vector<ReportRecipe> recipes;
};

/// The counts of all tables together.
PrintedCounts count_printed(const Report& report);

/// The whole page: the claims, how our numbers compare with the papers' values, then the exhibits, then the explorer of
/// the runs, then the runs one by one. Runs are numbered in the order of first reference.
std::string report_page(Store& store, const Report& report);

}  // namespace xlm
