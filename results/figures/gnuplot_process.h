// Runs gnuplot: a script in, a picture out. No shell is involved, and gnuplot reads and writes no files.
#pragma once

#include <string>

namespace xlm {

/// What gnuplot writes to its standard output for `script`. `program` is looked up in PATH. Throws Error when it is not
/// installed (saying how to install it) or fails (with what it said).
std::string run_gnuplot(const std::string& script, const std::string& program = "gnuplot");

}  // namespace xlm
