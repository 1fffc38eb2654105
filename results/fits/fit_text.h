// Fits as text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "results/fits/fitted_runs.h"
#include "results/tables/table_text.h"

namespace xlm {

struct FitRow {
  std::string law;       // the label of its runs; empty: the only law
  std::string quantity;  // "E", "α", "L at C=1e19", …
  double value = 0;
  std::optional<LawInterval> interval;  // nothing: it is not known
  std::optional<double> made;           // what runs reached: of what was left out
};

/// Parameters, what follows from them, predictions, and the largest runs that were left out.
std::vector<FitRow> rows_of_fit(const FitResult& fit);

/// A number of a row with four digits that count, and its interval: "1.203", "1.15 to 1.26", "unknown".
std::string fit_number(double value);
std::string fit_interval(const std::optional<LawInterval>& interval);

/// Sentences below the numbers: the formula, how many runs each law has and how far they lie from it, warnings.
std::vector<std::string> notes_of_fit(const FitResult& fit);

/// Several fits, one after the other. Text breaks lines at `width` columns (0: any width). CSV and JSON hold numbers in
/// full.
std::string render_fits(const std::vector<FitResult>& fits, TableFormat format, int width = 0);

Json to_json(const FitResult& fit);

}  // namespace xlm
