// A command line, parsed but not run.
#include "cmd/typed_command.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

TypedCommand::TypedCommand(const std::string& line) {
  const std::vector<std::string> words = split(line, ' ');
  name_ = words.size() > 1 ? words[1] : "";
  for (const Command& command : commands()) {
    if (command.name == name_) run_ = command.declare(app_, global_);
  }
  if (!run_) throw UsageError(fmt::format("there is no command '{}'", name_));
  add_global_options(app_, global_);
  try {
    app_.parse(line.substr(line.find(name_) + name_.size()), false);
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

std::vector<std::string> TypedCommand::given(const std::string& option) const {
  const CLI::Option* found = app_.get_option_no_throw(option);
  return found == nullptr ? std::vector<std::string>{} : found->results();
}

}  // namespace xlm
