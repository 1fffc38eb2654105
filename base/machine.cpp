// What this process may use of its machine.
#include "base/machine.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/lookup.h"
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

double cores_of_group(const fs::path& root) {
  double least = HUGE_VAL;
  for (const auto& [folder, is_second_version] : control_groups("cpu", root)) {
    const auto cores =
        is_second_version
            ? cores_of_quota(first_word(folder / "cpu.max"), first_word(folder / "cpu.max", 1))
            : cores_of_quota(first_word(folder / "cpu.cfs_quota_us"), first_word(folder / "cpu.cfs_period_us"));
    least = std::min(least, cores.value_or(HUGE_VAL));
  }
  return least;
}

bool names_gpu(const std::string& entry) {
  std::int64_t number = -1;
  return (parse_integer(entry, number) && number >= 0) || entry.starts_with("GPU-") || entry.starts_with("MIG-");
}

}  // namespace

std::vector<ControlGroup> control_groups(std::string_view controller, const fs::path& root) {
  std::vector<ControlGroup> groups;
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {  // NUMBER:CONTROLLERS:GROUP; of the second version 0::GROUP
    const std::size_t controllers = line.find(':') + 1;
    const std::size_t group = line.find(':', controllers) + 1;
    if (controllers == 0 || group == 0) continue;
    const std::string names = line.substr(controllers, group - controllers - 1);
    const bool is_second_version = names.empty();
    if (!is_second_version && !contains(split(names, ','), controller)) continue;
    const fs::path tree = root / "sys/fs/cgroup" / (is_second_version ? "" : controller);
    fs::path inner = fs::path(line.substr(group)).relative_path();
    for (; !inner.empty(); inner = inner.parent_path()) groups.push_back({tree / inner, is_second_version});
    groups.push_back({tree, is_second_version});
  }
  return groups;
}

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
