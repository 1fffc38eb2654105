// Where the files of a program are in its run folder.
#pragma once

#include <vector>

#include "base/files.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Where things of a program are in its run folder, besides those of RunPaths.
struct ProgramPaths {
  fs::path folder;            // of the run, absolute; empty: the names within it
  fs::path reports = folder;  // where it reports: the same, or a folder of one evaluation

  fs::path work() const { return folder / "work"; }                       // a copy of its code, in which it runs
  fs::path metrics() const { return reports / "metrics.jsonl"; }          // XLM_METRICS
  fs::path output() const { return reports / "output.txt"; }              // what it says
  fs::path config() const { return reports / "config.json"; }             // XLM_CONFIG
  fs::path position() const { return folder / "metrics.position.json"; }  // up to where its output has been read

  /// What an attempt leaves for the next one. These belong together: one without the others is of no use.
  std::vector<fs::path> state() const { return {RunPaths{folder}.checkpoints(), work(), metrics(), position()}; }
};

}  // namespace xlm
