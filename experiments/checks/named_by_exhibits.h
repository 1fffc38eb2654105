// What the tables, figures and claims of a recipe name.
#pragma once

#include <set>
#include <string>

#include "experiments/checks/supposed_runs.h"
#include "results/exhibits/exhibits.h"

namespace xlm {

/// What text figures, figures of grids and claims about grids name, and the results of programs that all exhibits name:
/// any, if the recipe's program does not say what it reports; otherwise those of `measured`, columns that runs have.
NamedByExhibits named_by_exhibits(const Exhibits& exhibits, const ReportedNames& reported,
                                  const std::set<std::string>& measured);

}  // namespace xlm
