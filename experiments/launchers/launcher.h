// Launchers: how the workers of a sweep are started, which take their runs from a work list. A new one is a file with a
// class, and a line in launchers().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/site.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

/// A sweep that is to be launched.
struct LaunchRequest {
  WorkList list;
  Resources asked;  // what the sweep's file says of resources
  Site site;
  fs::path program;              // that the workers run
  LaunchSettings settings = {};  // of a worker in this process
  double save = 0;  // seconds before a worker's time is over at which it is told to save; set by the launcher
  std::vector<std::string> exclude = {};  // machines that workers are not to have; set by the launcher
};

/// A worker that waits or runs, as a cluster's queue sees it.
struct QueuedWorker {
  std::string id;      // by which the queue knows it: "12_3"
  std::string state;   // in the queue's own word: PENDING
  std::string reason;  // why it waits, or nothing
  std::string host;    // where it runs, or nothing
  bool waits = false;
};

/// What became of a start.
struct Launched {
  std::string text;                    // what was done, for people
  std::optional<LaunchReport> report;  // how the sweep ended, if the launcher waited for that
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// What `count` workers would be asked for with, and when they would start if that is known, for people. Decides what
  /// the request leaves open: list.cores, list.runs_per_gpu, save, exclude. Throws Error if such workers cannot be
  /// started. Nothing is written or started. The request outlives the launcher.
  virtual std::string preview(LaunchRequest& request, std::int64_t count) = 0;

  /// Starts `count` workers of a request that was previewed. Its runs have been submitted, and its list is written.
  virtual Launched start(LaunchRequest& request, std::int64_t count) = 0;

  /// Workers of some lists, by the lists' names, that wait or run; nullopt if that is unknown. Throws Error if a queue
  /// does not answer.
  virtual std::optional<std::vector<QueuedWorker>> status(const std::vector<std::string>& /*lists*/) {
    return std::nullopt;
  }

  /// Cancels those workers of a list that have not started.
  virtual void cancel(const std::string& /*list*/) {}
};

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  bool waits;  // its workers end with the command, which stays until the sweep has ended
  std::unique_ptr<Launcher> (*make)();
};

const std::vector<LauncherEntry>& launchers();

/// Throws UsageError with the nearest right name.
const LauncherEntry& find_launcher(const std::string& name);

/// The status of workers with all launchers together; nullopt if none knows it.
std::optional<std::vector<QueuedWorker>> status_of_workers(const std::vector<std::string>& lists);

/// Cancels those workers of a list that have not started, with all launchers.
void cancel_waiting_workers(const std::string& list);

}  // namespace xlm
