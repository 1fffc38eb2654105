// A report: all tables, figures and fits of recipes on one page, with the runs behind them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "results/figures/figures.h"
#include "results/fits/fitted_runs.h"
#include "results/pages/page.h"
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

/// What becomes of a printed value: a verdict, or why there is none.
inline constexpr std::array<std::string_view, 7> kPrintedOutcomes{
    "agrees",    "consistent", "differs", "undecided", "not comparable",
    "missing",      // no number of ours yet
    "no verdict"};  // the printed text is no number, or ours is no mean

/// Printed values by outcome, in the order of kPrintedOutcomes.
struct PrintedCounts {
  std::array<std::int64_t, kPrintedOutcomes.size()> of{};

  std::int64_t total() const;
  PrintedCounts& operator+=(const PrintedCounts& other);
};

PrintedCounts count_printed(const Table& table);

PrintedCounts count_printed(const Report& report);

/// The whole page: the claims, how our numbers compare with the papers' values, then the exhibits, then the explorer of
/// the runs.
std::string report_page(Store& store, const Report& report);

}  // namespace xlm
