// Launchers start the workers of a sweep, which take their runs from a work list. A new launcher is a file with a
// class, and a line in launchers().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/site.h"
#include "experiments/launchers/work_list.h"

namespace xlm {

/// A sweep to launch.
struct LaunchRequest {
  WorkList list;
  Resources asked;  // resources in the sweep's file
  Site site;
  fs::path program;                // the program that workers run
  std::vector<std::string> sweep;  // words behind `xlm sweep` that name the same runs elsewhere
  LaunchSettings settings = {};    // of a worker in this process
  double save = 0;                 // seconds before its time ends when a worker is told to save; set by the launcher
  std::vector<std::string> exclude = {};  // machines that workers must not get; set by the launcher
};

/// A worker that waits or runs, as a cluster's queue reports it.
struct QueuedWorker {
  std::string id;      // the queue's name for it: "12_3"
  std::string state;   // the queue's word: PENDING
  std::string reason;  // why it waits; may be empty
  std::string host;    // where it runs; may be empty
  bool waits = false;
};

/// The outcome of a start.
struct Launched {
  std::string text;                    // what was done, as text for the user
  std::optional<LaunchReport> report;  // how the sweep ended, if the launcher waited for that
};

class Launcher {
 public:
  virtual ~Launcher() = default;

  /// What `count` workers would request, and when they would start if that is known, as text for the user. Sets what
  /// the request leaves open: list.cores, list.runs_per_gpu, save, exclude. Throws Error if such workers cannot be
  /// started. Nothing is written or started. The request outlives the launcher.
  virtual std::string preview(LaunchRequest& request, std::int64_t count) = 0;

  /// Starts `count` workers of a previewed request. Its runs must be submitted and its list written.
  virtual Launched start(LaunchRequest& request, std::int64_t count) = 0;

  /// Workers of some lists of a folder of runs, by the lists' names, that wait or run. Returns nullopt if that is
  /// unknown. Throws Error if a queue does not answer.
  virtual std::optional<std::vector<QueuedWorker>> status(const fs::path& /*runs*/,
                                                          const std::vector<std::string>& /*lists*/) {
    return std::nullopt;
  }

  /// Cancels workers of a list that have not started.
  virtual void cancel(const fs::path& /*runs*/, const std::string& /*list*/) {}

  /// How many workers to start at most if no number is given.
  virtual std::int64_t usual_workers(const LaunchRequest& /*request*/) const { return 8; }
};

/// Each is in a file of that name.
std::unique_ptr<Launcher> make_local_launcher();
std::unique_ptr<Launcher> make_slurm_launcher();
std::unique_ptr<Launcher> make_command_launcher();
std::unique_ptr<Launcher> make_apart_launcher();
std::unique_ptr<Launcher> make_manual_launcher();

struct LauncherEntry {
  std::string_view name;
  std::string_view summary;
  bool waits;  // its workers exit with the command, which runs until the sweep has ended
  bool here;   // they are on this machine
  std::unique_ptr<Launcher> (*make)();
};

const std::vector<LauncherEntry>& launchers();

/// Throws UsageError with the most similar name.
const LauncherEntry& find_launcher(const std::string& name);

/// The workers of all launchers together. Returns nullopt if no launcher knows its workers.
std::optional<std::vector<QueuedWorker>> status_of_workers(const fs::path& runs, const std::vector<std::string>& lists);

/// Cancels workers of a list that have not started, with all launchers.
void cancel_waiting_workers(const fs::path& runs, const std::string& list);

}  // namespace xlm
