// A sweep's board as people and programs read it: the rows as a table that fits a terminal, a line about the whole, and
// all of it as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "experiments/sweeps/board_rows.h"

namespace xlm {

/// Rows of a board with the keys that their values belong to.
class BoardText {
 public:
  /// Both outlive it.
  BoardText(const std::vector<std::string>& keys, const std::vector<BoardRow>& rows) : keys_(keys), rows_(rows) {}

  /// "3 of 12 runs ended, 1 failed, 2 running, about 4 min 10 s left". All runs of the sweep count, whoever did them
  /// and whenever.
  std::string summary() const;

  /// A row for each run, in lines of the terminal: columns go, the least important first, until it fits. How far a run
  /// is, its time left and its loss go last. On a terminal as many rows as it has room for, beside `taken` lines.
  std::string table(const Terminal& terminal, int taken) const;

  /// How far one run is, as a plain line.
  std::string line(const BoardRow& row) const;

  Json json() const;

 private:
  struct Cells;
  struct Column;
  struct Layout;

  static Cells cells_of(const BoardRow& row, bool compact);
  std::vector<Column> columns() const;
  Layout layout() const;
  Layout compact_layout(const Layout& whole) const;
  std::string render(const Layout& layout, const Terminal& terminal, int taken) const;
  std::vector<std::string> short_hashes(std::size_t least) const;
  std::vector<bool> shown_rows(std::size_t room) const;
  static Colour colour_of(const BoardRow& row);

  const std::vector<std::string>& keys_;
  const std::vector<BoardRow>& rows_;
};

}  // namespace xlm
