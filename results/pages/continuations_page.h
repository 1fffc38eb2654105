// Continuations as a page.
#pragma once

#include <string>
#include <vector>

#include "results/exhibits/continuations.h"
#include "results/store/store.h"

namespace xlm {

/// The models side by side, a passage to a row; its whole prompt unfolds, and a model's name leads to its run.
std::string continuations_page(Store& store, const std::vector<Continuations>& all);

}  // namespace xlm
