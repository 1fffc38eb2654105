// Fits laws to the runs of a store, as a description asks.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "results/fits/fit_description.h"
#include "results/fits/iso_flops.h"
#include "results/fits/law_estimate.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"
#include "results/store/shown_runs.h"

namespace xlm {

struct FitRuns {
  std::string label;  // the values of `by`; empty: the only ones
  LossPoints points;
  std::vector<std::string> runs;     // their ids, in the order of the points
  std::vector<std::size_t> rows;     // the same as rows of the RunTable
  std::vector<std::string> corpora;  // that the losses are of
};

/// A registered prediction, and the losses of the runs at its place that began after it was registered.
struct Forecast {
  std::vector<double> x;
  double loss = 0;
  LawInterval run;
  std::vector<double> reached;
  std::size_t late = 0;  // runs at its place that had begun
};

/// How much more compute the law of others needs to reach the loss of a law's largest runs.
struct SpeedUp {
  std::vector<double> x;  // of these runs
  double factor = 0;
  LawInterval interval;
};

/// One law, or why there is none: at most one of the two estimates.
/// Why there is no law, and what to do about it. Empty if there is one.
struct FitProblem {
  std::string reason;
  std::string advice;
};

struct FittedLaw {
  FitRuns of;
  std::optional<LawEstimate> estimate;        // of a power law
  std::optional<IsoFlopEstimate> best_sizes;  // of iso-flops
  FitProblem problem;                         // why there is no estimate
  std::vector<Prediction> predictions;        // at each of the description's places
  std::vector<BestSize> size_predictions;     // likewise, of iso-flops
  std::optional<LeftOut> left_out;
  std::optional<SpeedUp> speed_up;
  std::vector<Forecast> forecasts;
  std::vector<std::string> notes;

  bool is_fitted() const { return estimate.has_value() || best_sizes.has_value(); }
};

struct FitResult {
  FitDescription description;
  std::vector<FittedLaw> laws;
  std::size_t incomplete = 0;  // runs that lack a number of one of the columns
  HiddenRuns left_out;
  std::string unproved;  // code or data of runs that are not known
};

/// The runs with all numbers, by the values of `by`, how many of the selected lack one, and the bad runs, which are
/// left out unless a condition asks for them. Throws UsageError for a column that the store does not know.
std::vector<FitRuns> find_fit_runs(RunTable& runs, const FitDescription& description,
                                   const std::vector<Filter>& filters, std::size_t& incomplete, HiddenRuns& left_out);

/// Why so many settings cannot give a law; empty: they can, if their sizes differ enough.
FitProblem problem_of_count(const FitDescription& description, std::size_t settings);

/// Fits the runs that fulfil `filters` and the description's conditions. NothingToShow if no law can be fitted.
std::variant<FitResult, NothingToShow> build_fit(RunTable& runs, const FitDescription& description,
                                                 const std::vector<Filter>& filters);

std::vector<std::string> runs_of(const FitResult& fit);

}  // namespace xlm
