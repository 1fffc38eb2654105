// Completion of a command line: commands, options and their values, some of them from the store and from the recipe on
// the line.
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

/// Candidates for the last of `words`, which are the words behind the program's name up to the cursor. Does not throw
/// if the recipe or the store cannot be read. Does not sync the store.
Candidates candidates(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace xlm
