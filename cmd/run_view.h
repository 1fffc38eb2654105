// Runs as text for people: lists, and one run in full.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/terminal.h"
#include "results/run_folder/run_folder.h"
#include "results/store/run_list.h"
#include "results/store/run_table.h"

namespace xlm {

struct ListView {
  double now = 0;  // seconds since 1970
  Terminal terminal;
  std::vector<std::string> columns;  // of the store; empty: the default ones
};

/// A list that fits the terminal, with coloured states.
std::string runs_text(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view);

/// The columns of the store that lists have by default, with what must be said of any of these runs.
std::vector<std::string> default_columns_of(RunTable& runs, const std::vector<std::size_t>& selected);

/// The same as Markdown, or as CSV with full numbers.
std::string runs_table(RunTable& runs, const std::vector<std::size_t>& selected, const ListView& view,
                       TextTable::Format format);

/// Everything about one run. `children` go on from its checkpoints.
std::string run_text(const Run& run, const std::vector<std::string>& children, const ListView& view);

/// Adds what only the run folder knows to the JSON of a run: environment, states, checkpoints, grids, all evaluations.
void add_details(const Run& run, Json& json);

}  // namespace xlm
