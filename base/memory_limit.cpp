// The memory that this process may use.
#include "base/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"

namespace xlm {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t machine_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string name;
  for (std::uint64_t kilobytes = 0; file >> name >> kilobytes; file.ignore(256, '\n')) {
    if (name == "MemTotal:") return kilobytes * 1024;
  }
  return kNoLimit;
}

/// The number in a file; nullopt if there is none, or "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The smallest of the limits in `file` of a group and of the groups above it.
std::uint64_t least_limit(const fs::path& mount, const fs::path& group, const std::string& file) {
  std::uint64_t least = kNoLimit;
  for (fs::path inner = group.relative_path();; inner = inner.parent_path()) {
    least = std::min(least, number_in(mount / inner / file).value_or(kNoLimit));
    if (inner.empty()) return least;
  }
}

std::uint64_t limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

bool ProcessLimits::any() const { return address_space != RLIM_INFINITY || data != RLIM_INFINITY; }

ProcessLimits process_limits() { return {.address_space = limit_of(RLIMIT_AS), .data = limit_of(RLIMIT_DATA)}; }

std::uint64_t memory_limit(const fs::path& root) {
  std::uint64_t least = machine_memory(root);
  std::ifstream groups(root / "proc/self/cgroup");
  const fs::path mount = root / "sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:GROUP
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t group = line.find(':', controllers) + 1;
    if (controllers == 0 || group == 0) continue;
    const std::string names = line.substr(controllers, group - controllers - 1);
    if (names.empty()) least = std::min(least, least_limit(mount, line.substr(group), "memory.max"));
    const std::vector<std::string> all = split(names, ',');
    if (std::ranges::find(all, "memory") != all.end()) {
      least = std::min(least, least_limit(mount / "memory", line.substr(group), "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace xlm
