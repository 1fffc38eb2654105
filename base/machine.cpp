// What this process may use of its machine.
#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/text.h"

namespace xlm {
namespace {

/// Two numbers of microseconds: processor time, and the time in which it may be used.
std::optional<double> cores_of_quota(const std::string& quota, const std::string& period) {
  std::int64_t used = 0;
  std::int64_t each = 0;
  if (!parse_integer(quota, used) || !parse_integer(period, each) || used <= 0 || each <= 0) return std::nullopt;
  return static_cast<double>(used) / static_cast<double>(each);
}

std::string first_word(const fs::path& file, std::size_t index = 0) {
  std::ifstream stream(file);
  std::string word;
  for (std::size_t i = 0; i <= index; ++i) {
    if (!(stream >> word)) return "";
  }
  return word;
}

/// The least quota of a group and of those that hold it. A container sees its own group as the top of the tree.
double least_quota(const fs::path& tree, const std::string& group, bool is_second_version) {
  double least = HUGE_VAL;
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    const fs::path place = tree / path;
    const auto cores =
        is_second_version
            ? cores_of_quota(first_word(place / "cpu.max"), first_word(place / "cpu.max", 1))
            : cores_of_quota(first_word(place / "cpu.cfs_quota_us"), first_word(place / "cpu.cfs_period_us"));
    least = std::min(least, cores.value_or(HUGE_VAL));
    if (path.empty()) return least;
  }
}

double cores_of_group(const fs::path& root) {
  double least = HUGE_VAL;
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // NUMBER:CONTROLLERS:GROUP; of the second version 0::GROUP
    const std::vector<std::string> parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::vector<std::string> controllers = split(parts[1], ',');
    if (parts[1].empty()) {
      least = std::min(least, least_quota(root / "sys/fs/cgroup", parts[2], true));
    } else if (std::ranges::find(controllers, "cpu") != controllers.end()) {
      least = std::min(least, least_quota(root / "sys/fs/cgroup/cpu", parts[2], false));
    }
  }
  return least;
}

bool names_gpu(const std::string& entry) {
  std::int64_t number = -1;
  return (parse_integer(entry, number) && number >= 0) || entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

}  // namespace

std::int64_t available_cores(const fs::path& root) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  const double cores = std::min(static_cast<double>(CPU_COUNT(&set)), std::ceil(cores_of_group(root)));
  return std::max<std::int64_t>(static_cast<std::int64_t>(cores), 1);
}

std::optional<std::vector<std::string>> named_gpus() {
  if (const char* container = std::getenv("NVIDIA_VISIBLE_DEVICES")) {
    const std::string_view devices = container;
    if (devices == "void" || devices == "none") return std::vector<std::string>();
  }
  const char* named = std::getenv("CUDA_VISIBLE_DEVICES");
  if (named == nullptr) return std::nullopt;
  std::vector<std::string> gpus;
  for (const std::string& part : split(named, ',')) {
    const std::string gpu(trim(part));
    if (!names_gpu(gpu)) break;
    gpus.push_back(gpu);
  }
  return gpus;
}

}  // namespace xlm
