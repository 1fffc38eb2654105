// Numbers that follow from a configuration without training.
#include "experiments/checks/configured_numbers.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/checks/supposed_runs.h"
#include "experiments/checks/supposed_winners.h"
#include "experiments/configuration/configuration.h"

namespace xlm {

std::map<std::string, double> configured_numbers(const Recipe& recipe, const Yaml& settings,
                                                 const std::set<std::string>& columns, const ModelCosts& costs) {
  Yaml configuration = recipe.run;
  if (settings.is_map()) {
    for (const auto& [key, value] : settings.entries) configuration.set(key, value);
  }
  choose_values(configuration, suppose_winners());
  const OpenRun run = read_without_data(configuration);
  std::map<std::string, double> numbers;
  for (const OptionEntry& entry : option_entries(run.options)) {
    if (entry.value.is_number()) numbers[entry.key] = entry.value.get<double>();
  }
  const bool has_all =
      std::ranges::all_of(columns, [&](const std::string& column) { return numbers.contains(column); });
  if (has_all) return numbers;
  const std::string& path = run.options.data.path;
  const std::optional<std::int64_t> symbols = recipe.corpora.symbols_of(path);
  if (!symbols) {
    throw UsageError(
        fmt::format("{}: nothing says how many symbols {} has, so nothing is known of what a model costs\n"
                    "prepare it, or say it: `corpora: {{{}: {{name: NAME, symbols: NUMBER}}}}`",
                    settings.source ? settings.where() : recipe.run.where(), path, path));
  }
  for (const auto& [name, value] : costs(run.options, *symbols)) numbers[name] = value;
  return numbers;
}

}  // namespace xlm
