// What `xlm try` says of a try, and `xlm runs log` of a line.
#pragma once

#include <string>

#include "experiments/sweeps/try_line.h"
#include "results/judgement/limits.h"

namespace xlm {

/// The exit code of an outcome: keep 0, discard 10, undecided 11, broken 12.
int code_of_outcome(const Json& outcome);

/// One line: the verdict, the gain with its interval, at what the sides are equal, what it cost.
std::string outcome_text(const Json& outcome);

/// The same as JSON, shortened to at most 1,000 bytes.
std::string outcome_json(const Json& outcome);

/// The tree of a line's tries: each below the one whose change it was tried against.
std::string line_text(const TryLine& line);
Json line_json(const TryLine& line);

/// What a line says once it is closed: by how much its best is better than its first base.
std::string closing_text(const Json& outcome);

/// Adds the interval of a gain and its p to an outcome, as far as they are known.
void add_interval(Json& outcome, double gain, const LimitsTest& test);

}  // namespace xlm
