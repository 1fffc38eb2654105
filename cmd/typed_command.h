// A command line, parsed but not run: for checking the commands in recipes and documents.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

class TypedCommand {
 public:
  /// `line` begins with `xlm COMMAND` and has no shell syntax. Throws UsageError if the program does not accept it.
  explicit TypedCommand(const std::string& line);

  /// The subcommand: "sweep".
  const std::string& name() const { return name_; }

  /// The values of an option or of a positional argument; empty if the command has none of that name.
  std::vector<std::string> given(const std::string& option) const;

 private:
  std::string name_;
  GlobalOptions global_;
  CLI::App app_{"a command that is not run"};
  std::function<int()> run_;  // owns the variables of the options; never called
};

}  // namespace xlm
