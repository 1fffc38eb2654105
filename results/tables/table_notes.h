// Footnotes of a table: how many seeds, which cells are missing and why, what a star means.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "results/tables/table.h"

namespace xlm {

/// What only the computation knows.
struct TableNotes {
  const Stars* stars = nullptr;
  std::size_t tests = 0;                                   // how many cells were tested for a star
  std::set<std::pair<std::size_t, std::size_t>> untested;  // row and column of cells with too few seeds for a test
  std::set<std::string> absent;                            // rows to be tested against that the table does not have
  std::vector<std::string> mixed;  // cells whose runs differ in more than `over`, or not even in that
  std::string mixed_over;          // what they should differ in
  std::set<std::string> mixed_in;  // and what they differ in beside it
  std::vector<std::string> lost;   // cells with runs that ended worse than guessing
  std::string unmet;               // why the table has no runs at all
  std::string length;              // how long the runs train, where they are smaller than the paper's
  std::string paper_length;        // and those of the paper
  std::string windows;             // windows of a row at most, where not the whole split was evaluated
  std::vector<std::string> own;    // what the table's file says
};

std::vector<std::string> table_notes(const Table& table, const TableNotes& notes);

}  // namespace xlm
