// Footnotes of a table.
#include "results/tables/table_notes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "results/quantities/quantities.h"
#include "results/store/variation.h"
#include "results/tables/verdict_notes.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxListed = 6;

/// Whether the note about a column's cell says no more than that about the cell to which its value belongs (`also`).
template <class IsAlike>
bool is_told_before(const Table& table, std::size_t column, const IsAlike& is_alike) {
  const std::string& behind = table.columns[column].behind;
  if (behind.empty()) return false;
  for (std::size_t other = 0; other < column; ++other) {
    if (table.columns[other].label == behind) return is_alike(other);
  }
  return false;
}

/// "3 seeds; 1 seed for dynamic/64; ± is their standard deviation." Where runs differ in more than the seed, they are
/// counted themselves.
std::string seeds_note(const Table& table) {
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::string>> by_count;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const TableCell& cell = table.rows[r].cells[c];
      if (!cell.value) continue;
      const auto is_alike = [&](std::size_t other) {
        const TableCell& before = table.rows[r].cells[other];
        return before.value && before.mixed == cell.mixed && before.rows == cell.rows;
      };
      if (is_told_before(table, c, is_alike)) continue;
      const auto runs = static_cast<std::int64_t>(cell.rows.size());
      const std::string count =
          cell.mixed ? fmt::format("{} runs", runs) : counted_over(cell.groups, table.columns[c].cells.over);
      by_count[{cell.mixed ? runs : cell.groups, count}].push_back(cell_name(table, r, c));
    }
  }
  if (by_count.empty()) return "";
  const auto usual = std::ranges::max_element(
      by_count, [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::string note = usual->first.second;
  for (const auto& [count, cells] : by_count) {
    if (count != usual->first) note += fmt::format("; {} for {}", count.second, some_listed(cells));
  }
  const bool has_spread = std::ranges::any_of(table.rows, [](const TableRow& row) {
    return std::ranges::any_of(row.cells, [](const TableCell& cell) { return cell.spread.has_value(); });
  });
  return fmt::format("{}{}{}.", note, by_count.size() == 1 ? " in every cell" : "",
                     has_spread ? "; ± is their standard deviation" : "");
}

/// "A/64: seeds of a setting have the same number, …"
std::string ignored_seeds_note(const Table& table) {
  std::vector<std::string> cells;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      if (table.rows[r].cells[c].ignores_seeds) cells.push_back(cell_name(table, r, c));
    }
  }
  return cells.empty() ? "" : fmt::format("{}: {}.", some_listed(cells), kSeedsSayNothing);
}

/// "A and B: both sides have the same number with every seed, …"
std::string same_numbers_note(const Table& table) {
  std::vector<std::string> rows;
  for (const TableRow& row : table.rows) {
    const auto same = std::ranges::find_if(row.cells, [](const TableCell& cell) { return !cell.same_as.empty(); });
    if (same == row.cells.end()) continue;
    const std::string& column = table.columns[static_cast<std::size_t>(same - row.cells.begin())].label;
    rows.push_back(
        fmt::format("{} and {}{}", same->same_as, row.label, table.columns.size() > 1 ? " in " + column : ""));
  }
  return rows.empty() ? "" : fmt::format("{}: {}.", some_listed(rows), kSidesSayNothing);
}

/// "Runs in A/64 differ in optimizer.lr, not in the seed alone; a 'where' can tell them apart."
std::string mixed_note(const TableNotes& notes) {
  if (notes.mixed.empty()) return "";
  if (notes.mixed_in.empty()) {
    return fmt::format("Several runs with one {} are mixed in {}; a 'where' can tell them apart.", notes.mixed_over,
                       some_listed(notes.mixed));
  }
  const std::vector<std::string> keys(notes.mixed_in.begin(), notes.mixed_in.end());
  return fmt::format("The runs in {} differ in {}, not in {} alone; a 'where' can tell them apart.",
                     some_listed(notes.mixed), listed_names(keys, kMaxListed),
                     notes.mixed_over == "seed" ? "the seed" : notes.mixed_over);
}

