// Which way the measure of a sweep is better.
#include "experiments/sweeps/measure_direction.h"

#include <map>

#include "base/lookup.h"
#include "experiments/configuration/program_options.h"

namespace xlm {

std::optional<Better> direction_in(const Yaml& configuration, const std::string& name) {
  if (const std::optional<Better> known = known_direction(name)) return known;
  const std::map<std::string, std::string> declared = declared_directions(configuration);
  const std::string* const found = find_in(declared, name);
  if (found == nullptr) return std::nullopt;
  const bool is_lower = *found == kBetterNames[static_cast<std::size_t>(Better::kLower)];
  return is_lower ? Better::kLower : Better::kHigher;
}

}  // namespace xlm
