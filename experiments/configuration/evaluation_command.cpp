// The second command of a program.
#include "experiments/configuration/evaluation_command.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/placeholders.h"
#include "experiments/programs/metric_description.h"

namespace xlm {
namespace {

constexpr const char* kSplitPlace = "split";

bool uses_split(const Yaml& command) {
  return std::any_of(command.items.begin(), command.items.end(), [](const Yaml& word) {
    const std::vector<std::string> names = placeholders_in(word.scalar);
    return std::find(names.begin(), names.end(), kSplitPlace) != names.end();
  });
}

}  // namespace

Json read_evaluation_command(const Yaml& map) {
  Json command = {{"command", words_at(*map.find("command"), "command of evaluate")}};
  if (const Yaml* metrics = map.find("metrics"); metrics != nullptr && !metrics->is_null()) {
    if (!metrics->is_sequence()) fail_at(*metrics, "metrics of evaluate must be a list, as program.metrics is");
    command["metrics"] = to_json(*metrics);
    try {
      metric_descriptions(command["metrics"]);
    } catch (const UsageError& error) {
      fail_at(*metrics, error.what());
    }
  }
  const Yaml* name = map.find("name");
  if (name != nullptr && !name->is_null()) command["name"] = scalar_text(*name, "name of evaluate");
  return command;
}

void check_evaluation_command(const Yaml& command, const ProgramOptions& program) {
  check_placeholders(command, program, kSplitPlace);
  if (program.option(kSplitPlace) == nullptr || !uses_split(command)) return;
  fail_at(command,
          "{split} is the split that is evaluated, and the program has an option of this name\n"
          "let the command read the variable XLM_SPLIT, or give the option another name");
}

}  // namespace xlm
