// The machines on which the processes of a run are that several do together.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xlm {

/// They share the processes evenly, one block of ranks behind the other.
struct Hosts {
  std::vector<std::string> names =
      {};                    // of nodes of this process's Slurm job, its own first; empty: this machine alone
  std::string address = {};  // of this machine, by which the others reach it; empty: there are no others
  std::string note = {};     // why it is this machine alone where the job has others

  std::int64_t count() const { return names.empty() ? 1 : std::ssize(names); }
  /// How many of so many processes are on each.
  std::int64_t share(std::int64_t processes) const { return processes / count(); }
};

/// Nodes of this process's Slurm job; 1 where it is in none.
std::int64_t job_nodes();

/// Whether these have so many processes of a run to share.
bool is_spread(std::int64_t processes);

/// Where this process and the others of a run of so many are to be: on all nodes of its Slurm job, where it is in one
/// of several. Throws Error if Slurm does not say how another node is reached; with the code kStopped where
/// `should_stop` says so before Slurm answers.
Hosts find_hosts(std::int64_t processes, const std::function<bool()>& should_stop);

/// These nodes of a job, of which `own` is this machine, with that first; without addresses.
Hosts spread(const std::vector<std::string>& nodes, const std::string& own);

/// NodeAddr of what `scontrol show node` prints; "" where there is none.
std::string node_address(std::string_view shown);

/// The address of this machine from which it sends to another, which may be given by name. Nothing is sent. Throws
/// Error if there is no way to it.
std::string address_towards(const std::string& other);

/// The words that start a process on a node of this process's job, before those of the program. It ends as that does.
std::vector<std::string> start_on(const std::string& node);

}  // namespace xlm
