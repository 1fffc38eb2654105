// The Python in which the program asks libraries of its user: Optuna, matplotlib.
#pragma once

#include <cstdlib>
#include <string>

namespace xlm {

/// XLM_PYTHON, or python3 of PATH.
inline std::string python_program() {
  const char* named = std::getenv("XLM_PYTHON");  // NOLINT(concurrency-mt-unsafe)
  return named == nullptr || *named == '\0' ? "python3" : named;
}

}  // namespace xlm
