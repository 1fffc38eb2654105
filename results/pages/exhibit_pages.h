// Claims, fits and continuations as HTML, every number with its runs.
#pragma once

#include <string>
#include <vector>

#include "results/claims/claim_text.h"
#include "results/exhibits/continuations.h"
#include "results/fits/fitted_runs.h"
#include "results/store/store.h"

namespace xlm {

/// The claims with their notes, without their title: what is decided first, and last and folded what is not tried.
std::string claims_html(const ClaimList& list);

std::string claims_page(Store& store, const ClaimList& list);

/// The numbers of a fit with its notes, without its title and figure.
std::string fit_html(const FitResult& fit);

std::string fits_page(Store& store, const std::vector<FitResult>& fits);

/// The models side by side, a passage in each row. A click on a passage's context shows the whole prompt. A model's
/// name links to its run.
std::string continuations_page(Store& store, const std::vector<Continuations>& all);

}  // namespace xlm
