// Slurm, asked through its own commands: what the cluster is like, what waits there, and submitting.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/launchers/launcher.h"

namespace xlm {

/// A partition, as far as workers care.
struct SlurmPartition {
  std::string name;
  bool is_default = false;
  double time_limit = 0;    // seconds; 0: none
  double default_time = 0;  // that a job gets which does not ask for any; 0: the limit
  std::int64_t cpus = 0;    // of its smallest node
  std::int64_t most_cpus = 0;
  std::int64_t gpus = 0;  // of the node with most
  std::int64_t nodes = 0;
};

struct SlurmCluster {
  std::string name;
  std::string version;
  std::int64_t max_array = 1001;
  bool counts_memory = false;  // jobs may ask for memory
  std::vector<SlurmPartition> partitions;

  /// The one of that name; with "" the default one. Throws UsageError that names those there are.
  const SlurmPartition& partition(const std::string& name) const;
};

/// Throws Error where no Slurm answers here.
SlurmCluster ask_cluster();

/// Whether this machine has Slurm's commands.
bool is_slurm_here();

/// Jobs of that name, or of several with commas between them, that wait or run, array tasks one by one. Throws Error
/// where no Slurm answers.
std::vector<QueuedWorker> queued_workers(const std::string& job_name);

struct SlurmNode {
  std::string name;
  bool usable = false;  // it takes jobs, now or when its present ones end
};

/// Adds what `sinfo -o "%P|%l|%L|%c|%G|%D"` says of partitions.
void read_partitions(SlurmCluster& cluster, const std::string& text);

/// What `sinfo -N -o "%N|%T"` says of nodes.
std::vector<SlurmNode> read_nodes(const std::string& text);

/// A partition's nodes. Throws Error where no Slurm answers.
std::vector<SlurmNode> nodes_of(const std::string& partition);

/// sbatch's estimate of when the job of a script, given as its text, would start, in its own words. Throws UsageError
/// with sbatch's complaint where it would refuse the script.
std::string test_submission(const std::string& script);

/// Submits a script, given as its text, as an array of so many tasks; the job's number. Throws Error where there is
/// none.
std::string submit_array(const std::string& script, std::int64_t tasks);

/// The state of a job or array task that may have ended: TIMEOUT, NODE_FAIL. Slurm itself knows it for a while, its
/// accounting for longer, where there is one; "" where neither knows it.
std::string job_state(const std::string& job);

/// Cancels those jobs of that name that have not started. Nothing where there is no Slurm.
void cancel_waiting_jobs(const std::string& job_name);

/// Seconds of "1-02:03:04", "2:03:04", "30:00" or "15" (minutes); 0 for anything else, such as "infinite".
double slurm_seconds(std::string_view text);

}  // namespace xlm
