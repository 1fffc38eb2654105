// The numbers of the comparisons that a claim is made of, with the limits within which the claim has them.
#pragma once

#include <vector>

#include "results/claims/judged_claim.h"
#include "results/judgement/limits.h"

namespace xlm {

class SideReader;

/// A part's number, and which of its limits it was tested with.
struct PartNumber {
  ClaimPart part;
  Estimate estimate;
  Limits limits;
  std::optional<Estimate> own;  // by its own spread, if the estimate has a shared one
  std::vector<Estimate> worst;  // what the estimate may be if diverged seeds count as the worst; empty: none diverged
};

/// A number for each comparison of the claim, for each value of its column `each`. One that cannot be made says why
/// (ClaimPart::missing).
std::vector<PartNumber> numbers_of_parts(RunTable& runs, const ClaimDescription& claim, const SideReader& reader);

}  // namespace xlm
