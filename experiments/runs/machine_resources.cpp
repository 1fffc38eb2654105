// What the machine offers to runs.
#include "experiments/runs/machine_resources.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"

namespace xlm {
namespace {

/// Entries of `folder` that `counts` accepts.
template <class Predicate>
std::int64_t count_entries(const fs::path& folder, Predicate counts) {
  std::int64_t count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (counts(entry->path().filename().string())) ++count;
  }
  return count;
}

/// 0 if the user has not set it, or not to a number of threads that train.threads could be.
std::int64_t threads_of_openmp() {
  constexpr std::int64_t kMaxThreads = 4096;
  const char* named = std::getenv("OMP_NUM_THREADS");
  std::int64_t count = 0;
  const bool is_number = named != nullptr && parse_integer(std::string(trim(split(named, ',').front())), count);
  return is_number && count > 0 && count <= kMaxThreads ? count : 0;
}

bool is_gpu_node(const std::string& name) {
  std::int64_t index = 0;
  return name.rfind("nvidia", 0) == 0 && parse_integer(name.substr(6), index);
}

}  // namespace

std::int64_t default_threads(std::int64_t share, std::int64_t processes) {
  if (const std::int64_t asked = threads_of_openmp(); asked > 0) return asked;
  return std::max<std::int64_t>((share > 0 ? share : available_cores()) / processes, 1);
}

std::int64_t memory_kills() {
  std::string group;  // cgroup version 2: 0::/path
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  for (const std::string& place : {"/sys/fs/cgroup" + group + "/memory.events", std::string("/proc/vmstat")}) {
    std::ifstream file(place);
    std::int64_t count = 0;
    for (std::string name; file >> name >> count;) {
      if (name == "oom_kill") return count;
    }
  }
  return 0;
}

double job_memory() {
  const char* megabytes = std::getenv("SLURM_MEM_PER_NODE");
  std::int64_t count = 0;
  return megabytes != nullptr && parse_integer(megabytes, count) ? static_cast<double>(count) * 1048576 : 0;
}

void check_threads(std::int64_t count) {
  std::atomic<bool> end = false;
  std::vector<std::thread> threads;
  std::string cause;
  try {
    while (std::ssize(threads) < count) threads.emplace_back([&end] { end.wait(false); });
  } catch (const std::system_error& error) {
    cause = error.code().message();
  } catch (const std::bad_alloc&) {
    cause = "out of memory";
  }
  end = true;
  end.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (cause.empty()) return;
  throw ResourceError(
      fmt::format("train.threads: this process can start only {} of {} threads: {}\nlower train.threads or give the "
                  "process more memory",
                  threads.size(), count, cause));
}

std::vector<std::string> visible_gpus() {
  if (const auto named = named_gpus()) return *named;
  std::int64_t count = count_entries("/proc/driver/nvidia/gpus", [](const std::string&) { return true; });
  if (count == 0) count = count_entries("/dev", is_gpu_node);
  std::vector<std::string> gpus;
  for (std::int64_t i = 0; i < count; ++i) gpus.push_back(std::to_string(i));
  return gpus;
}

}  // namespace xlm
