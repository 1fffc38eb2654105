// Runs of a sweep that begin from another of its runs.
#include "experiments/sweeps/point_source.h"

#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

constexpr const char* kKey = "model.init_from";

}  // namespace

std::optional<Yaml> source_of_point(const Yaml& configuration) {
  const Yaml* given = find_path(configuration, kKey);
  if (given == nullptr || !given->is_map()) return std::nullopt;
  if (given->entries.empty()) {
    fail_at(*given, "model.init_from must say how the run to begin from differs, such as {train.steps: 1000}");
  }
  Yaml source = configuration;
  source.set(kKey, make_scalar("", *configuration.source));
  for (const auto& [key, value] : given->entries) source.set(key, value);
  return source;
}

Yaml with_source_as_text(Yaml configuration) {
  const Yaml* given = find_path(configuration, kKey);
  if (given == nullptr || !given->is_map()) return configuration;
  configuration.set(kKey, make_scalar(to_json(*given).dump(), *configuration.source));
  return configuration;
}

}  // namespace xlm
