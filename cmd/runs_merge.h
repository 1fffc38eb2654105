// xlm runs merge and xlm runs pack: runs from one folder, machine or group to another.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

struct MergeCommand {
  std::vector<fs::path> sources;
  bool dry_run = false;
  bool move = false;
  bool link = false;
};

int merge_sources(const MergeCommand& command, const GlobalOptions& global);

struct PackCommand {
  std::vector<std::string> runs;
  std::vector<std::string> where;
  std::vector<fs::path> also;
  fs::path out;
  bool models = false;
  bool checkpoints = false;
};

int pack_runs(const PackCommand& command, const GlobalOptions& global);

}  // namespace xlm
