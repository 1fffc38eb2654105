// Continuations as a page.
#pragma once

#include <string>
#include <vector>

#include "results/exhibits/continuations.h"
#include "results/store/store.h"

namespace xlm {

/// The models side by side, a passage in each row. A click on a passage's context shows the whole prompt. A model's
/// name links to its run.
std::string continuations_page(Store& store, const std::vector<Continuations>& all);

}  // namespace xlm
