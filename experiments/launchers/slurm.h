// Slurm, asked through its commands: the cluster, its queue, and submission.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files.h"
#include "experiments/launchers/launcher.h"

namespace xlm {

/// What workers need to know about a partition.
struct SlurmPartition {
  std::string name;
  bool is_default = false;
  double time_limit = 0;    // seconds; 0: none
  double default_time = 0;  // of a job that requests none; 0: the limit
  std::int64_t cpus = 0;    // of its smallest node
  std::int64_t most_cpus = 0;
  std::int64_t gpus = 0;  // of the node with the most
  // Of the nodes with GPUs that have the fewest CPUs for each:
  std::int64_t share_cpus = 0;
  std::int64_t share_gpus = 0;
};

struct SlurmCluster {
  std::string name;
  std::string version;
  std::int64_t max_array = 1001;
  bool counts_memory = false;  // jobs may request memory
  std::vector<SlurmPartition> partitions;

  /// The partition of that name, or what a job may get of several with commas between them; "" gives the default one.
  /// Throws UsageError that lists the partitions.
  SlurmPartition partition(const std::string& name) const;

  /// Whether `--requeue=expedite` lets jobs of failed nodes start first (from 25.11 on).
  bool has_expedited_requeue() const;
};

/// Throws Error if no Slurm answers.
SlurmCluster ask_cluster();

/// Whether this machine has Slurm's commands.
bool is_slurm_here();

/// Waiting and running jobs of that name, or of several names with commas between them; array tasks one by one. Throws
/// Error if no Slurm answers.
std::vector<QueuedWorker> queued_workers(const std::string& job_name);

struct SlurmNode {
  std::string name;
  bool usable = false;  // takes jobs, now or when its present ones end
};

/// Adds the output of `sinfo -o "%P|%l|%L|%c|%G|%D"` about partitions.
void read_partitions(SlurmCluster& cluster, const std::string& text);

/// Reads the output of `sinfo -N -o "%N|%T"` about nodes.
std::vector<SlurmNode> read_nodes(const std::string& text);

/// The nodes of a partition. Throws Error if no Slurm answers.
std::vector<SlurmNode> nodes_of(const std::string& partition);

/// sbatch's own words about when the job of a script, given as its text, would start. Throws UsageError with sbatch's
/// message if it refuses the script.
std::string test_submission(const std::string& script);

/// The number of a job in what sbatch printed, in the last line that is one: a site's own sbatch may print other lines
/// first, and sentences; "" if there is none.
std::string job_number_in(const std::string& printed);

/// Submits a script, given as its text, as an array of `tasks`. Returns the job's number. Throws Error if there is
/// none.
std::string submit_array(const std::string& script, std::int64_t tasks);

/// The state of a job or array task that may have ended: TIMEOUT, NODE_FAIL. Slurm knows it for a while; its
/// accounting, if there is one, knows it longer. "" if neither knows it.
std::string job_state(const std::string& job);

/// Cancels jobs of that name that have not started. Does nothing if there is no Slurm.
void cancel_waiting_jobs(const std::string& job_name);

/// Seconds of "1-02:03:04", "2:03:04", "30:00" or "15" (minutes); 0 for anything else, such as "infinite".
double slurm_seconds(std::string_view text);

}  // namespace xlm
