// xlm runs watch --serve: runs and their curves in a browser.
#pragma once

#include "cmd/command.h"
#include "cmd/runs_watch.h"

namespace xlm {

/// Serves the live page until a signal asks to stop. Prints its address once it answers.
int serve_runs(const WatchCommand& command, const GlobalOptions& global);

}  // namespace xlm
