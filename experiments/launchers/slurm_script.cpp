// Writes the batch script of a sweep's workers.
#include "experiments/launchers/slurm_script.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/launchers/directive.h"
#include "experiments/launchers/worker_script.h"

namespace xlm {
namespace {

constexpr double kMebibyte = 1048576;

/// Shell code that runs when a worker has ended. A cancelled job is COMPLETING by then, and requeueing would bring it
/// back.
constexpr std::string_view kRequeue = R"(state=$(squeue -h -j "$task" -o %T 2>/dev/null)
if [ "$code" = 75 ] && [ "$state" = RUNNING ]; then  # 75: it has saved and stopped, and runs are left
  scontrol requeue "$task"
fi
exit "$code"
)";

/// sbatch splits words like the shell, except that a line end always ends the directive, even in quotes.
void add_directive(std::string& text, const std::string& word) {
  if (word.find_first_of("\n\r") != std::string::npos) {
    throw UsageError(fmt::format("'{}' has a line end: no option of sbatch can have one", printable(word)));
  }
  text += fmt::format("#SBATCH {}\n", shell_word(word));
}

void add_option(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) add_directive(text, fmt::format("--{}={}", name, value));
}

/// A folder for the name of a log, with % doubled: Slurm would replace it. After a backslash Slurm replaces nothing,
/// not even the job's number.
std::string log_of(const fs::path& folder) {
  std::string name;
  for (const char c : folder.string()) name += c == '%' ? "%%" : std::string(1, c);
  if (name.find_first_of("\\\n\r") != std::string::npos) {
    throw UsageError(
        fmt::format("Slurm cannot write logs below {}: its name has a line end or backslash\n"
                    "choose another folder of runs: --runs DIR",
                    printable(join(split(folder.string(), '\n'), "\\n"))));
  }
  return name + "/%A_%a.log";
}

/// Adds a value to an option in the site's directives, if they have it: sbatch takes only the last of two. Returns
/// whether they have it.
bool join_directive(std::vector<std::string>& directives, std::initializer_list<std::string_view> names,
                    const std::string& value) {
  const auto gives = [&](const std::string& directive) {
    return std::ranges::any_of(names, [&](auto name) { return gives_option(directive, name); });
  };
  const auto given = std::find_if(directives.rbegin(), directives.rend(), gives);
  if (given == directives.rend()) return false;
  *given += "," + value;
  return true;
}

}  // namespace

std::string slurm_script(const LaunchRequest& request, const Resources& resources, std::int64_t tasks, bool expedited) {
  const Site& site = request.site;
  std::vector<std::string> directives = site.directives;
  const std::int64_t save = std::llround(request.save);
  std::string text = fmt::format(
      "#!/bin/bash\n# Workers of the sweep {}: each takes the next run that no worker has.\n", request.list.name);
  add_option(text, "job-name", "xlm-" + request.list.name);
  add_option(text, "array", fmt::format("0-{}", tasks - 1));
  add_option(text, "partition", site.partition);
  add_option(text, "account", site.account);
  add_option(text, "qos", site.qos);
  add_option(text, "ntasks", "1");
  add_option(text, "cpus-per-task", fmt::format("{:.0f}", resources.cpus.value));
  const std::string kind = resources.gpu_type.empty() ? "" : resources.gpu_type + ":";
  const std::string gpus = resources.gpus.value > 0 ? fmt::format("gpu:{}{:.0f}", kind, resources.gpus.value) : "";
  if (!gpus.empty() && !join_directive(directives, {"--gres"}, gpus)) add_option(text, "gres", gpus);
  if (resources.memory.known()) {
    add_option(text, "mem", fmt::format("{:.0f}M", std::ceil(resources.memory.value / kMebibyte)));
  }
  if (resources.time.known()) add_option(text, "time", fmt::format("{:.0f}", std::ceil(resources.time.value / 60)));
  text += fmt::format("#SBATCH --signal=B:USR1@{}\n#SBATCH --requeue{}\n#SBATCH --open-mode=append\n", save,
                      expedited ? "=expedite" : "");
  add_option(text, "output", log_of(request.list.folder()));
  const std::string left_out = join(request.exclude, ",");
  if (!left_out.empty() && !join_directive(directives, {"--exclude", "-x"}, left_out)) {
    directives.push_back("--exclude=" + left_out);
  }
  for (const std::string& directive : directives) add_directive(text, directive);
  text += "\ntask=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n";  // a command: sbatch reads no options after it
  text += setup_lines(site);
  text += "# When a worker may be told to save: it begins no run that would not finish before.\n";
  text += "end=$(squeue -h -j \"$task\" -o %e)\n";  // empty: no answer. date would read it as this morning
  text += "end=${end:+$(date -d \"$end\" +%s 2>/dev/null)}\n";
  text += fmt::format("end=${{end:+$((end - {}))}}\n", save);
  return text + worker_lines(request, "USR1") + std::string(kRequeue);
}

}  // namespace xlm
