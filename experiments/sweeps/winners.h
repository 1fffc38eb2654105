// The winner of another sweep: the value of a key whose runs are the best by a measured number.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "experiments/configuration/best_of.h"
#include "experiments/sweeps/recipe.h"
#include "results/store/run_table.h"

namespace xlm {

/// The conditions that the other sweep's runs must meet: those of `best`, and last, to be of its experiment.
std::vector<Filter> conditions_of(const BestOf& best, const Recipe& other);

/// The value that `best` asks for, among the runs of the other sweep's experiment that meet its conditions. Runs of one
/// value are seeds of one setting and count by their mean; a value with a diverged or pruned run cannot win. The
/// fallback if there are no such runs, or if none of them can win. Throws UsageError with the place of the map: if
/// there is no fallback either, if runs are still to be done or some values have none, if runs of one value differ in
/// more than the seed, if runs have several corpora, or if a run lacks the number.
ChosenValue choose_winner(RunTable& runs, const BestOf& best, const Recipe& other);

/// Chooses among the runs of a store that is opened at the first question. Equal questions get equal answers.
ChooseValue choose_among(std::function<std::shared_ptr<RunTable>()> open);

}  // namespace xlm
