// Why no run fulfils some conditions: which of them holds for none, and what there is instead.
#pragma once

#include <string>
#include <vector>

#include "results/store/run_table.h"

namespace xlm {

/// "no run has data.name=text8; the nearest there is: text8-en", of the first condition that leaves no run of those
/// that fulfil the conditions before it; `named` as RunTable::select takes it. Of a condition on at.KEY that
/// evaluations fulfil which have other settings too, it says those. Empty if some run fulfils them all.
std::string unmet_condition(RunTable& runs, const std::vector<Filter>& filters,
                            const std::vector<std::string>& named = {});

/// What evaluations have that a question for at.KEY leaves out, because they differ from their runs in other settings
/// too: "evaluations with at.options.temp also have at.evaluation.name=probe: name that setting too". `filters` and
/// `named` as RunTable::select takes them. Empty if there are none, or no setting is asked for.
std::string further_settings(RunTable& runs, const std::vector<Filter>& filters,
                             const std::vector<std::string>& named = {});

}  // namespace xlm
