// What can stand at a place of a command line, for completion: commands, options, and the values that options and
// arguments take, among them those of the store and of the recipe that the line names.
#pragma once

#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

struct Candidate {
  std::string text;
  std::string help;  // a line, or nothing
};

struct Candidates {
  std::vector<Candidate> words;
  bool files = false;  // names of files fit too
};

/// What the last of `words` may become: the line behind the program's name, up to the place that is completed. Never
/// throws for what the line names and cannot be read; the store is read as it is.
Candidates candidates(const CLI::App& program, const std::vector<std::string>& words);

}  // namespace xlm
