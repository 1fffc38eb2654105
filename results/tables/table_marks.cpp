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

bool is_better(double a, double b, Better better) { return better == Better::kLower ? a < b : a > b; }

/// p that two cells differ, over their common groups; 1 where ours is not the better one, nothing if fewer than two
/// groups are common.
std::optional<double> test_cells(const ByGroup& own, const ByGroup& other, Better better) {
  const SeedComparison compared = compare_seeds(own, other);
  if (!compared.is_paired || compared.difference.freedom == 0) return std::nullopt;
  const bool is_better = better == Better::kLower ? compared.difference.value < 0 : compared.difference.value > 0;
  return is_better ? *test_limits(compared.difference, Limits::within(0)).p : 1;
}

/// Whether a difference of two cells may be one of their texts: they have not one and the same, nor, where values other
/// than seeds are paired, such as corpora, all of the same.
bool differ_in_corpora(const CellSample& own, const CellSample& other, const std::string& over) {
  if (own.corpora.empty() || other.corpora.empty()) return false;  // no number, which is said otherwise
  return own.corpora != other.corpora || (own.corpora.size() > 1 && over == "seed");
}

/// The rows that a table's stars speak of, as far as it has them.
std::vector<std::size_t> rows_of(const Table& table, const Stars& stars, TableNotes& notes) {
  std::vector<std::size_t> rows;
  for (const std::string& label : stars.against) {
    const auto row = std::find_if(table.rows.begin(), table.rows.end(),
                                  [&](const TableRow& candidate) { return candidate.label == label; });
    if (row == table.rows.end()) {
      notes.absent.insert(label);
    } else {
      rows.push_back(static_cast<std::size_t>(row - table.rows.begin()));
    }
  }
  return rows;
}

/// The rows whose cells print a number of the same single corpus as that of `row`, itself among them.
std::vector<std::size_t> comparable_rows(const Table& table, const std::vector<std::vector<CellSample>>& samples,
                                         std::size_t row, std::size_t column) {
  const std::set<std::string>& corpora = samples[row][column].corpora;
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    if (corpora.size() == 1 && samples[r][column].corpora == corpora) rows.push_back(r);
  }
  return rows;
}

}  // namespace

void set_stars(Table& table, const Stars& stars, const std::vector<std::vector<CellSample>>& samples,
               TableNotes& notes) {
  if (stars.against.empty()) return;
  notes.stars = &stars;
  const std::vector<std::size_t> against = rows_of(table, stars, notes);
  std::vector<TableCell*> cells;
  std::vector<double> p;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    // The same cells in another form would be the same test again.
    if (options.value != stars.value || options.aggregate != Aggregate::kMean || !options.against.empty()) continue;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      if (!table.rows[r].cells[c].value || std::count(against.begin(), against.end(), r) > 0) continue;
      bool tested = against.size() == stars.against.size();
      double largest = 0;
      for (const std::size_t other : against) {
        if (differ_in_corpora(samples[r][c], samples[other][c], options.over)) {
          notes.of_other_corpora.insert({r, c});
          tested = false;
          continue;
        }
        const auto one = test_cells(samples[r][c].by_group, samples[other][c].by_group, options.better);
        if (!one) notes.untested.insert({r, c});
        tested = tested && one;
        largest = std::max(largest, one.value_or(1));
      }
      if (!tested) continue;
      cells.push_back(&table.rows[r].cells[c]);
      p.push_back(largest);
    }
  }
  notes.tests = p.size();
  if (stars.correct == Correction::kHolm) p = holm(p);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    cells[i]->p = p[i];
    cells[i]->star = p[i] < stars.p;
  }
}

void relate_to_rows(Table& table, RunTable& runs) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    if (options.against.empty()) continue;
    const auto base_row = std::find_if(table.rows.begin(), table.rows.end(),
                                       [&](const TableRow& row) { return row.label == options.against; });
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

void mark_best(Table& table, const std::vector<std::vector<CellSample>>& samples) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const CellOptions& options = table.columns[c].cells;
    if (!options.best) continue;
    const auto text = [&](std::size_t r) {
      return format_number(*table.rows[r].cells[c].value, options.format, options.digits);
    };
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      TableCell& cell = table.rows[r].cells[c];
      if (!cell.value) continue;
      bool beats_one = false;
      bool beaten = false;
      for (const std::size_t other : comparable_rows(table, samples, r, c)) {
        if (text(other) == text(r)) continue;
        const bool better = is_better(*cell.value, *table.rows[other].cells[c].value, options.better);
        beats_one = beats_one || better;
        beaten = beaten || !better;
      }
      cell.best = beats_one && !beaten;
    }
  }
}

}  // namespace xlm
