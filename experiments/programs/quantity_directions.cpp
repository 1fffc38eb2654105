// Reads `program.better`.
#include "experiments/programs/quantity_directions.h"

#include <optional>

#include <fmt/format.h>

#include "base/lookup.h"
#include "experiments/programs/quantity_name.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

constexpr const char* kDirectionsExample = "{accuracy: higher}";

void check_declared_name(const Yaml& node, const std::string& name) {
  if (!is_quantity_name(name)) fail_at(node, "program.better: " + wrong_quantity_name(name));
  const QuantityPlace place = quantity_place(name);
  if (place.name == name) return;
  fail_at(node, fmt::format("program.better: '{}' is declared for all splits and costs at once\nwrite {}: {}", name,
                            place.name, node.scalar));
}

void check_direction(const Yaml& node, const std::string& name) {
  const bool is_word = node.is_scalar() && contains(kBetterNames, node.scalar);
  if (!is_word) {
    fail_at(node, fmt::format("program.better.{} must be lower or higher, such as {}", name, kDirectionsExample));
  }
  const std::optional<Better> known = known_direction(name);
  if (!known || kBetterNames.at(static_cast<std::size_t>(*known)) == node.scalar) return;
  fail_at(node, fmt::format("program.better.{0} is {1}, and {0} is known: {2} is better\ngive what the program reports "
                            "another name",
                            name, node.scalar, kBetterNames.at(static_cast<std::size_t>(*known))));
}

void add_directions(const Yaml& map, const std::string& prefix, std::map<std::string, std::string>& out) {
  for (const auto& [key, value] : map.entries) {
    const std::string name = prefix + key;
    if (value.is_null()) continue;  // a profile removes it like this
    if (value.is_map()) {
      add_directions(value, name + ".", out);
      continue;
    }
    check_direction(value, name);
    check_declared_name(value, name);
    for (const auto& [other, better] : out) {
      if (!name.starts_with(other + ".") && !other.starts_with(name + ".")) continue;
      fail_at(value,
              fmt::format("program.better: '{}' and '{}' cannot both be names: one is part of the other", other, name));
    }
    out[name] = value.scalar;
  }
}

}  // namespace

std::map<std::string, std::string> read_directions(const Yaml& node) {
  if (!node.is_map()) fail_at(node, fmt::format("program.better must be a map such as {}", kDirectionsExample));
  std::map<std::string, std::string> directions;
  add_directions(node, "", directions);
  return directions;
}

}  // namespace xlm
