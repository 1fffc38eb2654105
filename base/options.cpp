// Reading and listing typed option structs.
#include "base/options.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/core_schema.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"

namespace xlm {
namespace {

std::string range_text(const OptionInfo& info) {
  const bool has_min = std::isfinite(info.min);
  const bool has_max = std::isfinite(info.max);
  std::string low = fmt::format("{} {}", info.open_min ? ">" : "≥", info.min);
  std::string high = fmt::format("{} {}", info.open_max ? "<" : "≤", info.max);
  if (has_min && has_max) return low + ", " + high;
  if (has_min) return low;
  return has_max ? high : "";
}

bool is_in_range(const OptionInfo& info, double value) {
  const bool low = info.open_min ? value > info.min : value >= info.min;
  const bool high = info.open_max ? value < info.max : value <= info.max;
  return low && high;
}

std::string shown(const Yaml& node) {
  switch (node.kind) {
    case Yaml::Kind::kNull:
      return "nothing";
    case Yaml::Kind::kScalar:
      return fmt::format("'{}'", node.scalar);
    case Yaml::Kind::kSequence:
      return "a list";
    case Yaml::Kind::kMap:
      return "a map";
  }
  return "";
}

bool read_integer(const Yaml& node, std::int64_t& value) {
  const Json number = to_json(node);
  if (number.is_number_integer()) {
    value = number.get<std::int64_t>();
    return true;
  }
  const double real = number.is_number() ? number.get<double>() : 0.5;  // 2e5 is a whole number too
  if (real != std::floor(real) || std::abs(real) > 9e15) return false;
  value = static_cast<std::int64_t>(real);
  return true;
}

/// The text of a value that should be a number.
std::string no_number(const Yaml& node) {
  return shown(node) + std::string(node.is_scalar() && !node.quoted ? number_hint(node.scalar) : "");
}

}  // namespace

OptionReader::OptionReader(const Yaml& map, std::vector<std::string> others) : others_(std::move(others)) {
  if (!map.is_map() && !map.is_null()) throw UsageError(fmt::format("{}: expected a map of options", map.where()));
  levels_.push_back({"", map.is_map() ? &map : nullptr, {}});
}

std::string OptionReader::path(std::string_view name) const {
  std::string dotted;
  for (const Level& level : levels_) {
    if (!level.name.empty()) dotted += level.name + ".";
  }
  return dotted + std::string(name);
}

const Yaml* OptionReader::look_up(const OptionInfo& info) {
  Level& level = levels_.back();
  level.known.emplace_back(info.name);
  return level.map == nullptr ? nullptr : level.map->find(info.name);
}

void OptionReader::check_range(const OptionInfo& info, const Yaml& node, double value) const {
  if (is_in_range(info, value)) return;
  throw UsageError(
      fmt::format("{}: {} is {}, it must be {}", node.where(), path(info.name), node.scalar, range_text(info)));
}

void OptionReader::field(const OptionInfo& info, bool& value) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  const Json read = node->is_scalar() ? to_json(*node) : Json();
  if (!read.is_boolean()) {
    throw UsageError(fmt::format("{}: {} must be true or false, not {}", node->where(), path(info.name), shown(*node)));
  }
  value = read.get<bool>();
}

void OptionReader::field(const OptionInfo& info, std::int64_t& value) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  if (!read_integer(*node, value)) {
    throw UsageError(
        fmt::format("{}: {} must be a whole number, not {}", node->where(), path(info.name), no_number(*node)));
  }
  check_range(info, *node, static_cast<double>(value));
}

void OptionReader::field(const OptionInfo& info, double& value) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  const Json number = to_json(*node);
  if (!number.is_number()) {
    throw UsageError(fmt::format("{}: {} must be a number, not {}", node->where(), path(info.name), no_number(*node)));
  }
  value = number.get<double>();
  check_range(info, *node, value);
}

void OptionReader::field(const OptionInfo& info, std::string& value) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  if (!node->is_scalar()) {
    throw UsageError(fmt::format("{}: {} must be text, not {}", node->where(), path(info.name), shown(*node)));
  }
  value = node->scalar;
}