std::string missing_note(const Table& table) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> cells;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const std::vector<TableCell>& row = table.rows[r].cells;
    const bool whole =
        row.size() > 1 && !row.front().missing.empty() &&
        std::ranges::all_of(row, [&](const TableCell& cell) { return cell.missing == row.front().missing; });
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string& reason = row[c].missing;
      if (reason.empty() || reason == kPrintedOnly || (whole && c > 0)) continue;
      if (is_told_before(table, c, [&](std::size_t other) { return row[other].missing == reason; })) continue;
      if (!cells.contains(reason)) reasons.push_back(reason);
      cells[reason].push_back(whole ? table.rows[r].label : cell_name(table, r, c));
    }
  }
  std::vector<std::string> parts;
  for (const std::string& reason : reasons) parts.push_back(fmt::format("{} ({})", some_listed(cells[reason]), reason));
  return parts.empty() ? "" : "– not there yet: " + join(parts, "; ") + ".";
}

/// The cells at these places, as a list.
std::string cells_at(const Table& table, const std::set<std::pair<std::size_t, std::size_t>>& places) {
  std::vector<std::string> cells;
  for (const auto& [row, column] : places) cells.push_back(cell_name(table, row, column));
  return some_listed(cells);
}

std::string stars_note(const Table& table, const TableNotes& notes) {
  const Stars& stars = *notes.stars;
  const std::string without_pairs =
      notes.unpaired.empty() ? ""
                             : fmt::format(" (Welch's t-test over all seeds for {})", cells_at(table, notes.unpaired));
  return fmt::format("* better than {} by a two-sided paired t-test over common seeds{}, p < {}, {}.",
                     join(stars.against, " and "), without_pairs, stars.p,
                     stars.correct == Correction::kNone ? "not corrected for multiple comparisons"
                                                        : "Holm's correction for " + counted(notes.tests, "test"));
}

/// "the median over seeds in A, B", of columns whose cells are no means.
std::string aggregates_note(const Table& table) {
  std::map<std::string, std::vector<std::string>> columns;
  for (const TableColumn& column : table.columns) {
    if (column.cells.aggregate == Aggregate::kMean) continue;
    const std::string_view name = kAggregateNames[static_cast<std::size_t>(column.cells.aggregate)];
    columns[fmt::format("the {} over {}s", name, column_label(column.cells.over))].push_back(column.label);
  }
  std::vector<std::string> parts;
  for (const auto& [what, labels] : columns) parts.push_back(fmt::format("{} in {}", what, some_listed(labels)));
  return join(parts, "; ");
}

/// "Numbers on different text say nothing about each other: text8 (fixed), enwik8 (adaptive)."
std::string texts_note(const TableNotes& notes) {
  std::vector<std::string> parts;
  for (const auto& [corpus, cells] : notes.texts) {
    parts.push_back(fmt::format("{} ({})", corpus, some_listed({cells.begin(), cells.end()})));
  }
  return parts.empty() ? "" : "Numbers on different text say nothing about each other: " + join(parts, ", ") + ".";
}

/// What cells show, in words, without a unit that stands behind each number anyway.
std::string cells_in_words(const CellOptions& cells) {
  const Quantity* known = find_quantity(cells.value);
  std::string what = known != nullptr ? known->label : column_label(cells.value);
  if (cells.against.empty()) return what;
  constexpr std::array<std::string_view, 3> kRelations{"difference from", "ratio to", "change from"};
  return fmt::format("{}, {} {}", what, kRelations[static_cast<std::size_t>(cells.as)], cells.against);
}

}  // namespace

std::string cell_name(const Table& table, std::size_t row, std::size_t column) {
  return table.columns.size() == 1 ? table.rows[row].label
                                   : fmt::format("{}/{}", table.rows[row].label, table.columns[column].label);
}

std::string what_cells_show(const Table& table, const std::vector<TableColumn>& also) {
  const auto silent = std::ranges::find_if(table.columns, [](const TableColumn& column) { return !column.says_what; });
  std::vector<std::string> parts;
  if (silent != table.columns.end()) {
    parts.push_back(cells_in_words(silent->cells));
    for (const TableColumn& column : also) parts.push_back(column.label + ": " + cells_in_words(column.cells));
  }
  if (std::string aggregates = aggregates_note(table); !aggregates.empty()) parts.push_back(std::move(aggregates));
  return parts.empty() ? "" : "Cells: " + join(parts, "; ") + ".";
}

