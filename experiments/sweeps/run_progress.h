// A run's progress, read from the end of its journal alone: boards read many journals, often.
#pragma once

#include "base/files.h"
#include "base/json.h"

namespace xlm {

struct RunProgress {
  Json metric;           // the newest metric record; null: none near the end
  Json validation;       // the newest evaluation of the run on validation, with its own settings; likewise
  double pace = 0;       // seconds per step since a worker last started or resumed the run; 0: unknown
  double overhead = 0;   // seconds that a worker which has ended spent on other work than steps: starting, evaluating
  double last_time = 0;  // of the newest record of a worker, seconds since 1970; 0: no record
};

RunProgress read_progress(const fs::path& journal);

/// A number of a record, or 0.
double number_at(const Json& record, const char* key);

}  // namespace xlm
