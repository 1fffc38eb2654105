// Table and figure descriptions inside a YAML file: where they stand in it, and the reading that both share.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/yaml.h"

namespace xlm {

enum class SpecKind { kTable, kFigure };

/// How several runs become one number.
enum class Aggregate { kMean, kMedian, kMin, kMax, kBest };
inline constexpr std::array<std::string_view, 5> kAggregateNames{"mean", "median", "min", "max", "best"};
enum class Spread { kNone, kDeviation };
inline constexpr std::array<std::string_view, 2> kSpreadNames{"none", "sd"};
enum class Better { kLower, kHigher };
inline constexpr std::array<std::string_view, 2> kBetterNames{"lower", "higher"};

/// `values` as one number; they must not be empty. Best is the smallest, or the largest where higher is better.
double aggregated(const std::vector<double>& values, Aggregate aggregate, Better better);

/// Whether a file describes any table, or any figure.
bool has_specs(const Yaml& file, SpecKind kind);

/// All descriptions of one kind in a file, each a map whose title stands under "table" or "figure". They are given as a
/// list ("tables: [{table: TITLE, …}]"), as a map ("table: {title: TITLE, …}"), or flat ("table: TITLE" with the other
/// keys beside it). The other keys of a recipe are left alone. Throws UsageError with file:line for an unknown key, and
/// where the file has no description of the kind.
std::vector<Yaml> find_specs(const Yaml& file, SpecKind kind);

/// Those of `specs` that are called `name`; all where it is empty. Throws UsageError where there is none.
std::vector<Yaml> choose_specs(std::vector<Yaml> specs, SpecKind kind, const std::string& name);

/// The experiment whose runs a recipe's tables and figures show; empty for a file that describes no runs.
std::string recipe_experiment(const Yaml& file);

/// "bpc-against-span" from "Bpc against span": a file name for a title.
std::string name_from_title(const std::string& title);

/// The text of a scalar. Throws UsageError naming `what` for anything else.
std::string scalar_text(const Yaml& node, std::string_view what);

/// Throws UsageError for the first key of a map that is not one of `known`.
void refuse_unknown(const Yaml& map, const std::vector<std::string>& known);

}  // namespace xlm
