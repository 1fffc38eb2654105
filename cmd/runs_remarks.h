// xlm runs tag, note and mark: what people say of runs.
#pragma once

#include <functional>

#include "cmd/command.h"

namespace xlm {

/// Each declares its options on `app`; the returned function runs it.
std::function<int()> declare_runs_tag(CLI::App& app, const GlobalOptions& global);
std::function<int()> declare_runs_note(CLI::App& app, const GlobalOptions& global);
std::function<int()> declare_runs_mark(CLI::App& app, const GlobalOptions& global);

}  // namespace xlm
