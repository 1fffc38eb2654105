// The only list of launchers.
#include "experiments/launchers/launcher.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

const std::vector<LauncherEntry>& launchers() {
  static const std::vector<LauncherEntry> table{
      {"local", "runs on this machine, which share its cores and GPUs", true, true, make_local_launcher},
      {"slurm", "jobs of a Slurm cluster", false, false, make_slurm_launcher},
      {"command", "jobs of another queue, or workers over ssh, by the commands of the site file", false, false,
       make_command_launcher},
      {"apart", "machines that share no folder: sends them this one, and merges what they did", true, false,
       make_apart_launcher},
      {"manual", "only queues the runs and prints how to start a worker", false, false, make_manual_launcher},
  };
  return table;
}

const LauncherEntry& find_launcher(const std::string& name) {
  std::vector<std::string> names;
  for (const LauncherEntry& entry : launchers()) {
    if (entry.name == name) return entry;
    names.emplace_back(entry.name);
  }
  throw UsageError(
      fmt::format("there is no launcher '{}'{}; there are {}", name, did_you_mean(name, names), join(names, ", ")));
}

std::optional<std::vector<QueuedWorker>> status_of_workers(const fs::path& runs,
                                                           const std::vector<std::string>& lists) {
  std::optional<std::vector<QueuedWorker>> all;
  for (const LauncherEntry& entry : launchers()) {
    const auto found = entry.make()->status(runs, lists);
    if (!found) continue;
    if (!all) all.emplace();
    all->insert(all->end(), found->begin(), found->end());
  }
  return all;
}

void cancel_waiting_workers(const fs::path& runs, const std::string& list) {
  for (const LauncherEntry& entry : launchers()) entry.make()->cancel(runs, list);
}

}  // namespace xlm
