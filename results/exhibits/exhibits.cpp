// Finds descriptions of tables, figures, continuations, claims and fits in a YAML file.
#include "results/exhibits/exhibits.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/recipe_keys.h"
#include "base/text.h"
#include "results/claims/claim_description.h"
#include "results/exhibits/continuation_description.h"
#include "results/figures/figure_description.h"
#include "results/fits/fit_description.h"
#include "results/tables/table_description.h"

namespace xlm {
namespace {

std::string_view key_of(ExhibitKind kind) {
  constexpr std::array<std::string_view, 5> kKeys{"table", "figure", "continuation", "claim", "fit"};
  return kKeys.at(static_cast<std::size_t>(kind));
}

const std::vector<std::string>& keys_of(ExhibitKind kind) {
  if (kind == ExhibitKind::kContinuation) return continuation_keys();
  if (kind == ExhibitKind::kClaim) return claim_keys();
  if (kind == ExhibitKind::kFit) return fit_keys();
  return kind == ExhibitKind::kTable ? table_keys() : figure_keys();
}

bool is_flat(const Yaml& file, ExhibitKind kind) {
  const Yaml* node = file.find(key_of(kind));
  return node != nullptr && node->is_scalar();
}

Yaml flat_exhibit(const Yaml& file, ExhibitKind kind) {
  Yaml description;
  description.kind = Yaml::Kind::kMap;
  description.source = file.source;
  description.line = file.find(key_of(kind))->line;
  for (const auto& [key, value] : file.entries) {
    const auto& keys = keys_of(kind);
    if (std::ranges::find(keys, key) != keys.end()) description.entries.emplace_back(key, value);
  }
  return description;
}

/// Replaces "title" in a description by "table", "figure", "continuation", "claim" or "fit".
void normalise_title(Yaml& description, ExhibitKind kind) {
  for (auto& [key, value] : description.entries) {
    if (key == "title" && description.find(key_of(kind)) == nullptr) {
      key = key_of(kind);
      return;
    }
  }
}

void add_exhibits(const Yaml& node, ExhibitKind kind, std::vector<Yaml>& out) {
  const std::vector<Yaml> items = node.is_sequence() ? node.items : std::vector<Yaml>{node};
  for (const Yaml& item : items) {
    if (!item.is_map()) {
      fail_at(item, fmt::format("each {} must be a map with its title under '{}'", key_of(kind), key_of(kind)));
    }
    out.push_back(item);
    normalise_title(out.back(), kind);
  }
}

/// `tables: {NAME: {…}, …}`: a profile changes one by its name, or removes it with null.
void add_named_exhibits(const Yaml& map, ExhibitKind kind, std::vector<Yaml>& out) {
  for (const auto& [name, description] : map.entries) {
    if (description.is_null()) continue;
    add_exhibits(description, kind, out);
    if (const Yaml* own = out.back().find("name")) {
      fail_at(*own, fmt::format("the {} is named '{}' by its key: remove 'name'", key_of(kind), name));
    }
    out.back().set("name", make_scalar(name, *description.source));
  }
}

/// Whether `tables` or `figures` is a map of names. A map with a title is a single description.
bool is_map_of_names(const Yaml& list, ExhibitKind kind) {
  return list.is_map() && list.find("title") == nullptr && list.find(key_of(kind)) == nullptr;
}

}  // namespace

bool has_exhibits(const Yaml& file, ExhibitKind kind) {
  const std::string key(key_of(kind));
  const Yaml* list = file.find(key + "s");
  const bool is_empty =
      list == nullptr || list->is_null() || (list->is_sequence() && list->items.empty()) ||
      (list->is_map() && std::ranges::all_of(list->entries, [](const Yaml::Entry& e) { return e.second.is_null(); }));
  return file.find(key) != nullptr || !is_empty;
}

namespace {

/// The name for --name and for the file; "" if nothing gives one.
std::string exhibit_name(const Yaml& description, ExhibitKind kind) {
  if (const Yaml* own = description.find("name")) return own->scalar;
  const Yaml* title = description.find(key_of(kind));
  return title != nullptr ? name_from_title(title->scalar) : "";
}

void refuse_equal_names(const std::vector<Yaml>& descriptions, ExhibitKind kind) {
  std::set<std::string> names;
  for (const Yaml& description : descriptions) {
    const std::string name = exhibit_name(description, kind);
    if (name.empty() || names.insert(name).second) continue;
    fail_at(description, fmt::format("two {}s are named '{}'\ngive one of them another 'name'", key_of(kind), name));
  }
}

/// Those named `name`. Throws UsageError if there is none.
std::vector<Yaml> called(std::vector<Yaml> descriptions, ExhibitKind kind, const std::string& name) {
  std::vector<std::string> names;
  std::vector<Yaml> chosen;
  for (Yaml& description : descriptions) {
    const std::string own = exhibit_name(description, kind);
    if (own.empty()) continue;
    names.push_back(own);
    if (own == name) chosen.push_back(std::move(description));
  }
  if (!chosen.empty()) return chosen;
  throw UsageError(fmt::format("there is no {} named '{}'{}\nthere are {}", key_of(kind), name,
                               did_you_mean(name, names), join(names, ", ")));
}

}  // namespace

std::vector<Yaml> find_exhibits(const Yaml& file, ExhibitKind kind, const std::string& name) {
  if (!file.is_map()) fail_at(file, "expected a map of options");
  std::vector<std::string> known(kRunKeys.begin(), kRunKeys.end());
  known.insert(known.end(), kKeysBesidesRun.begin(), kKeysBesidesRun.end());
  for (const ExhibitKind other : {ExhibitKind::kTable, ExhibitKind::kFigure, ExhibitKind::kContinuation,
                                  ExhibitKind::kClaim, ExhibitKind::kFit}) {
    if (is_flat(file, other)) known.insert(known.end(), keys_of(other).begin(), keys_of(other).end());
  }
  refuse_unknown(file, known);
  std::vector<Yaml> descriptions;
  const std::string key(key_of(kind));
  if (is_flat(file, kind)) {
    descriptions.push_back(flat_exhibit(file, kind));
  } else if (const Yaml* one = file.find(key)) {
    add_exhibits(*one, kind, descriptions);
  }
  if (const Yaml* list = file.find(key + "s")) {
    if (is_map_of_names(*list, kind)) {
      add_named_exhibits(*list, kind, descriptions);
    } else {
      add_exhibits(*list, kind, descriptions);
    }
  }
  if (descriptions.empty()) {
    throw UsageError(fmt::format("{} describes no {}: it has neither '{}' nor '{}s'", *file.source, key, key, key));
  }
  refuse_equal_names(descriptions, kind);
  return name.empty() ? descriptions : called(std::move(descriptions), kind, name);
}

std::string recipe_experiment(const Yaml& file) {
  const Yaml* experiment = file.find("experiment");
  if (experiment == nullptr || !experiment->is_scalar()) return "";
  // A name that was made up for a file without one has no line. It counts if the file describes runs.
  const bool describes_runs = file.find("sweep") != nullptr || file.find("model") != nullptr;
  return experiment->line > 0 || describes_runs ? experiment->scalar : "";
}

Exhibits read_exhibits(const Yaml& file) {
  Exhibits exhibits{.experiment = recipe_experiment(file), .descriptions = {}};
  for (std::size_t kind = 0; kind < exhibits.descriptions.size(); ++kind) {
    const auto one = static_cast<ExhibitKind>(kind);
    if (has_exhibits(file, one)) exhibits.descriptions[kind] = find_exhibits(file, one);
  }
  return exhibits;
}

}  // namespace xlm
