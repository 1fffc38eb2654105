// How the program of a run is started: its command, its variables, and its code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "experiments/configuration/configuration.h"
#include "experiments/programs/metric_description.h"
#include "experiments/programs/program_process.h"
#include "experiments/runs/program_paths.h"

namespace xlm {

struct ProgramSetting {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> places;  // what placeholders stand for, besides options
  std::string device;                         // "cpu" or "cuda"
};

/// `resumes`: it goes on from its checkpoints.
ProgramSetting program_setting(const RunConfiguration& run, const ProgramPaths& paths, std::int64_t threads,
                               bool resumes);
/// The same to evaluate `split` of the run's data: `program.command` of `run` makes the evaluation.
ProgramSetting evaluation_setting(const RunConfiguration& run, const ProgramPaths& paths, std::int64_t threads,
                                  const std::string& split);

/// What placeholders stand for, besides options.
std::map<std::string, std::string> places_of(const RunConfiguration& run, const ProgramPaths& paths);

/// How the program's output is read: its own metrics, with whole paths.
std::vector<MetricDescription> described_metrics(const ProgramOptions& program,
                                                 const std::map<std::string, std::string>& places,
                                                 const fs::path& work);

/// The configuration of a program's run, as this user submitted it. Throws DataError if others changed it.
RunConfiguration submitted_configuration(const Run& run);

/// Puts the frozen code into the folder in which the program runs, over what is there. Throws Error if the frozen code
/// is missing or damaged.
void put_code(const fs::path& place, const std::string& hash, const fs::path& work);

/// Removes the files of the code from the folder that are still as they were frozen.
void take_code(const fs::path& place, const std::string& hash, const fs::path& work);

/// What starts it, in the copy of its code. `output` gets what it says.
ProgramCommand command_of(const ProgramSetting& setting, const ProgramOptions& program, const ProgramPaths& paths,
                          std::function<void(std::string_view)> output);

}  // namespace xlm
