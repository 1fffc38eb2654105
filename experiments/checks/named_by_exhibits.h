// What the tables, figures and claims of a recipe name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/checks/supposed_runs.h"
#include "results/exhibits/exhibits.h"

namespace xlm {

/// The exhibits of one kind; none if the recipe has none.
std::vector<Yaml> exhibits_of(const Yaml& tree, ExhibitKind kind);

/// What text figures, figures of grids and claims about grids name, and the results of programs that all exhibits name:
/// any, if the program of `tree` does not say what it reports; otherwise those of `measured`, columns that runs have.
NamedByExhibits named_by_exhibits(const Yaml& tree, const std::set<std::string>& measured);

}  // namespace xlm
