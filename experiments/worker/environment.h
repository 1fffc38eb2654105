// environment.json: with what program, where and on what data a run was done.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "core/api/interface.h"

namespace xlm {

/// Adds to what submission wrote: hashes of the program, libtorch, device and GPU, host, threads, command line.
Json worker_environment(Json submitted, Core& core, const RunOptions& options, const std::vector<std::string>& command);

/// The words with which this process was started.
std::vector<std::string> command_line();

}  // namespace xlm
