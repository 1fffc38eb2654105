// The beginning of an attempt at a run. environment.json says with what program, where and on what data it is done.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "experiments/worker/work.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// With what an attempt is made, and where.
struct AttemptSetting {
  Json facts = Json::object();  // for environment.json: of what runs, and "device"
  std::int64_t threads = 0;     // of each process
  std::int64_t processes = 1;
  bool resumes = false;  // from what an earlier attempt has saved
  bool fresh = false;    // results of earlier attempts do not count any more
};

/// Adds to environment.json what is known now, and journals that the run is running. Throws UsageError if the run began
/// with another program or kind of device, and `settings` do not allow that.
void begin_attempt(const Run& run, const AttemptSetting& setting, const WorkSettings& settings, JournalSink& sink);

/// The words with which this process was started.
std::vector<std::string> command_line();

}  // namespace xlm
