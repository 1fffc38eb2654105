// Table and figure descriptions inside a YAML file.
#include "results/spec.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/figure_spec.h"
#include "results/statistics.h"
#include "results/table_spec.h"

namespace xlm {
namespace {

/// What a recipe holds beside tables and figures.
const std::vector<std::string>& recipe_keys() {
  static const std::vector<std::string> keys{"experiment", "data",   "model",  "optimizer", "train",
                                             "eval",       "seed",   "device", "sweep",     "profiles",
                                             "table",      "tables", "figure", "figures"};
  return keys;
}

std::string_view key_of(SpecKind kind) { return kind == SpecKind::kTable ? "table" : "figure"; }
const std::vector<std::string>& keys_of(SpecKind kind) {
  return kind == SpecKind::kTable ? table_keys() : figure_keys();
}

bool is_flat(const Yaml& file, SpecKind kind) {
  const Yaml* node = file.find(key_of(kind));
  return node != nullptr && node->is_scalar();
}

Yaml flat_spec(const Yaml& file, SpecKind kind) {
  Yaml spec;
  spec.kind = Yaml::Kind::kMap;
  spec.source = file.source;
  spec.line = file.find(key_of(kind))->line;
  for (const auto& [key, value] : file.entries) {
    const auto& keys = keys_of(kind);
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) spec.entries.emplace_back(key, value);
  }
  return spec;
}

/// "title" may stand for "table" or "figure" inside a description.
void normalise_title(Yaml& spec, SpecKind kind) {
  for (auto& [key, value] : spec.entries) {
    if (key == "title" && spec.find(key_of(kind)) == nullptr) {
      key = key_of(kind);
      return;
    }
  }
}

void add_specs(const Yaml& node, SpecKind kind, std::vector<Yaml>& out) {
  const std::vector<Yaml> items = node.is_sequence() ? node.items : std::vector<Yaml>{node};
  for (const Yaml& item : items) {
    if (!item.is_map()) {
      throw UsageError(
          fmt::format("{}: each {} must be a map with its title under '{}'", item.where(), key_of(kind), key_of(kind)));
    }
    out.push_back(item);
    normalise_title(out.back(), kind);
  }
}

}  // namespace

double aggregated(const std::vector<double>& values, Aggregate aggregate, Better better) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  switch (aggregate) {
    case Aggregate::kMean:
      return mean(values);
    case Aggregate::kMedian:
      return median(values);
    case Aggregate::kMin:
      return *least;
    case Aggregate::kMax:
      return *most;
    case Aggregate::kBest:
      return better == Better::kLower ? *least : *most;
  }
  return *least;
}

bool has_specs(const Yaml& file, SpecKind kind) {
  const std::string key(key_of(kind));
  const Yaml* list = file.find(key + "s");
  const bool is_empty = list == nullptr || list->is_null() || (list->is_sequence() && list->items.empty());
  return file.find(key) != nullptr || !is_empty;
}

std::vector<Yaml> find_specs(const Yaml& file, SpecKind kind) {
  if (!file.is_map()) throw UsageError(fmt::format("{}: expected a map of options", file.where()));
  std::vector<std::string> known = recipe_keys();
  for (const SpecKind other : {SpecKind::kTable, SpecKind::kFigure}) {
    if (is_flat(file, other)) known.insert(known.end(), keys_of(other).begin(), keys_of(other).end());
  }
  refuse_unknown(file, known);
  std::vector<Yaml> specs;
  const std::string key(key_of(kind));
  if (is_flat(file, kind)) {
    specs.push_back(flat_spec(file, kind));
  } else if (const Yaml* one = file.find(key)) {
    add_specs(*one, kind, specs);
  }
  if (const Yaml* list = file.find(key + "s")) add_specs(*list, kind, specs);
  if (specs.empty()) {
    throw UsageError(fmt::format("{} describes no {}: it has neither '{}' nor '{}s'", *file.source, key, key, key));
  }
  return specs;
}

std::vector<Yaml> choose_specs(std::vector<Yaml> specs, SpecKind kind, const std::string& name) {
  if (name.empty()) return specs;
  std::vector<std::string> names;
  std::vector<Yaml> chosen;
  for (Yaml& spec : specs) {
    const Yaml* own = spec.find("name");
    const Yaml* title = spec.find(key_of(kind));
    if (own == nullptr && title == nullptr) continue;
    names.push_back(own != nullptr ? own->scalar : name_from_title(title->scalar));
    if (names.back() == name) chosen.push_back(std::move(spec));
  }
  if (!chosen.empty()) return chosen;
  throw UsageError(fmt::format("there is no {} called '{}'{}\nthere is {}", key_of(kind), name,
                               did_you_mean(name, names), join(names, ", ")));
}

std::string recipe_experiment(const Yaml& file) {
  const Yaml* experiment = file.find("experiment");
  if (experiment == nullptr || !experiment->is_scalar()) return "";
  // A name that was made up for a file without one has no line; it counts where the file describes runs.
  const bool describes_runs = file.find("sweep") != nullptr || file.find("model") != nullptr;
  return experiment->line > 0 || describes_runs ? experiment->scalar : "";
}

std::string name_from_title(const std::string& title) {
  std::string name;
  for (const char c : title) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (letter) name += c;
    if (c >= 'A' && c <= 'Z') name += static_cast<char>(c - 'A' + 'a');
    if (c == ' ' && !name.empty() && name.back() != '-') name += '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  return name;
}

std::string scalar_text(const Yaml& node, std::string_view what) {
  if (!node.is_scalar()) throw UsageError(fmt::format("{}: {} must be text or a number", node.where(), what));
  return node.scalar;
}

void refuse_unknown(const Yaml& map, const std::vector<std::string>& known) {
  for (const auto& [key, value] : map.entries) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    throw UsageError(fmt::format("{}: unknown key '{}'{}", value.where(), key, did_you_mean(key, known)));
  }
}

}  // namespace xlm
