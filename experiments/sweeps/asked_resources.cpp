// Reads `resources`.
#include "experiments/sweeps/asked_resources.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <re2/re2.h>

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
  static const RE2 part(R"(([\d.]+)([^\d.]+))");
  re2::StringPiece rest(text.data(), text.size());
  double sum = text.empty() ? -1 : 0;
  double number = 0;
  for (std::string name; RE2::Consume(&rest, part, &number, &name);) {
    const auto unit = std::ranges::find_if(units, [&](const Unit& u) { return u.name == name; });
    if (unit == units.end()) return -1;
    sum += number * unit->value;
  }
  return rest.empty() ? sum : -1;
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
  read("gpus", resources.gpus, [&](Yaml node, const std::string& what) {  // "a100:2" names their kind
    const std::string text = scalar_text(node, what);
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) return whole_number(node, what, 0);
    resources.gpu_type = text.substr(0, colon);
    node.scalar = text.substr(colon + 1);
    return whole_number(node, what, 0);
  });
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
