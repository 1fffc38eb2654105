// Launchers: where the workers of a sweep are started. A new one is a WorkerHost, and a line in launchers().
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/launchers/scheduler.h"

namespace xlm {

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  /// `runs` says what they need (their devices); `settings` outlive the host.
  std::unique_ptr<WorkerHost> (*make)(const std::vector<SweepRun>& runs, const LaunchSettings& settings);
};

const std::vector<LauncherEntry>& launchers();

/// Throws UsageError with the nearest right name.
const LauncherEntry& find_launcher(const std::string& name);

/// Does the runs of a sweep with that launcher's workers (see Scheduler::run).
LaunchReport launch(const LauncherEntry& launcher, const std::vector<SweepRun>& runs, const LaunchSettings& settings);

}  // namespace xlm
