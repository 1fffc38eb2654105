// Writes the shell lines of a worker's job.
#include "experiments/launchers/worker_script.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

/// Failures within a file that a line sources are that file's own business.
constexpr std::string_view kEndIfALineFails =
    "depth=${#BASH_SOURCE[@]}\ntrap 'code=$?; if [ ${#BASH_SOURCE[@]} = \"$depth\" ]; then "
    "echo \"setup of the site file failed with code $code: $BASH_COMMAND\" >&2; exit \"$code\"; fi' ERR\n";

/// A signal ends `wait` early; the last `wait` gives the worker's exit code.
constexpr std::string_view kWait = R"(wait "$worker"
while kill -0 "$worker" 2>/dev/null; do wait "$worker"; done
wait "$worker"
code=$?
)";

/// A process that tells this script when a worker has to save. It holds no file of the job, so that the job can end.
constexpr std::string_view kTimer =
    "(trap 'kill $!; exit' TERM; sleep {} & wait $!; kill -USR1 $$) </dev/null >/dev/null 2>&1 &\ntimer=$!\n";

}  // namespace

std::string setup_lines(const Site& site) {
  if (site.setup.empty()) return "";
  return fmt::format("{}{}\ntrap - ERR\n", kEndIfALineFails, join(site.setup, "\n"));
}

std::string worker_lines(const LaunchRequest& request, std::string_view signals) {
  const std::string container = request.site.container.empty() ? "" : request.site.container + " ";
  std::string text = fmt::format("{}{} worker --sweep {} ${{end:+--until \"$end\"}} &\nworker=$!\n", container,
                                 shell_word(request.program.string()), shell_word(request.list.file().string()));
  text += "trap 'kill -TERM \"$worker\" 2>/dev/null' TERM INT\n";
  text += fmt::format("trap 'told=1; kill -TERM \"$worker\" 2>/dev/null' {}\n", signals);
  return text + std::string(kWait);
}

std::string queue_script(const LaunchRequest& request, double seconds, int again) {
  std::string text = fmt::format(
      "#!/bin/bash\n# Workers of the sweep {}: each takes the next run that no worker has.\n", request.list.name);
  text += setup_lines(request.site);
  if (seconds > 0) {
    const std::int64_t until_saved = std::llround(seconds - request.save);
    text += fmt::format("end=$(($(date +%s) + {}))\n", until_saved) + fmt::format(kTimer, until_saved);
  }
  text += worker_lines(request, "USR1 USR2");
  if (seconds > 0) text += "kill \"$timer\" 2>/dev/null\n";
  if (again > 0) text += fmt::format("[ \"$code\" = 75 ] && [ -n \"$told\" ] && exit {}\n", again);
  return text + "exit \"$code\"\n";
}

}  // namespace xlm
