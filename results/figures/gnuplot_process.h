// Runs gnuplot: a script in, a picture out. No shell is involved, and gnuplot reads and writes no files.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

/// `text` as a gnuplot string: in single quotes, in which nothing is expanded. Control characters become blanks.
std::string gnuplot_string(std::string_view text);

/// What gnuplot writes to its standard output for `script`. `program` is looked up in PATH. Throws Error when it is not
/// installed (saying how to install it) or fails (with what it said).
std::string run_gnuplot(const std::string& script, const std::string& program = "gnuplot");

}  // namespace xlm
