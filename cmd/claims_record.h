// What `xlm claims` writes into the chain of records: claims before their runs, and the opening of a sealed test.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cmd/command.h"
#include "cmd/recipe_view.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

struct ClaimsOptions : RecipeOptions {
  fs::path file;
  std::string format;
  fs::path out;
  bool registers = false;
  bool opens = false;
  fs::path page;
  std::string verify;
  std::optional<double> power;  // how much single runs vary; 0: as the store says
  std::vector<std::string> overrides;
};

/// Writes down what is claimed and which runs are to say it. Prints the line that proves it.
int register_claims(const ClaimsOptions& options, const GlobalOptions& global);

/// Measures the test of these runs, each once, and records that it is open if it was sealed in one of them. `of`: what
/// the record says besides the runs. Runs of programs have measured what they measure.
void open_test_of(const std::vector<Run>& runs, Json of, const GlobalOptions& global);

/// Records that the sealed test of all runs of the sweep is open, and measures it. What was opened before is not
/// recorded again. Throws UsageError if a run seals nothing, and DataError if one is not done.
void open_test(const ClaimsOptions& options, const GlobalOptions& global);

}  // namespace xlm
