// Whether the options of a run say all that it needs, and go together. Complaints name the place of the key.
#pragma once

#include <string>
#include <string_view>

#include "base/yaml.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

/// Throws UsageError with the place of a key, or of the nearest thing above it that is there.
[[noreturn]] void fail_at_key(const Yaml& tree, std::string_view key, const std::string& message);

/// Throws UsageError if the data or the length of training are missing, or are said twice.
void check_required(const Yaml& tree, const RunOptions& options);

/// Throws UsageError for values that are each in range but do not go together. Those of the model come first: others
/// follow from them.
void check_together(const Yaml& tree, const RunOptions& options);

/// The same of a program's run.
void check_program_run(const Yaml& tree, const RunConfiguration& run);

/// Throws UsageError if several processes are to do the run on a CPU, of which one process uses all cores.
void check_processes(const RunOptions& options, std::string_view device);

}  // namespace xlm
