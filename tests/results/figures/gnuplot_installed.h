// Whether gnuplot is installed. The shell decides it, not the code under test.
#pragma once

#include <cstdlib>

namespace xlm {

inline bool gnuplot_is_installed() { return std::system("command -v gnuplot >/dev/null 2>&1") == 0; }

}  // namespace xlm
