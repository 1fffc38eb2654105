// Runs gnuplot.
#include "results/figures/gnuplot_process.h"

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/files.h"
#include "base/shared_library.h"
#include "base/text.h"

namespace xlm {
namespace {

/// gnuplot's error message has several lines. Takes the line with "error", or else the last one.
std::string essence(const std::string& complaint) {
  std::string last;
  for (const std::string& line : split(complaint, '\n')) {
    if (!trim(line).empty() && trim(line) != "^") last = trim(line);
  }
  return last.empty() ? "it gave no reason" : last;
}

}  // namespace

std::string gnuplot_program() {
  const fs::path own = executable_path().parent_path() / "xlm-gnuplot";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : "gnuplot";
}

std::string run_gnuplot(const std::string& script, const std::string& program) {
  constexpr double kLongest = 3600;  // seconds, far more than any figure takes
  const CommandResult drawn = run_command({program, "-d"}, script, kLongest);  // -d: without the user's settings
  if (drawn.code == kNoProgram) {
    throw Error("gnuplot, which draws figures, is not installed\nto install it: apt-get install gnuplot-nox");
  }
  if (drawn.code != 0 || drawn.out.empty()) {
    throw Error(fmt::format("gnuplot could not draw the figure: {}", essence(drawn.err)));
  }
  return drawn.out;
}

}  // namespace xlm
