// Reads `resources`.
#include "experiments/sweeps/asked_resources.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

struct Unit {
  std::string_view name;
  double value;
};

constexpr std::array<Unit, 4> kDurations{{{"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}}};
constexpr std::array<Unit, 3> kSizes{{{"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}}};

/// Reads numbers with units: "1h30min". Returns a negative number for any other text.
template <std::size_t N>
double sum_of_units(std::string_view text, const std::array<Unit, N>& units) {
  double sum = 0;
  if (text.empty()) return -1;
  while (!text.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::size_t end = std::min(text.find_first_of("0123456789.", digits), text.size());
    const std::string_view name = text.substr(digits, end - digits);
    const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
    double number = 0;
    if (unit == units.end() || !parse_real(text.substr(0, digits), number)) return -1;
    sum += number * unit->value;
    text.remove_prefix(end);
  }
  return sum;
}

double whole_number(const Yaml& node, std::string_view what, std::int64_t least) {
  std::int64_t value = 0;
  if (!parse_integer(scalar_text(node, what), value) || value < least) {
    fail_at(node, fmt::format("{} must be a whole number, {} or more", what, least));
  }
  return static_cast<double>(value);
}

}  // namespace

double read_duration(const Yaml& node, std::string_view what) {
  const double seconds = sum_of_units(scalar_text(node, what), kDurations);
  if (seconds <= 0)
    fail_at(node, fmt::format("{} must be a time with its unit, such as 90s, 30min, 4h or 1d12h", what));
  return seconds;
}

double read_memory(const Yaml& node, std::string_view what) {
  const double bytes = sum_of_units(scalar_text(node, what), kSizes);
  if (bytes <= 0) fail_at(node, fmt::format("{} must be a size with its unit, such as 500MB or 32GB", what));
  return bytes;
}

Resources read_resources(const Yaml* given) {
  Resources resources;
  if (given == nullptr || given->is_null()) return resources;
  if (!given->is_map()) fail_at(*given, "resources must be a map such as {cpus: 8, gpus: 1, memory: 32GB, time: 4h}");
  refuse_unknown(*given, {"cpus", "gpus", "memory", "time", "runs_per_gpu"});
  const auto read = [&](const char* key, Need& need, const auto& convert) {
    const Yaml* node = given->given(key);
    if (node == nullptr) return;
    need = {convert(*node, fmt::format("resources.{}", key)), node->where()};
  };
  read("cpus", resources.cpus, [](const Yaml& node, const std::string& what) { return whole_number(node, what, 1); });
  read("gpus", resources.gpus, [](const Yaml& node, const std::string& what) { return whole_number(node, what, 0); });
  read("memory", resources.memory, read_memory);
  read("time", resources.time, read_duration);
  const Yaml* packed = given->given("runs_per_gpu");
  if (packed != nullptr && scalar_text(*packed, "resources.runs_per_gpu") != "auto") {
    resources.runs_per_gpu =
        static_cast<std::int64_t>(whole_number(*packed, "resources.runs_per_gpu, if not auto,", 1));
  }
  return resources;
}

}  // namespace xlm
