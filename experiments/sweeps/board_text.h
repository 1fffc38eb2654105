// A sweep's board as text and as JSON: a table of the runs that fits a terminal, and a line about all of them.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "experiments/sweeps/board_rows.h"

namespace xlm {

/// The text of a board's rows and of the keys in which they differ.
class BoardText {
 public:
  /// Both arguments outlive it.
  BoardText(const std::vector<std::string>& keys, const std::vector<BoardRow>& rows) : keys_(keys), rows_(rows) {}

  /// "3 of 12 runs ended, 1 failed, 2 running, about 4 min 10 s left". Counts all runs of the sweep, also those of
  /// other workers and of earlier commands.
  std::string summary() const;

  /// One line for each run. On a terminal it fits width and height, with `taken` lines less. Columns are left out until
  /// it fits, the least important first; progress, time left and loss stay longest.
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
