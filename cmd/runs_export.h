// xlm runs export: runs, series and evaluations for other programs.
#pragma once

#include <functional>

#include "cmd/command.h"

namespace xlm {

/// Declares its options on `app`; the returned function runs it.
std::function<int()> declare_runs_export(CLI::App& app, const GlobalOptions& global);

}  // namespace xlm
