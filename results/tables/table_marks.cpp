// Stars and best cells.
#include "results/tables/table_marks.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "results/judgement/limits.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

bool is_better(double difference, Better better) { return better == Better::kLower ? difference < 0 : difference > 0; }

/// The rows that a table's stars speak of, as far as it has them.
std::vector<std::size_t> rows_of(const Table& table, const Stars& stars, TableNotes& notes) {
  std::vector<std::size_t> rows;
  for (const std::string& label : stars.against) {
    const auto row =
        std::ranges::find_if(table.rows, [&](const TableRow& candidate) { return candidate.label == label; });
    if (row == table.rows.end()) {
      notes.absent.insert(label);
    } else {
      rows.push_back(static_cast<std::size_t>(row - table.rows.begin()));
    }
  }
  return rows;
}

class StarTests {
 public:
  StarTests(const Table& table, RunTable& runs, const std::vector<std::vector<CellSample>>& samples, TableNotes& notes)
      : table_(table), runs_(runs), samples_(samples), notes_(notes) {}

  /// The largest p of a cell's tests against other rows, as all of them must hold. Nothing if one cannot be made, which
  /// is noted.
  std::optional<double> p_of(std::size_t row, std::size_t column, const std::vector<std::size_t>& against) {
    bool is_tested = true;
    double largest = 0;
    for (const std::size_t other : against) {
      const std::optional<double> p = p_against(row, other, column);
      is_tested = is_tested && p;
      largest = std::max(largest, p.value_or(1));
    }
    return is_tested ? std::optional(largest) : std::nullopt;
  }

 private:
  /// p that two cells differ; 1 where ours is not the better one.
  std::optional<double> p_against(std::size_t row, std::size_t other, std::size_t column) {
    const CellOptions& options = table_.columns[column].cells;
    const ByGroup& theirs = samples_[other][column].by_group;
    if (theirs.empty()) {
      notes_.untested.insert({row, column});
      return std::nullopt;
    }
    const SeedComparison compared = compare_seeds(samples_[row][column].by_group, theirs);
    if (!are_alike(runs_, table_.rows[row].cells[column].rows, table_.rows[other].cells[column].rows, options.value,
                   options.over, compared.is_paired)) {
      notes_.of_other_corpora.insert({row, column});
      return std::nullopt;
    }
    const LimitsTest test = test_limits(compared.difference, Limits::within(0));
    if (!test.p) {
      notes_.untested.insert({row, column});
    } else if (!compared.is_paired) {
      notes_.unpaired.insert({row, column});
    }
    return test.p && !is_better(compared.difference.value, options.better) ? 1 : test.p;
  }

  const Table& table_;
  RunTable& runs_;
  const std::vector<std::vector<CellSample>>& samples_;
  TableNotes& notes_;
};

}  // namespace

void set_stars(Table& table, const Stars& stars, RunTable& runs, const std::vector<std::vector<CellSample>>& samples,
               TableNotes& notes) {
  if (stars.against.empty()) return;
  notes.stars = &stars;
  const std::vector<std::size_t> against = rows_of(table, stars, notes);
  StarTests tests(table, runs, samples, notes);
  struct StarCell {
    std::size_t row;
    std::size_t column;
    std::size_t test;  // its place in p
  };
  std::vector<StarCell> cells;
  std::vector<double> p;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    // The same cells in another form would be the same test again.
    if (options.value != stars.value || options.aggregate != Aggregate::kMean || !options.against.empty()) continue;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      if (!table.rows[r].cells[c].value || std::ranges::count(against, r) > 0) continue;
      const std::optional<double> largest = tests.p_of(r, c, against);
      if (!largest || against.size() != stars.against.size()) {
        notes.unpaired.erase({r, c});
        continue;
      }
      // Another column of the same runs, on all sides, shows the same test.
      const auto same = std::ranges::find_if(cells, [&](const StarCell& known) {
        const auto has_same_runs = [&](std::size_t row) {
          return table.rows[row].cells[known.column].rows == table.rows[row].cells[c].rows;
        };
        return known.row == r && table.columns[known.column].cells.over == options.over && has_same_runs(r) &&
               std::ranges::all_of(against, has_same_runs);
      });
      const std::size_t test = same == cells.end() ? p.size() : same->test;
      cells.push_back({r, c, test});
      if (test == p.size()) p.push_back(*largest);
    }
  }
  notes.tests = p.size();
  if (stars.correct == Correction::kHolm) p = holm(p);
  for (const StarCell& one : cells) {
    TableCell& cell = table.rows[one.row].cells[one.column];
    cell.p = p[one.test];
    cell.star = p[one.test] < stars.p;
  }
}

void relate_to_rows(Table& table, RunTable& runs) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    if (options.against.empty()) continue;
    const auto base_row =
        std::ranges::find_if(table.rows, [&](const TableRow& row) { return row.label == options.against; });
    if (base_row == table.rows.end()) {
      std::vector<std::string> labels;
      for (const TableRow& row : table.rows) labels.push_back(row.label);
      throw UsageError(fmt::format("'against' names the row '{}', which the table '{}' has not{}\nit has: {}",
                                   options.against, table.title, did_you_mean(options.against, labels),
                                   join(labels, ", ")));
    }
    const std::optional<double> base = base_row->cells[c].value;
    for (TableRow& row : table.rows) {
      TableCell& cell = row.cells[c];
      if (!cell.value) continue;
      cell.spread.reset();
      if (!base) {
        cell.value.reset();
        cell.missing = fmt::format("{} has no number", options.against);
      } else if (!have_same_corpora(runs, cell.rows, base_row->cells[c].rows, options.value, "")) {
        cell.value.reset();
        cell.missing = fmt::format("measured on another corpus than {}", options.against);
      } else if (*base == 0 && options.as != RowRelation::kDifference) {
        cell.value.reset();
        cell.missing = fmt::format("{} is 0", options.against);
      } else if (options.as == RowRelation::kDifference) {
        cell.value = *cell.value - *base;
      } else {
        cell.value = *cell.value / *base - (options.as == RowRelation::kChange ? 1 : 0);
      }
    }
  }
}

void mark_best(Table& table, RunTable& runs) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    if (!options.best) continue;
    std::vector<std::vector<std::size_t>> rows;
    for (const TableRow& row : table.rows) rows.push_back(row.cells[c].rows);
    const std::vector<std::set<std::string>> corpora = corpora_of_each(runs, rows, options.value);
    const auto text = [&](std::size_t r) {
      return format_number(*table.rows[r].cells[c].value, options.format, options.digits);
    };
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      TableCell& cell = table.rows[r].cells[c];
      if (!cell.value || corpora[r].size() != 1) continue;
      bool beats_one = false;
      bool beaten = false;
      for (std::size_t other = 0; other < table.rows.size(); ++other) {
        const std::optional<double>& value = table.rows[other].cells[c].value;
        if (!value || corpora[other] != corpora[r] || text(other) == text(r)) continue;
        const bool better = is_better(*cell.value - *value, options.better);
        beats_one = beats_one || better;
        beaten = beaten || !better;
      }
      cell.best = beats_one && !beaten;
    }
  }
}

}  // namespace xlm
