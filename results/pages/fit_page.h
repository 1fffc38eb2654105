// Fits as HTML.
#pragma once

#include <string>
#include <vector>

#include "results/fits/fitted_runs.h"
#include "results/store/store.h"

namespace xlm {

/// The numbers of a fit with its notes, without its title and figure.
std::string fit_html(const FitResult& fit);

/// A page of fits alone, each with its figure.
std::string fits_page(Store& store, const std::vector<FitResult>& fits);

}  // namespace xlm
