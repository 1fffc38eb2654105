// Footnotes of a table: how many seeds, which cells are missing and why, what a star means.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

/// What only the computation knows.
struct TableNotes {
  const Stars* stars = nullptr;
  std::size_t tests = 0;                                   // how many cells were tested for a star
  std::set<std::pair<std::size_t, std::size_t>> untested;  // row and column of cells with too few seeds for a test
  std::set<std::pair<std::size_t, std::size_t>> unpaired;  // the same of those that were tested without pairs
  std::set<std::pair<std::size_t, std::size_t>> of_other_corpora;  // the same of those that no test can compare
  std::map<std::string, std::set<std::string>> texts;  // by corpus: rows or cells, if nothing names the difference
  std::set<std::string> absent;                        // rows to be tested against that the table does not have
  std::vector<std::string> mixed;  // cells whose runs differ in more than `over`, or not even in that
  std::string mixed_over;          // what they should differ in
  std::set<std::string> mixed_in;  // and what else they differ in
  std::vector<std::string> lost;   // cells with runs that ended worse than guessing
  std::map<std::string, std::vector<std::string>> without;  // by why: cells whose runs do not all have a number
  std::string left_out;                                     // how many runs, and why
  std::string unfrozen;                                     // code of programs that is in no copy
  std::string unmet;                                        // why the table has no runs at all
  std::string length;                // how long the runs train, if they are not configured as the paper's
  std::string paper_length;          // and those of the paper
  std::string windows;               // windows of a row at most, where not the whole split was evaluated
  std::string budgets;               // whether the runs trained with equal arithmetic, if one has a budget
  std::set<std::string> fallbacks;   // KEY=VALUE where another sweep should have chosen the value
  std::vector<std::string> choices;  // which settings were chosen, and by what
  std::vector<std::string> own;      // what the table's file says
};

/// "Gumbel/test", or the row alone if the table has one column.
std::string cell_name(const Table& table, std::size_t row, std::size_t column);

/// "Cells: valid bpc; test: test bpc." with the values of `also`; empty if the labels of all columns tell that.
std::string what_cells_show(const Table& table, const std::vector<TableColumn>& also);

/// "the best valid bpc of a column by the digits …"; empty if no cell is marked.
std::string what_is_best(const Table& table);

std::vector<std::string> table_notes(const Table& table, const TableNotes& notes);

/// All footnotes of a table in whose form the best cells are set apart so: "Bold", "▸".
std::vector<std::string> footnotes(const Table& table, std::string_view best_mark);

}  // namespace xlm
