// The only list of launchers.
#include "experiments/launchers/launcher.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {

std::unique_ptr<Launcher> make_local_launcher();

const std::vector<LauncherEntry>& launchers() {
  static const std::vector<LauncherEntry> table{
      {"local", "workers on this machine, its cores and GPUs shared out", make_local_launcher},
  };
  return table;
}

std::unique_ptr<Launcher> make_launcher(const std::string& name) {
  std::vector<std::string> names;
  for (const LauncherEntry& entry : launchers()) {
    if (entry.name == name) return entry.make();
    names.emplace_back(entry.name);
  }
  throw UsageError(
      fmt::format("there is no launcher '{}'{}; there is {}", name, did_you_mean(name, names), join(names, ", ")));
}

}  // namespace xlm
