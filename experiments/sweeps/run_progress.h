// How far a run is, from the end of its journal alone: boards look often, and at many runs.
#pragma once

#include "base/files.h"
#include "base/json.h"

namespace xlm {

struct RunProgress {
  Json metric;           // the newest metric record; null: there is none near the end
  double pace = 0;       // seconds per step since a worker last began or went on; 0: not known
  double beside = 0;     // seconds that an ended worker spent on other things than steps: starting, evaluating
  double last_time = 0;  // of the newest record of any kind, seconds since 1970; 0: there is none
};

RunProgress read_progress(const fs::path& journal);

/// A number of a record, or 0.
double number_at(const Json& record, const char* key);

}  // namespace xlm
