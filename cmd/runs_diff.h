// xlm runs diff: two runs side by side, only what differs.
#pragma once

#include <functional>

#include "cmd/command.h"

namespace xlm {

/// Declares its options on `app`; the returned function runs it.
std::function<int()> declare_runs_diff(CLI::App& app, const GlobalOptions& global);

}  // namespace xlm
