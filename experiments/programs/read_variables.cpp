// Finds the variables that a program's code names.
#include "experiments/programs/read_variables.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <set>

#include <re2/re2.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "experiments/programs/code_paths.h"

namespace xlm {
namespace {

constexpr std::uintmax_t kLargestCode = 1000000;  // bytes of a file that is looked at

/// Variables of the shell that libraries read, and that may change what is computed: no program names them.
std::set<std::string> of_libraries() {
  static const RE2 families(
      R"((?:JAX|XLA|TF|TORCH|PYTORCH|TORCHINDUCTOR|TRITON|TRANSFORMERS|ACCELERATE|DEEPSPEED|KERAS|FLASH_ATTENTION)"
      R"(|XFORMERS|CUBLAS|CUDNN|NVTE|ATEN|DNNL|ONEDNN)_.*|NVIDIA_TF32_OVERRIDE|PYTHONHASHSEED|MKL_CBWR)");
  static const RE2 of_place(
      R"(.*(?:CACHE|HOME|DIR|PATH|FILE|OFFLINE|LOG|VERBOS|DEBUG|DUMP|ALLOC|THREADS|PROGRESS|TELEMETRY|NCCL|ARCH_LIST|CONFIG$)"
      R"(|COORDINATOR|PROCESS|ADDR|PORT$).*)");
  std::set<std::string> names{"CUBLAS_WORKSPACE_CONFIG"};
  for (char** variable = ::environ; *variable != nullptr; ++variable) {
    const std::string name(*variable, std::strcspn(*variable, "="));
    if (RE2::FullMatch(name, families) && !RE2::FullMatch(name, of_place)) names.insert(name);
  }
  return names;
}

/// Whether a variable says where and by whom a program runs, and not what it computes.
bool is_of_place(const std::string& name) {
  static const RE2 names(
      R"((?:XLM|SLURM|PBS|LSB|SGE|SSH|CONDA|XDG|CUDA_VISIBLE|NVIDIA_VISIBLE|OMP|PYTHONPATH)(?:_.*)?)"
      R"(|MASTER_ADDR|MASTER_PORT|LOCAL_RANK|LOCAL_WORLD_SIZE|LOCAL_SIZE|MKL_(?:NUM|DYNAMIC|THREADING|VERBOSE|DOMAIN).*)"
      R"(|HOME|PATH|PWD|OLDPWD|USER|LOGNAME|HOSTNAME|HOST|SHELL|SHLVL|TERM|LANG|LC_.*|TMP|TEMP|TMPDIR|DISPLAY|COLUMNS|LINES)"
      R"(|RANK|WORLD_SIZE|NODE_RANK|GROUP_RANK|VIRTUAL_ENV|HF_HOME|HF_TOKEN|TORCH_HOME|WANDB_.*|JOB_ID|CI)");
  return RE2::FullMatch(name, names);
}

void add_names(const std::string& text, const RE2& pattern, std::set<std::string>& names) {
  re2::StringPiece rest(text);
  for (std::string name; RE2::FindAndConsume(&rest, pattern, &name);) names.insert(name);
}

void add_variables_named(const std::string& text, bool is_shell, std::set<std::string>& names) {
  static const RE2 in_python(R"re((?:environ(?:\.\w+)?\s*[\[(]|getenv\w*\s*\()\s*["']([A-Za-z_]\w*)["'])re");
  static const RE2 in_shell(R"(\$\{?([A-Za-z_]\w*))");
  static const RE2 in_hydra(R"(oc\.env:([A-Za-z_]\w*))");
  static const RE2 elsewhere(R"(["']([A-Z][A-Z0-9_]+)["'])");  // click's envvar, another name of os.environ
  add_names(text, in_python, names);
  add_names(text, in_hydra, names);
  add_names(text, elsewhere, names);
  if (is_shell) add_names(text, in_shell, names);
}

std::string value_or_hash(const std::string& name, const std::string& value) {
  static const RE2 secret(R"((?i).*(?:token|key|secret|pass|cred|auth|url|dsn).*)");
  constexpr std::size_t kLongest = 40;
  constexpr std::size_t kDigits = 8;
  if (value.size() <= kLongest && !RE2::FullMatch(name, secret)) return repaired_utf8(value);
  return "sha256:" + sha256(value).substr(0, kDigits);
}

}  // namespace

std::map<std::string, std::string> read_variables(const fs::path& folder, const std::vector<std::string>& words,
                                                  const std::map<std::string, std::string>& given) {
  std::set<std::string> names = of_libraries();
  for (const std::string& word : words) add_variables_named(word, true, names);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& file = entry->path();
    if (is_never_code(file.filename())) entry.disable_recursion_pending();
    if (!entry->is_regular_file(error) || !looks_like_code(file.filename().string())) continue;
    if (entry->file_size(error) > kLargestCode) continue;
    try {
      add_variables_named(read_file(file), file.extension() == ".sh", names);
    } catch (const Error&) {
      // A file that cannot be read names none.
    }
  }
  std::map<std::string, std::string> found;
  for (const std::string& name : names) {
    const char* const value = std::getenv(name.c_str());
    if (value != nullptr && !given.contains(name) && !is_of_place(name)) found[name] = value_or_hash(name, value);
  }
  return found;
}

}  // namespace xlm
