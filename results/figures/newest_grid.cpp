// Finds the grid that a figure shows.
#include "results/figures/newest_grid.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

/// The run's grid of this name. It has no rows if the run has no such grid.
NewestGrid grid_of(RunTable& runs, const std::string& run_id, const std::string& name) {
  return runs.store().use([&](SQLite::Database& database) {
    SQLite::Statement query(database, "SELECT row, column, value FROM last_grids WHERE run_id = ? AND name = ?");
    query.bind(1, run_id);
    query.bind(2, name);
    std::map<std::int64_t, std::map<std::int64_t, double>> numbers;  // by column and row
    std::int64_t rows = 0;
    NewestGrid grid{.words = grid_words(name), .run = run_id, .rows = {}, .columns = {}, .notes = {}};
    while (query.executeStep()) {
      const std::int64_t row = query.getColumn(0).getInt64();
      numbers[query.getColumn(1).getInt64()][row] = query.getColumn(2).getDouble();
      rows = std::max(rows, row);
    }
    grid.rows.assign(static_cast<std::size_t>(rows), {});
    for (const auto& [column, by_row] : numbers) {
      grid.columns.push_back(column);
      for (std::int64_t row = 1; row <= rows; ++row) {
        const auto found = by_row.find(row);
        grid.rows[static_cast<std::size_t>(row - 1)].push_back(
            found == by_row.end() ? std::numeric_limits<double>::quiet_NaN() : found->second);
      }
    }
    return grid;
  });
}

std::vector<std::string> grid_names(RunTable& runs) {
  return runs.store().use([&](SQLite::Database& database) {
    std::vector<std::string> names;
    SQLite::Statement query(database, "SELECT DISTINCT name FROM grids ORDER BY name");
    while (query.executeStep()) names.push_back(query.getColumn(0).getString());
    return names;
  });
}

/// Throws UsageError for an unknown name. If the store has no grids, any name may still come.
void check_grid_name(RunTable& runs, const FigureDescription& description) {
  if (is_known_grid(description.grid)) return;
  const std::vector<std::string> names = grid_names(runs);
  if (names.empty() || std::ranges::find(names, description.grid) != names.end()) return;
  throw UsageError(fmt::format("the figure '{}' asks for the grid '{}'{}; there are: {}", description.title,
                               description.grid, did_you_mean(description.grid, names), join(names, ", ")));
}

}  // namespace

std::variant<NewestGrid, NothingToShow> newest_grid(RunTable& runs, const FigureDescription& description,
                                                    const std::vector<std::size_t>& selected) {
  const std::vector<Value>& created = runs.column("created");
  std::vector<std::size_t> order = selected;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return value_less(created[b], created[a]); });
  NewestGrid grid;
  std::size_t found = 0;
  for (const std::size_t run : order) {
    NewestGrid of_run = grid_of(runs, runs.id(run), description.grid);
    if (of_run.rows.empty()) continue;
    if (++found == 1) grid = std::move(of_run);
  }
  if (found == 0) {
    check_grid_name(runs, description);
    return no_figure(description,
                     fmt::format("none of {} runs has {} in its journal", selected.size(), description.grid));
  }
  if (found > 1) {
    grid.notes.push_back(fmt::format("the figure '{}' shows {}, the newest of {} runs; choose another with `where`",
                                     description.title, grid.run, found));
  }
  return grid;
}

Figure figure_of_grid(const FigureDescription& description, const NewestGrid& grid, const std::string& x,
                      const std::string& y) {
  Figure figure = labelled_figure(description);
  if (description.x_label.empty()) figure.x_label = x;
  if (description.y_label.empty()) figure.y_label = y;
  figure.value_label = grid.words.value;
  figure.caption = grid.run;
  figure.notes = grid.notes;
  return figure;
}

std::vector<std::string> counted_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("{}", i));
  return names;
}

}  // namespace xlm
