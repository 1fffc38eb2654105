// What the store keeps together as one JSON text: numbers by name, series, grids, traces. SQLite's json_each takes them
// apart again, number for number, in the views of docs/store.md. Private to the store.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/run_folder/run_folder.h"

namespace xlm {

/// {name: value}
std::string packed_numbers(const std::map<std::string, double>& numbers);

/// {step: value}
std::string packed_series(const RunSeries& series);

/// [[row from 1, column, value]] of all places that have a number.
std::string packed_grid(const RunGrid& grid);

/// [[token, value]]; `values` are as many as `tokens`.
std::string packed_trace(const std::vector<std::string>& tokens, const std::vector<double>& values);

}  // namespace xlm
