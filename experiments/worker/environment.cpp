// environment.json: with what program, where and on what data a run was done.
#include "experiments/worker/environment.h"

#include <fstream>

#include "base/sha256.h"
#include "base/version.h"
#include "experiments/runs/process_identity.h"
#include "experiments/worker/core_library.h"

namespace xlm {
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
  environment["processes"] = options.train.processes;
  environment["command"] = command;
  return environment;
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

}  // namespace xlm
