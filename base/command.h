// Other programs of the system, run to their end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlm {

constexpr int kNoProgram = 127;

struct CommandResult {
  int code = 0;  // kNoProgram: there is none of that name; 128 + signal: it was killed
  std::string out;
  std::string err;
};

/// Runs a program of PATH with `input` on its standard input. One that does not end within `seconds` is killed, and
/// what it said until then counts.
CommandResult run_command(const std::vector<std::string>& words, std::string_view input = "", double seconds = 60);

}  // namespace xlm
