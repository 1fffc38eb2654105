// Pages of results: tables, figures and fits as self-contained HTML. Every number links to its runs.
#pragma once

#include <string>
#include <vector>

#include "results/claims/claim_text.h"
#include "results/figures/figures.h"
#include "results/fits/fitted_runs.h"
#include "results/pages/html.h"
#include "results/pages/run_appendix.h"
#include "results/tables/table.h"

namespace xlm {

/// A page under construction. Turns tables and figures into HTML one by one, in the order of the page, and collects the
/// runs behind them.
class Page {
 public:
  explicit Page(Store& store) : appendix_(store) {}

  /// A table with its notes, and a figure with its caption and numbers, both without titles.
  std::string table(const Table& table);
  std::string figure(const Figure& figure);

  /// Claims with their verdicts and notes, without their title.
  std::string claims(const ClaimList& claims);

  /// A fit with its numbers, notes and figure, without its title.
  std::string fit(const FitResult& fit);

  /// The explorer of the runs so far, for one place on the page.
  std::string explorer(Store& store, const std::string& title);

  RunAppendix& appendix() { return appendix_; }

  std::string finish(const std::string& title, const std::string& body);

 private:
  std::string numbers_of(const Figure& figure) const;

  RunAppendix appendix_;
  Json figures_ = Json::array();
  Json explorer_;  // null: the page has none
};

std::string tables_page(Store& store, const std::vector<Table>& tables);
std::string figure_page(Store& store, const Figure& figure);

/// A page with the explorer of runs, as a report ends.
std::string runs_page(Store& store, const std::string& title, const std::vector<std::string>& runs);

}  // namespace xlm
