// environment.json, and what the machine offers.
#include "experiments/environment.h"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"
#include "experiments/core_library.h"
#include "experiments/process.h"

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

bool is_gpu_node(const std::string& name) {
  std::int64_t index = 0;
  return name.rfind("nvidia", 0) == 0 && parse_integer(name.substr(6), index);
}

}  // namespace

Json worker_environment(Json submitted, Core& core, const RunOptions& options,
                        const std::vector<std::string>& command) {
  Json environment = submitted.is_object() ? std::move(submitted) : Json::object();
  environment["xlm"] = kVersion;
  environment["commit"] = kCommit;
  const ProgramFiles program = program_files();
  environment["executable_sha256"] = sha256_file(program.executable);
  if (fs::is_regular_file(program.core_library)) environment["core_sha256"] = sha256_file(program.core_library);
  for (const auto& [key, value] : core.environment(options.device)) environment[key] = value;
  environment["host"] = this_process().host;
  environment["threads"] = options.train.threads;
  environment["command"] = command;
  return environment;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::int64_t available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max<std::int64_t>(CPU_COUNT(&set), 1);
}

std::vector<std::string> visible_gpus() {
  if (const char* named = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::vector<std::string> gpus;
    for (const std::string& part : split(named, ',')) {
      const std::string gpu(trim(part));
      if (gpu.empty() || gpu == "-1") break;  // CUDA, too, stops at the first one that is not there
      gpus.push_back(gpu);
    }
    return gpus;
  }
  std::int64_t count = count_entries("/proc/driver/nvidia/gpus", [](const std::string&) { return true; });
  if (count == 0) count = count_entries("/dev", is_gpu_node);
  std::vector<std::string> gpus;
  for (std::int64_t i = 0; i < count; ++i) gpus.push_back(std::to_string(i));
  return gpus;
}

}  // namespace xlm