void OptionReader::field(const OptionInfo& info, std::vector<std::int64_t>& value) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  const std::vector<Yaml> items = node->is_sequence() ? node->items : std::vector<Yaml>{*node};
  value.clear();
  for (const Yaml& item : items) {
    std::int64_t number = 0;
    if (!read_integer(item, number)) {
      throw UsageError(fmt::format("{}: {} must be a whole number or a list of them, not {}", item.where(),
                                   path(info.name), no_number(item)));
    }
    check_range(info, item, static_cast<double>(number));
    value.push_back(number);
  }
}

void OptionReader::choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) {
  const Yaml* node = look_up(info);
  if (node == nullptr) return;
  const auto found = node->is_scalar() ? std::ranges::find(names, node->scalar) : names.end();
  if (found == names.end()) {
    throw UsageError(fmt::format("{}: {} must be one of {}, not {}{}", node->where(), path(info.name),
                                 join(names, ", "), shown(*node), did_you_mean(node->scalar, names)));
  }
  index = static_cast<std::size_t>(found - names.begin());
}

void OptionReader::begin_group(std::string_view name, std::string_view /*help*/) {
  Level& level = levels_.back();
  level.known.emplace_back(name);
  const Yaml* map = level.map == nullptr ? nullptr : level.map->find(name);
  if (map != nullptr && !map->is_map() && !map->is_null()) {
    throw UsageError(fmt::format("{}: {} must be a map of options, not {}", map->where(), path(name), shown(*map)));
  }
  levels_.push_back({std::string(name), map != nullptr && map->is_map() ? map : nullptr, {}});
}

void OptionReader::end_group() {
  check_unknown(levels_.back());
  levels_.pop_back();
}

void OptionReader::check_unknown(const Level& level) const {
  if (level.map == nullptr) return;
  for (const auto& [key, value] : level.map->entries) {
    if (contains(level.known, key)) continue;
    const std::string before = path("");  // "program.", or "" for the whole file
    const std::string place = before.empty() ? "" : fmt::format(" in '{}'", before.substr(0, before.size() - 1));
    std::vector<std::string> right = level.known;
    for (const std::string& other : others_) {
      if (other.starts_with(before)) right.push_back(other.substr(before.size()));
    }
    if (before.empty()) {
      for (const auto& [group, options] : level.map->entries) {  // `lr` in a grid may mean options.lr
        if (options.is_map() && options.find(key) != nullptr) right.push_back(group + "." + key);
      }
    }
    throw UsageError(fmt::format("{}: unknown key '{}'{}{}", value.where(), key, place, which_instead(key, right)));
  }
}

void OptionReader::finish() { check_unknown(levels_.back()); }

void OptionLister::add(const OptionInfo& info, Json value, std::string range, bool in_range, bool is_first_choice) {
  std::string key;
  for (const std::string& group : groups_) key += group + ".";
  key += info.name;
  const bool as_before = info.later && (is_first_choice || value == 0 || value == false);
  entries_.push_back({std::move(key), std::string(info.help), std::move(range), std::move(value), in_range,
                      info.affects_result, info.later, as_before, info.of_weights, info.of_learning, info.content});
}

void OptionLister::field(const OptionInfo& info, bool& value) { add(info, value, ""); }
void OptionLister::field(const OptionInfo& info, std::int64_t& value) {
  add(info, value, range_text(info), is_in_range(info, static_cast<double>(value)));
}
void OptionLister::field(const OptionInfo& info, double& value) {
  add(info, value, range_text(info), is_in_range(info, value));
}
void OptionLister::field(const OptionInfo& info, std::string& value) { add(info, value, ""); }
void OptionLister::field(const OptionInfo& info, std::vector<std::int64_t>& value) {
  const bool in_range =
      std::ranges::all_of(value, [&](std::int64_t item) { return is_in_range(info, static_cast<double>(item)); });
  add(info, value.size() == 1 ? Json(value.front()) : Json(value), range_text(info), in_range);
}
void OptionLister::choice(const OptionInfo& info, std::size_t& index, const std::vector<std::string>& names) {
  add(info, names.at(index), "one of " + join(names, ", "), true, index == 0);
}

void OptionLister::begin_group(std::string_view name, std::string_view /*help*/) { groups_.emplace_back(name); }
void OptionLister::end_group() { groups_.pop_back(); }

}  // namespace xlm
