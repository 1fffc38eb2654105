// Runs gnuplot on a script and returns the picture. Uses no shell; gnuplot reads and writes no files.
#pragma once

#include <string>

namespace xlm {

/// That of a portable folder, which is next to the executable; else the one in PATH.
std::string gnuplot_program();

/// The standard output of gnuplot for `script`. `program` is searched in PATH. Throws Error with gnuplot's message if
/// it fails, or with installation advice if it is missing.
std::string run_gnuplot(const std::string& script, const std::string& program = gnuplot_program());

}  // namespace xlm
