// Where libtorch is, if not where the program was built against.
#include "experiments/worker/libtorch_folder.h"

#include <string>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/shared_library.h"
#include "base/version.h"

namespace xlm {
namespace {

/// torch/lib of the torch wheel in an environment; empty if there is none.
fs::path torch_of_environment(const fs::path& environment) {
  std::error_code error;
  for (const fs::directory_entry& entry : entries_in(environment / "lib")) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    fs::path folder = entry.path() / "site-packages" / "torch" / "lib";
    std::error_code ignored;
    if (fs::exists(folder / "libtorch_cpu.so", ignored)) return folder;
  }
  return {};
}

/// Of the torch wheel that has this folder, without the part behind +; empty if it does not say.
std::string version_of(const fs::path& folder) {
  const fs::path file = folder.parent_path() / "version.py";
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return "";
  const std::string text = read_file(file);
  const std::string key = "__version__ = '";
  const std::size_t begin = text.find(key);
  if (begin == std::string::npos) return "";
  const std::string rest = text.substr(begin + key.size());
  return rest.substr(0, rest.find_first_of("+'\n"));
}

fs::path checked(const fs::path& folder, const char* found_by) {
  const std::string version = version_of(folder);
  if (version.empty() || version == kTorchVersion) return folder;
  throw UsageError(
      fmt::format("{}: {} is of torch {}, and this program needs torch {}\n"
                  "install that version in an environment: pip install torch=={}",
                  found_by, folder.string(), version, kTorchVersion, kTorchVersion));
}

}  // namespace

fs::path libtorch_folder(const fs::path& own) {
  if (const std::string named = environment_text("XLM_LIBTORCH"); !named.empty()) return checked(named, "XLM_LIBTORCH");
  std::error_code ignored;
  if (!is_portable() || fs::exists(own, ignored)) return {};
  const fs::path neighbour =
      own.parent_path().parent_path().parent_path() / "torch" / "lib";  // wheels in one environment
  if (fs::exists(neighbour / own.filename(), ignored)) return checked(neighbour, "torch");
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string environment = environment_text(name);
    const fs::path folder = environment.empty() ? fs::path() : torch_of_environment(environment);
    if (!folder.empty()) return checked(folder, name);
  }
  throw UsageError(
      fmt::format("this portable folder has no libtorch, and no active environment has torch\n"
                  "activate one (pip install torch=={}), or set XLM_LIBTORCH to the folder of libtorch_cpu.so",
                  kTorchVersion));
}

}  // namespace xlm
