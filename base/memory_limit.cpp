// The memory that this process may use.
#include "base/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "base/machine.h"

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

std::uint64_t limit_of(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

bool ProcessLimits::any() const { return address_space != RLIM_INFINITY || data != RLIM_INFINITY; }

ProcessLimits process_limits() { return {.address_space = limit_of(RLIMIT_AS), .data = limit_of(RLIMIT_DATA)}; }

std::uint64_t memory_limit(const fs::path& root) {
  std::uint64_t least = machine_memory(root);
  for (const auto& [folder, is_second_version] : control_groups("memory", root)) {
    const char* const file = is_second_version ? "memory.max" : "memory.limit_in_bytes";
    least = std::min(least, number_in(folder / file).value_or(kNoLimit));
  }
  return least;
}

}  // namespace xlm
