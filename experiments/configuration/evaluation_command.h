// The second command of a program, with which `evaluate` of a sweep measures finished runs.
#pragma once

#include <string>

#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"
#include "experiments/configuration/program_options.h"

namespace xlm {

/// `command`, `metrics`, `name` and `code` of a part of `evaluate`, as the journal keeps them: {"command": [words],
/// "metrics"?: […], "name"?, "code"?: {"files": [patterns]}}. The map has a `command`. Throws UsageError with
/// file:line.
Json read_evaluation_command(const Yaml& map);

/// Adds the code of evaluations to `program.code` of a configuration, as files that training does not read. Throws
/// UsageError with file:line.
void leave_out_evaluation_code(Yaml& tree);

/// Reads the code of a part of `evaluate`, below the folder of its program, into the part: {"files", "folder", "hash"}.
/// Does nothing for a part without code. `runs`: the folder of runs, which is none of it. Throws as read_code.
void find_evaluation_code(Json& part, const ProgramOptions& program, const fs::path& runs);

/// Freezes what find_evaluation_code has found next to the runs of that folder, if it is not frozen yet. Throws as
/// freeze_code, and Error if the code is another one by now.
void freeze_evaluation_code(const Json& part, const fs::path& runs);

/// The hash of that code; "" for a part without code.
std::string evaluation_code(const Json& part);

/// Throws UsageError with file:line if the command has a placeholder that is no option of `program`, none of its places
/// and not {split}, or if {split} would be an option.
void check_evaluation_command(const Yaml& command, const ProgramOptions& program);

}  // namespace xlm
