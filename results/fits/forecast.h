// Predictions that were registered before their runs were there, and what these reached.
#pragma once

#include <variant>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "results/fits/fitted_runs.h"

namespace xlm {

/// The field of a record of the chain that holds forecasts.
inline constexpr const char* kForecasts = "forecasts";

/// What a record keeps of fits: their form, and each law's runs and predictions. Throws UsageError if they predict no
/// loss.
Json forecasts_of(const std::vector<FitResult>& fits);

/// build_fit, and each law with the forecasts of it that were registered in the folder of runs by the same form of the
/// fit, and the runs at their places that began after.
std::variant<FitResult, NothingToShow> fit_with_forecasts(RunTable& runs, const FitDescription& description,
                                                          const std::vector<Filter>& filters, const fs::path& folder);

}  // namespace xlm
