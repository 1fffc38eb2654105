// What the machine offers to runs.
#include "experiments/runs/machine_resources.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <new>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/text.h"

namespace xlm {
namespace {

/// 0 if the user has not set it, or not to a number of threads that train.threads could be.
std::int64_t threads_of_openmp() {
  constexpr std::int64_t kMaxThreads = 4096;
  const std::string named = environment_text("OMP_NUM_THREADS");
  std::int64_t count = 0;
  const bool is_number = parse_integer(trim(split(named, ',').front()), count);
  return is_number && count > 0 && count <= kMaxThreads ? count : 0;
}

bool is_gpu_node(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  std::int64_t index = 0;
  return name.rfind("nvidia", 0) == 0 && parse_integer(name.substr(6), index);
}

}  // namespace

std::int64_t default_threads(std::int64_t share, std::int64_t processes) {
  if (const std::int64_t asked = threads_of_openmp(); asked > 0) return asked;
  return std::max<std::int64_t>((share > 0 ? share : available_cores()) / processes, 1);
}

std::int64_t memory_kills() {
  const std::vector<ControlGroup> groups = control_groups("memory");
  const auto own = std::ranges::find_if(groups, &ControlGroup::is_second_version);
  const fs::path events = own == groups.end() ? fs::path() : own->folder / "memory.events";
  for (const fs::path& place : {events, fs::path("/proc/vmstat")}) {
    std::ifstream file(place);
    std::int64_t count = 0;
    for (std::string name; file >> name >> count;) {
      if (name == "oom_kill") return count;
    }
  }
  return 0;
}

double job_memory() {
  std::int64_t megabytes = 0;
  return parse_integer(environment_text("SLURM_MEM_PER_NODE"), megabytes) ? static_cast<double>(megabytes) * 1048576
                                                                          : 0;
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
  std::int64_t count = std::ssize(entries_in("/proc/driver/nvidia/gpus"));
  if (count == 0) count = std::ranges::count_if(entries_in("/dev"), is_gpu_node);
  std::vector<std::string> gpus;
  for (std::int64_t i = 0; i < count; ++i) gpus.push_back(std::to_string(i));
  return gpus;
}

}  // namespace xlm
