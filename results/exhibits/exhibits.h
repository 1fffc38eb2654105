// Finds and chooses descriptions of tables, figures, continuations, claims and fits in a YAML file.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/yaml.h"

namespace xlm {

enum class ExhibitKind { kTable, kFigure, kContinuation, kClaim, kFit };

bool has_exhibits(const Yaml& file, ExhibitKind kind);

/// All descriptions of one kind in a file: maps with their titles under "table", "figure", "continuation", "claim" or
/// "fit". A file may give them in four ways: a list ("tables: [{table: TITLE, …}]"); a map of names ("tables: {NAME:
/// {table: TITLE, …}}"), where a profile can change one, or remove it with null; one map ("table: {title: TITLE, …}");
/// or flat
/// ("table: TITLE", with the other keys next to it). Other keys of a recipe are ignored. Throws UsageError with
/// file:line for an unknown key, and if the file has no description of the kind. `name`: only those of this name, and
/// UsageError if there is none; empty: all.
std::vector<Yaml> find_exhibits(const Yaml& file, ExhibitKind kind, const std::string& name = "");

/// The experiment whose runs a recipe's exhibits show. Empty for a file that describes no runs.
std::string recipe_experiment(const Yaml& file);

struct Exhibits {
  std::string experiment;  // whose runs they show; empty: any
  std::array<std::vector<Yaml>, 5> descriptions;

  const std::vector<Yaml>& of(ExhibitKind kind) const { return descriptions.at(static_cast<std::size_t>(kind)); }
  bool are_none() const {
    return std::ranges::all_of(descriptions, [](const auto& of_kind) { return of_kind.empty(); });
  }
};

/// Reads them as find_exhibits does. Throws UsageError with file:line; a file without any is none.
Exhibits read_exhibits(const Yaml& file);

}  // namespace xlm
