// A file may describe runs of a model and of a program: `model.type` says which of them a run is.
#pragma once

#include "base/yaml.h"

namespace xlm {

/// Whether the run is that of a program. Throws UsageError with file:line if there are `program` and `model`, and
/// nothing says which.
bool is_run_of_program(const Yaml& tree);

/// Takes away what a program's run does not have and a model has. What neither has stays, and is complained of.
void drop_model(Yaml& tree);

}  // namespace xlm
