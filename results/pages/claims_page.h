// Claims as HTML, every number with its runs.
#pragma once

#include <string>

#include "results/claims/claim_text.h"
#include "results/pages/table_html.h"

namespace xlm {

/// The claims with their verdicts and notes, without their title: a row for each comparison.
std::string claims_html(const ClaimList& list, const RunReferences& references);

/// A page of claims alone.
std::string claims_page(Store& store, const ClaimList& list);

}  // namespace xlm
