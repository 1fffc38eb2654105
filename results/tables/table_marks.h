// What is marked in a table: stars on cells that beat other rows, and the best cells of a column.
#pragma once

#include <vector>

#include "results/judgement/pairing.h"
#include "results/tables/table.h"
#include "results/tables/table_notes.h"

namespace xlm {

/// What the number of a cell was made of.
struct CellSample {
  ByGroup by_group;
  std::vector<KeyApart> apart;  // in which keys its runs are not the paper's
};

/// Relates the cells of columns with `against` to those of the row of that label, as `as` says; they lose their
/// spread, which is that of the number itself. Cells of other corpora have no relation. Throws UsageError if there is
/// no such row.
void relate_to_rows(Table& table, RunTable& runs);

/// Stars the cells that are better than each row of `stars.against` by a two-sided t-test as xlm compare makes it: over
/// common seeds, or Welch's if fewer than two are in common. The p of a cell is the largest of its tests, as all of
/// them must hold, and 1 where its mean is not better; over the cells of the table it is corrected as `stars.correct`
/// says. Cells of different corpora, or of several at once, are not tested. Notes which cells and rows could not be.
void set_stars(Table& table, const Stars& stars, RunTable& runs, const std::vector<std::vector<CellSample>>& samples,
               TableNotes& notes);

/// Marks the best cells of the columns that ask for it: those to which no cell of the same corpus prints a better
/// number, and some cell prints a worse one. Cells of several corpora at once are left alone.
void mark_best(Table& table, RunTable& runs);

}  // namespace xlm
