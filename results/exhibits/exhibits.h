// Descriptions of tables, figures, continuations and claims inside a YAML file: where they stand in it, and which of
// them are meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/yaml.h"

namespace xlm {

enum class ExhibitKind { kTable, kFigure, kContinuation, kClaim };

/// Whether a file describes any exhibit of a kind.
bool has_exhibits(const Yaml& file, ExhibitKind kind);

/// All descriptions of one kind in a file, each a map whose title stands under "table", "figure", "continuation" or
/// "claim". They are given as a list ("tables: [{table: TITLE, …}]"), as a map of names ("tables: {NAME: {table: TITLE,
/// …}}", of which a profile can change one, or take it away with null), as a map ("table: {title: TITLE, …}"), or flat
/// ("table: TITLE" with the other keys beside it). The other keys of a recipe are left alone. Throws UsageError with
/// file:line for an unknown key, and where the file has no description of the kind.
std::vector<Yaml> find_exhibits(const Yaml& file, ExhibitKind kind);

/// Those of `descriptions` that are called `name`; all where it is empty. Throws UsageError where there is none.
std::vector<Yaml> choose_exhibits(std::vector<Yaml> descriptions, ExhibitKind kind, const std::string& name);

/// The experiment whose runs a recipe's exhibits show; empty for a file that describes no runs.
std::string recipe_experiment(const Yaml& file);

}  // namespace xlm
