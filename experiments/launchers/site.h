// What only the cluster's users know of it: a file that says how jobs are to be asked for here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/launchers/resources.h"

namespace xlm {

struct Site {
  fs::path file;  // where this stands; empty: nowhere
  std::string partition;
  std::string account;
  std::string qos;
  Resources resources;                  // where a sweep does not say them
  std::optional<double> save;           // seconds before its time is over at which a worker is told to save
  std::vector<std::string> directives;  // further options of sbatch, each one word: "--constraint=a100"
  std::vector<std::string> setup;       // lines of the shell before the program: "module load cuda"
  std::string container;                // words before the program: "apptainer exec --nv image.sif"
};

/// The file that counts: `named`, otherwise what the variable XLM_SITE names, otherwise xlm/site.yaml in
/// $XDG_CONFIG_HOME (~/.config), where it is there; empty: none.
fs::path find_site(const fs::path& named);

/// Reads it; an empty name gives the defaults. Throws UsageError with file:line.
Site read_site(const fs::path& file);

}  // namespace xlm
