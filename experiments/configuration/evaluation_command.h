// The second command of a program, with which `evaluate` of a sweep measures finished runs.
#pragma once

#include "base/json.h"
#include "base/yaml.h"
#include "experiments/configuration/program_options.h"

namespace xlm {

/// `command`, `metrics` and `name` of a part of `evaluate`, as the journal keeps them: {"command": [words], "metrics"?:
/// […], "name"?}. The map has a `command`. Throws UsageError with file:line.
Json read_evaluation_command(const Yaml& map);

/// Throws UsageError with file:line if the command has a placeholder that is no option of `program`, none of its places
/// and not {split}, or if {split} would be an option.
void check_evaluation_command(const Yaml& command, const ProgramOptions& program);

}  // namespace xlm
