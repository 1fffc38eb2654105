// Whether a claim was written down before its runs, and is judged as it was written.
#pragma once

#include <string>
#include <vector>

#include "results/claims/judged_claim.h"
#include "results/run_folder/registration.h"

namespace xlm {

/// The second word of a verdict: "registered", "registered, order unproved", "registered late: RUN was there", "changed
/// since: margin"; empty if no record has the claim. `form`: the claim as the file has it, without conditions of the
/// command line. The first `counted` records may have it. `folder`: of the runs.
std::string registration_of(RunTable& runs, const JudgedClaim& judged, const Json& form,
                            const std::vector<Registration>& chain, std::size_t counted, const ClaimContext& context,
                            const fs::path& folder);

}  // namespace xlm
