// Footnotes of a table: how many seeds, which cells are missing and why, what a star means.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "results/table.h"

namespace xlm {

/// What only the computation knows.
struct TableNotes {
  const Stars* stars = nullptr;
  std::set<std::string> untested;  // comparisons without enough seeds
  std::vector<std::string> mixed;  // cells with several runs of one seed
  std::string mixed_over;
};

std::vector<std::string> table_notes(const Table& table, const TableNotes& notes);

}  // namespace xlm
