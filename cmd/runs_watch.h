// xlm runs watch: the state of a sweep, from its run folders alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

struct WatchCommand {
  std::vector<std::string> sweep;  // its file and overrides; empty: runs of the store
  std::string profile;
  std::vector<std::string> where;
  bool once = false;
  bool serve = false;     // as a page for a browser
  std::int64_t port = 0;  // of that page; 0: any free one
};

/// Shows the runs of a sweep, those that meet conditions, or those of every experiment with unfinished runs.
int watch_runs(const WatchCommand& command, const GlobalOptions& global);

}  // namespace xlm
