// Slots of this machine: a limited number of parallel runs, each a process with its share of cores, or its GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_limit.h"
#include "experiments/launchers/scheduler.h"
#include "experiments/launchers/work_list.h"
#include "experiments/worker/worker_process.h"

namespace xlm {

/// The GPUs that this process may use, if any run may use a GPU.
std::vector<std::string> gpus_for(const std::vector<SweepRun>& runs);

class MachineSlots : public RunSlots {
 public:
  /// Both arguments outlive the slots.
  MachineSlots(const WorkList& list, const LaunchSettings& settings);

  std::size_t count() const override;
  void start(std::size_t slot, const RunStart& start) override;
  std::optional<int> ended(std::size_t slot) override;
  void stop(std::size_t slot) override { workers_.at(slot).process->stop(); }

 private:
  struct Worker {
    std::optional<WorkerProcess> process;
    const SweepRun* run = nullptr;
    double next_look = 0;          // at the journal, for what the run takes
    std::size_t looked_up_to = 0;  // of the journal, in bytes
    bool has_shown_memory = false;
  };

  std::int64_t slots_with_gpus() const;
  std::int64_t slots_with_cores() const;
  std::string gpus_of(std::size_t slot) const;
  std::int64_t runs_at_once() const;
  bool limits_by_memory() const;
  std::int64_t runs_per_gpu() const;
  std::int64_t fitting() const { return fitting_.value_or(1); }
  bool learn_from(const SweepRun& run);
  void look_at(Worker& worker);

  const WorkList& list_;
  const LaunchSettings& settings_;
  std::vector<std::string> gpus_;
  std::int64_t processes_ = 1;  // the most that a run has
  std::int64_t cores_ = 1;      // shared by all runs
  std::int64_t busy_ = 0;       // taken slots
  std::int64_t left_ = 0;       // runs that have not begun
  double memory_ = static_cast<double>(memory_limit());
  std::map<std::size_t, Worker> workers_;  // by slot
  std::optional<std::int64_t> fitting_;    // parallel runs that fit in memory; empty: no run has shown what it needs
};

}  // namespace xlm
