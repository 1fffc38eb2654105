// The processes of a program, found in /proc. Nothing here throws: a process may end while it is looked at.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace xlm {

/// One living process; those that have ended and were not waited for do not count.
struct TreeProcess {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

/// All processes below `root`, without it. They include those that it adopts as a subreaper.
std::vector<TreeProcess> descendants_of(pid_t root);

/// Kills the children of `parent`, each as soon as it is seen: one that only forks and exits is gone a moment later.
void kill_children(pid_t parent);

/// Bytes of main memory that these take together: the sum of their proportional shares, or of their resident sizes if
/// the system does not tell those.
double memory_of(const std::vector<TreeProcess>& processes);

/// Kills every process of this machine with NAME=VALUE in its environment, but not this one and those that it comes
/// from. Looks again until there is none left, or the seconds are over. `left` gets how many are. Returns how many
/// there were.
std::int64_t kill_with_variable(const std::string& name, const std::string& value, double seconds, std::int64_t& left);

}  // namespace xlm
