// What a user asks of `xlm sweep`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

struct SweepCommand {
  fs::path file;
  std::vector<std::string> overrides;
  std::string profile;
  std::string launcher = "local";
  std::int64_t jobs = 0;
  bool dry_run = false;
  bool check = false;
  bool retry = false;
  bool anyway = false;
  bool shuffle = false;
  bool wait = false;
  bool print_site = false;
  fs::path site;
  fs::path trusted;  // folder of runs of others
};

}  // namespace xlm
