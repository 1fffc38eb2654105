// A spread that a claim takes from more runs than its own.
#pragma once

#include <vector>

#include "results/claims/claim_description.h"
#include "results/claims/part_numbers.h"

namespace xlm {

class SideReader;

/// Replaces the spread of the number's own seeds by one that is known of more, if the claim says so, and says in words
/// where it is from. It stays if no other setting has one, or if a test speaks against one noise: Levene's of all
/// settings, or the F-test of these seeds. `sides`: numbers by seed, of one side or two.
void share_noise(PartNumber& number, const ClaimSpread& spread, const SideReader& reader,
                 const std::vector<Filter>& each, const std::vector<std::vector<double>>& sides);

}  // namespace xlm
