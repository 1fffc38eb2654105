// What the tables, figures and claims of a recipe name.
#include "experiments/checks/named_by_exhibits.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <re2/re2.h>

#include "base/lookup.h"
#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/store/formula.h"

namespace xlm {
namespace {

constexpr std::int64_t kMaxRows = 1000;  // of a supposed grid

std::string text_of_key(const Yaml& node, const char* key) {
  const Yaml* value = node.find(key);
  return value != nullptr && value->is_scalar() ? value->scalar : std::string();
}

void add_grid_of_claim(const Yaml& claim, NamedByExhibits& named) {
  const Yaml* grid = claim.find("grid");
  if (grid == nullptr) return;
  const bool is_map = grid->is_map();
  const std::string name = is_map ? text_of_key(*grid, "name") : text_of_key(claim, "grid");
  const Yaml* rows = is_map ? grid->find("rows") : nullptr;
  const bool has_last = rows != nullptr && rows->is_sequence() && rows->items.size() == 2;
  std::int64_t last = 1;
  if (has_last && !parse_integer(rows->items[1].scalar, last)) last = 1;
  if (!name.empty())
    named.grids[name] = std::clamp<std::int64_t>(last, std::max<std::int64_t>(named.grids[name], 1), kMaxRows);
}

void add_parts_of_figure(const Yaml& figure, NamedByExhibits& named) {
  if (const std::string grid = text_of_key(figure, "grid"); !grid.empty()) named.grids.try_emplace(grid, 1);
  if (text_of_key(figure, "kind") != "text") return;
  for (const char* key : {"y", "marks"}) {
    if (const std::string trace = text_of_key(figure, key); !trace.empty()) named.traces.insert(trace);
  }
}

/// Adds the evaluations in a text, such as a formula, whose quantities are not known.
void add_evaluations_in(const std::string& text, std::set<std::string>& columns) {
  static const RE2 name(R"(([\w.-]+))");
  static const RE2 name_in_formula(R"(([\w.]+))");  // a minus is none of its signs
  re2::StringPiece rest = text;
  for (std::string word; RE2::FindAndConsume(&rest, is_formula(text) ? name_in_formula : name, &word);) {
    const auto evaluation = evaluation_column(word);
    if (evaluation && find_quantity(evaluation->name) == nullptr) columns.insert(word);
  }
}

/// Whether a key of an exhibit names a column that may be a cost or a series.
bool names_column(ExhibitKind kind, std::string_view key) {
  constexpr std::array<std::string_view, 3> kShown{"value", "x", "y"};
  constexpr std::array<std::string_view, 4> kFitted{"loss", "c", "n", "d"};
  if (kind == ExhibitKind::kFit) return contains(kFitted, key);
  return contains(kShown, key);
}

/// Adds the results that a part of an exhibit names. `key` is that of `node`.
void add_results(ExhibitKind kind, const Yaml& node, std::string_view key, std::set<std::string>& columns) {
  for (const Yaml& item : node.items) add_results(kind, item, key, columns);
  for (const auto& [name, value] : node.entries) add_results(kind, value, name, columns);
  if (!node.is_scalar()) return;
  add_evaluations_in(node.scalar, columns);
  static const RE2 plain_name(R"([\w-]+)");
  const bool is_name = RE2::FullMatch(node.scalar, plain_name);
  if (names_column(kind, key) && is_name && find_quantity(node.scalar) == nullptr) columns.insert(node.scalar);
}

}  // namespace

NamedByExhibits named_by_exhibits(const Exhibits& exhibits, const ReportedNames& reported,
                                  const std::set<std::string>& measured) {
  NamedByExhibits named;
  for (const Yaml& claim : exhibits.of(ExhibitKind::kClaim)) add_grid_of_claim(claim, named);
  for (const Yaml& figure : exhibits.of(ExhibitKind::kFigure)) add_parts_of_figure(figure, named);
  for (const ExhibitKind kind : {ExhibitKind::kTable, ExhibitKind::kFigure, ExhibitKind::kClaim, ExhibitKind::kFit}) {
    for (const Yaml& exhibit : exhibits.of(kind)) add_results(kind, exhibit, "", named.columns);
  }
  if (reported.may_be_others) return named;
  named.measured = measured;
  std::erase_if(named.columns, [&](const std::string& column) { return !measured.contains(column); });
  return named;
}

}  // namespace xlm
