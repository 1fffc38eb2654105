// The end of a line of tries: its test is opened once.
#pragma once

#include <string>

#include "cmd/command.h"

namespace xlm {

/// Measures the test of the line's best and of what its first try was against, on the seeds that both have, prints how
/// much better the best is, and records it: the line takes no further try. A line that is closed prints what it has.
/// `value`: column of the test; empty: that of the line's tries, of test in place of valid. Throws DataError.
int close_line(const std::string& name, const std::string& value, const GlobalOptions& global);

}  // namespace xlm
