// Processes of a user's training (program_of_user_fixture.h) that run in a test's folder.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace xlm {

/// The first process of each.
inline std::vector<pid_t> trainings_in(const fs::path& test_folder) {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    std::int64_t pid = 0;
    if (!parse_integer(entry.path().filename().string(), pid)) continue;
    std::ifstream arguments(entry.path() / "cmdline");
    std::string line;
    for (std::string argument; std::getline(arguments, argument, '\0');) line += argument + " ";
    const std::string folder = fs::read_symlink(entry.path() / "cwd", ignored).string();
    const bool here = folder.starts_with(test_folder.string());
    if (here && line.find("train.py") != std::string::npos) found.push_back(static_cast<pid_t>(pid));
  }
  return found;
}

}  // namespace xlm
