// The batch script of a sweep's workers.
#include "experiments/launchers/slurm_script.h"

#include <cmath>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr double kMebibyte = 1048576;

/// What the shell does once the worker is started. Slurm tells it, and it tells the worker; a signal ends `wait` early,
/// and the last `wait` gives the worker's own code. A cancelled job is COMPLETING by then: requeueing would bring it
/// back.
constexpr std::string_view kWaitAndRequeue = R"(worker=$!
trap 'kill -TERM "$worker" 2>/dev/null' TERM USR1
wait "$worker"
while kill -0 "$worker" 2>/dev/null; do wait "$worker"; done
wait "$worker"
code=$?
state=$(squeue -h -j "$task" -o %T 2>/dev/null)
if [ "$code" = 75 ] && [ "$state" = RUNNING ]; then  # 75: it has saved and stopped, and runs are left
  scontrol requeue "$task"
fi
exit "$code"
)";

void add_option(std::string& text, std::string_view name, const std::string& value) {
  if (!value.empty()) text += fmt::format("#SBATCH --{}={}\n", name, value);
}

/// A folder in the name of a log: quoted, as it may have blanks, and with nothing that sbatch would fill in.
std::string log_of(const fs::path& folder) {
  std::string name;
  for (const char c : folder.string()) name += c == '%' ? "%%" : std::string(1, c);
  return fmt::format("\"{}/%A_%a.log\"", name);
}

/// The site's options of sbatch. Of an option that is given twice the last counts, so the machines to be left out join
/// those that the site leaves out.
std::vector<std::string> directives_of(const QueueRequest& request) {
  std::vector<std::string> directives = request.site.directives;
  if (request.exclude.empty()) return directives;
  const std::string nodes = join(request.exclude, ",");
  for (std::string& directive : directives) {
    for (const std::string_view option : {"--exclude=", "--exclude ", "-x "}) {
      if (!directive.starts_with(option)) continue;
      directive += "," + nodes;
      return directives;
    }
  }
  directives.push_back("--exclude=" + nodes);
  return directives;
}

}  // namespace

std::string slurm_script(const QueueRequest& request, const Resources& resources, std::int64_t tasks) {
  const Site& site = request.site;
  const std::int64_t save = std::llround(request.save);
  std::string text = fmt::format("#!/bin/bash\n# Workers of the sweep {}: each takes the next run that nobody has.\n",
                                 request.list.name);
  add_option(text, "job-name", "xlm-" + request.list.name);
  add_option(text, "array", fmt::format("0-{}", tasks - 1));
  add_option(text, "partition", site.partition);
  add_option(text, "account", site.account);
  add_option(text, "qos", site.qos);
  const std::int64_t nodes = count_nodes(resources);
  if (nodes > 1) add_option(text, "nodes", std::to_string(nodes));
  add_option(text, "ntasks", std::to_string(nodes));  // the script runs on the first alone
  if (nodes > 1) add_option(text, "ntasks-per-node", "1");
  add_option(text, "cpus-per-task", fmt::format("{:.0f}", resources.cpus.value));
  if (resources.gpus.value > 0) add_option(text, "gres", fmt::format("gpu:{:.0f}", resources.gpus.value));
  if (resources.memory.known()) {
    add_option(text, "mem", fmt::format("{:.0f}M", std::ceil(resources.memory.value / kMebibyte)));
  }
  if (resources.time.known()) add_option(text, "time", fmt::format("{:.0f}", std::ceil(resources.time.value / 60)));
  text += fmt::format("#SBATCH --signal=B:USR1@{}\n#SBATCH --requeue\n#SBATCH --open-mode=append\n", save);
  add_option(text, "output", log_of(request.list.folder()));
  for (const std::string& directive : directives_of(request)) text += fmt::format("#SBATCH {}\n", directive);
  text += "\n";
  for (const std::string& line : site.setup) text += line + "\n";
  text += "task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\n";
  text += "# The moment from which a worker may be told to save: it begins nothing that it would not finish before.\n";
  text += "end=$(squeue -h -j \"$task\" -o %e)\n";  // empty: no answer, which date would take for this morning
  text += "end=${end:+$(date -d \"$end\" +%s 2>/dev/null)}\n";
  text += fmt::format("end=${{end:+$((end - {}))}}\n", save);
  const std::string container = site.container.empty() ? "" : site.container + " ";
  text += fmt::format("{}{} worker --sweep {} ${{end:+--until \"$end\"}} &\n", container,
                      shell_word(request.program.string()), shell_word(request.list.file().string()));
  return text + std::string(kWaitAndRequeue);
}

}  // namespace xlm
