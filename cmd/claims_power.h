// What the seeds of a recipe's claims will show, before its runs.
#pragma once

#include <optional>
#include <vector>

#include "cmd/command.h"
#include "results/claims/claim_power.h"

namespace xlm {

/// Of the claims of a configuration whose profile is applied; `name` chooses one, and empty all. `deviation`: of single
/// runs, for claims about losses, or for the one chosen; nothing: what the runs of the folder show of each.
/// Throws UsageError.
std::vector<PartPower> power_of_claims(const Yaml& configuration, const std::string& name,
                                       const std::optional<double>& deviation, const GlobalOptions& global);

/// The same of a sweep's file, for a dry run: a table, or one line if no run shows how much seeds differ.
/// Empty for a file without claims.
std::string power_before_a_sweep(const Yaml& configuration, const fs::path& file, const GlobalOptions& global);

}  // namespace xlm
