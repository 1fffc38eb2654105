// A command as one types it, parsed but not run: so what recipes and documents say is tried.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cmd/command.h"

namespace xlm {

class TypedCommand {
 public:
  /// Of a line that begins with `xlm COMMAND`, without what is the shell's. Throws UsageError for one that the program
  /// does not take.
  explicit TypedCommand(const std::string& line);

  /// The subcommand: "sweep".
  const std::string& name() const { return name_; }

  /// What was given for an option or for a positional argument; nothing where the command has none of that name.
  std::vector<std::string> given(const std::string& option) const;

 private:
  std::string name_;
  GlobalOptions global_;
  CLI::App app_{"a command that is not run"};
  std::function<int()> run_;  // keeps alive what options are bound to; it is never called
};

}  // namespace xlm
