// Why no run fulfils some conditions: which of them holds for none, and what there is instead.
#pragma once

#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// "no run has data.name=text8; the nearest there is: text8-en", of the first condition that leaves no run of those
/// that fulfil the conditions before it; `named` as RunTable::select takes it. Empty if some run fulfils them all.
std::string unmet_condition(RunTable& runs, const std::vector<Filter>& filters,
                            const std::vector<std::string>& named = {});

}  // namespace xlm
