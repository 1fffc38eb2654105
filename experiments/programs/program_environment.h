// With what a foreign program runs: its interpreter and packages, or its container.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

struct ProgramEnvironment {
  /// For environment.json: "executable" (the file that starts), and one of
  /// "interpreter", "python" (its version), "packages" {name: version};
  /// "container" (kind), "image" (as named), "image_id".
  Json facts = Json::object();
  /// 16 digits: the same for the same packages and version, or the same image, or the same executable, on every
  /// machine; empty if nothing is known.
  std::string fingerprint;
  std::string note;  // for the log: what could not be found out; empty: nothing
};

/// Finds out with what a command runs: by the interpreter it starts (also of a console script such as torchrun or
/// accelerate, of a virtual environment, and through `uv run`, `conda run`, `env` and their like), or by the container
/// that it names. It starts the interpreter for a moment, at most `seconds` long. Throws as find_executable, and
/// UsageError if the interpreter does not work, with what it says.
ProgramEnvironment find_program_environment(const std::vector<std::string>& words, const fs::path& folder,
                                            const std::map<std::string, std::string>& environment, double seconds = 60);

/// Whether a command is a shell's, and it or a script of `folder` that it names has Python in it.
bool starts_python_by_a_shell(const std::vector<std::string>& words, const fs::path& folder);

/// The text of experiments/programs/python_facts.py.
std::string_view python_facts_script();

/// How two environments of one run differ, in words, for --anyway: "torch 2.1.0 instead of 2.0.1, no numpy"; "" if
/// they do not.
std::string changed_packages(const Json& before, const Json& now);

}  // namespace xlm
