// What only the cluster's users know: a file that describes how to request jobs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/launchers/resources.h"
#include "experiments/launchers/site_scheduler.h"

namespace xlm {

/// Machines that share no folder with this one, and the commands that reach them.
struct SiteApart {
  std::vector<std::string> hosts;
  std::string place;            // a folder there, for copies of current folders
  std::string program = "xlm";  // how it is called there
  SiteCommand send;             // the current folder, {folder} of {name}, into {place} of {host}, without {runs} in it
  SiteCommand run;              // {script} there, which takes its standard input and gives its standard output
  std::int64_t jobs = 0;        // runs at once on each; 0: as many as suit it
};

struct Site {
  fs::path file;  // its file; empty: none
  std::string partition;
  std::string account;
  std::string qos;
  Resources resources;                     // for what a sweep leaves unset
  std::optional<double> save;              // seconds before its time ends when a worker is told to save
  std::vector<std::string> directives;     // further options of sbatch, one word each: "--constraint=a100"
  std::vector<std::string> setup;          // shell lines before the program: "module load cuda"
  SiteCommand finally;                     // run at the end of a sweep; may be empty
  std::optional<SiteScheduler> scheduler;  // for --launcher command
  std::optional<SiteApart> apart;          // for --launcher apart
  std::string container;                   // words before the program: "apptainer exec --nv image.sif"
};

/// The site file in use: `named`, or the one that the variable XLM_SITE names, or xlm/site.yaml in $XDG_CONFIG_HOME
/// (~/.config) if it exists; empty: none.
fs::path find_site(const fs::path& named);

/// Reads a site file. An empty name gives the defaults. Throws UsageError with file:line.
Site read_site(const fs::path& file);

}  // namespace xlm
