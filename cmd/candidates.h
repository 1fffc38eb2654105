// What can stand at a place of a command line, for completion: commands, options, the values that options and arguments
// take, keys of configurations, and run ids.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

struct Candidate {
  std::string text;
  std::string help;  // one line, or empty
};

struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  // file names fit too
};

/// What the last of `words` may become: the line behind the program's name, up to the place that is completed.
Candidates candidates(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace xlm