std::string what_is_best(const Table& table) {
  std::vector<std::string> labels;
  std::set<std::string> silent;  // what columns show whose labels do not say it
  for (const TableColumn& column : table.columns) {
    if (!column.cells.best) continue;
    labels.push_back(column.label);
    silent.insert(column.says_what ? "" : column_label(column.cells.value));
  }
  const bool any = std::ranges::any_of(table.rows, [](const TableRow& row) {
    return std::ranges::any_of(row.cells, [](const TableCell& cell) { return cell.best; });
  });
  if (!any) return "";
  std::string what = "the best of " + (labels.size() == table.columns.size() ? "each column" : some_listed(labels));
  if (silent.size() == 1 && !silent.begin()->empty()) what = fmt::format("the best {} of a column", *silent.begin());
  return what + " by the digits that are printed, among cells of one corpus.";
}

std::vector<std::string> footnotes(const Table& table, std::string_view best_mark) {
  std::vector<std::string> lines;
  if (!table.shown.empty()) lines.push_back(table.shown);
  if (!table.best.empty()) lines.push_back(fmt::format("{}: {}", best_mark, table.best));
  lines.insert(lines.end(), table.notes.begin(), table.notes.end());
  return lines;
}

std::vector<std::string> table_notes(const Table& table, const TableNotes& notes) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
  };
  if (table.has_printed) {
    add(any_not_comparable(table) ? "[…] is the value that the paper prints, for its own configuration."
                                  : "[…] is the value that the paper prints.");
  }
  add(seeds_note(table));
  add(ignored_seeds_note(table));
  add(same_numbers_note(table));
  add(texts_note(notes));
  for (const std::string& line : verdict_notes(table)) add(line);
  if (!notes.length.empty() && !notes.paper_length.empty() && notes.length != notes.paper_length) {
    add(fmt::format("Training: {} here; {} in the paper.", notes.length, notes.paper_length));
  }
  if (!notes.windows.empty()) {
    add(fmt::format("Evaluated on the first {} windows of each row of a split at most (eval.max_windows).",
                    notes.windows));
  }
  if (!notes.budgets.empty()) {
    const char first = notes.budgets.front();
    add(static_cast<char>(first >= 'a' && first <= 'z' ? first - 'a' + 'A' : first) + notes.budgets.substr(1) + ".");
  }
  if (notes.stars != nullptr) {
    add(stars_note(table, notes));
    add(printed_stars_note(table, notes.stars->value));
  }
  for (const std::string& label : notes.absent) add(fmt::format("No star can be given: there is no row '{}'.", label));
  if (!notes.untested.empty()) {
    add(
        fmt::format("No star can be given to {}: fewer than two {}s in common with a row of the test, and a single one "
                    "on one side.",
                    cells_at(table, notes.untested), table.columns.front().cells.over));
  }
  if (!notes.of_other_corpora.empty()) {
    add(fmt::format("No star can be given to {}: not measured on one corpus with the rows of the test.",
                    cells_at(table, notes.of_other_corpora)));
  }
  add(missing_note(table));
  for (const auto& [why, cells] : notes.without) {
    add(fmt::format("Runs without a number are left out of {} ({}).", some_listed(cells), why));
  }
  add(notes.left_out);
  add(notes.unfrozen);
  if (!notes.unmet.empty()) add(fmt::format("No runs to show: {}.", notes.unmet));
  if (!notes.lost.empty()) {
    add(fmt::format("Runs whose loss ended above that of guessing all symbols alike are in {}.",
                    some_listed(notes.lost)));
  }
  for (const std::string& line : notes.choices) add(line);
  add(mixed_note(notes));
  if (!notes.fallbacks.empty()) {
    add(fmt::format("{}: the recipe's fallback, as no run of another sweep has chosen it.",
                    join({notes.fallbacks.begin(), notes.fallbacks.end()}, ", ")));
  }
  for (const std::string& line : notes.own) add(line);
  return lines;
}

}  // namespace xlm
