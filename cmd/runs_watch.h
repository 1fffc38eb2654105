// xlm runs watch: how a sweep stands, seen from its run folders alone.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

struct WatchCommand {
  std::vector<std::string> sweep;  // its file and values laid over it; empty: runs of the store
  std::string profile;
  std::vector<std::string> where;
  bool once = false;
};

/// Shows the runs of a sweep, those that conditions select, or those of every experiment that has some left to do.
int watch_runs(const WatchCommand& command, const GlobalOptions& global);

}  // namespace xlm
