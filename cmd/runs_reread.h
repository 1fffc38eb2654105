// xlm runs reread: the numbers of programs are read again.
#pragma once

#include <functional>

#include "cmd/command.h"

namespace xlm {

std::function<int()> declare_runs_reread(CLI::App& app, const GlobalOptions& global);

}  // namespace xlm
