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

/// Serves the live page until a signal asks to stop. Prints its address once it answers.
int serve_runs(const WatchCommand& command, const GlobalOptions& global);

}  // namespace xlm
