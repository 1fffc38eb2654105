// xlm sweep with a launcher that puts workers into a queue: preview, submit, wait.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "cmd/command.h"
#include "experiments/launchers/launcher.h"

namespace xlm {

struct QueueOptions {
  std::int64_t jobs = 0;  // workers at most; 0: a few
  fs::path site;          // empty: the default places
  bool anyway = false;
};

/// A sweep that is submitted to a queue.
class QueuedSweep {
 public:
  /// `tree` is the sweep's configuration. Writes nothing. Throws Error if the queue does not answer or would reject
  /// such workers.
  QueuedSweep(const LauncherEntry& launcher, const Yaml& tree, const std::vector<SweepRun>& runs,
              const QueueOptions& options, const GlobalOptions& global);

  /// What would be submitted.
  std::string preview();

  /// Writes the runs' folders, the list and the program, and adds workers to those that exist already.
  void submit();

  /// Prints what was submitted and what to do next.
  void report(const std::string& command) const;

  /// Waits until the workers have done all runs, or no worker is left.
  LaunchReport wait();

 private:
  std::int64_t wanted_workers() const;
  std::string stand() const;

  const GlobalOptions& global_;
  QueueRequest request_;
  std::int64_t jobs_;
  std::unique_ptr<WorkerQueue> queue_;
  std::vector<QueuedWorker> before_;
  std::int64_t added_ = 0;
  std::string said_;
};

/// A site file with facts about the cluster, for the user to complete.
std::string site_file();

}  // namespace xlm
