// `program.better`: which way quantities are better that only the program knows.
#pragma once

#include <map>
#include <string>

#include "base/yaml.h"

namespace xlm {

/// The map `program.better`: lower or higher by the name of a quantity, without a split. Maps in it become names with
/// dots. Throws UsageError with file:line: for a name that no quantity can have, for one that begins with a split or
/// with costs., and for a direction that is not that of a known quantity.
std::map<std::string, std::string> read_directions(const Yaml& node);

}  // namespace xlm
