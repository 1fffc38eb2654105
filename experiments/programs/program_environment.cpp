// With what a foreign program runs.
#include "experiments/programs/program_environment.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "experiments/programs/container_image.h"
#include "experiments/programs/executable.h"
#include "experiments/programs/program_process.h"

namespace xlm {
namespace {

constexpr std::size_t kFingerprintDigits = 16;
constexpr std::size_t kMaxFacts = 16000000;  // bytes that an interpreter may say
constexpr std::uintmax_t kLargestHashed = 1000000000;
constexpr std::size_t kNamedChanges = 5;
constexpr std::string_view kFactsMark = "xlm-python-facts ";

std::string program_name(const std::string& word) { return fs::path(word).filename().string(); }

/// python, python3, python3.11, pypy3, pythonw
bool is_python(const std::string& word) {
  static const RE2 names(R"((?:python|pypy|pythonw|ipython)[\d.]*)");
  return RE2::FullMatch(program_name(word), names);
}

/// Programs that choose an environment and start another program in it, after "run".
bool is_manager(const std::string& word) {
  static const std::set<std::string> names{"uv",   "poetry", "pipenv", "pdm",   "hatch",
                                           "pixi", "rye",    "conda",  "mamba", "micromamba"};
  return names.count(program_name(word)) > 0;
}

/// Programs that start another one as it is.
bool is_wrapper(const std::string& word) {
  static const std::set<std::string> names{"env",    "nice",    "nohup",    "stdbuf",  "taskset", "numactl",
                                           "time",   "timeout", "setsid",   "ionice",  "chrt",    "srun",
                                           "mpirun", "mpiexec", "unbuffer", "xvfb-run"};
  return names.count(program_name(word)) > 0;
}

bool is_shell(const std::string& word) {
  static const std::set<std::string> names{"sh", "bash", "dash", "zsh", "ksh", "fish", "make", "just"};
  return names.count(program_name(word)) > 0;
}

/// Without wrappers and their options: from the first word on that is Python, a manager, a container, or a program of
/// the environment. `env` stays, as it changes where programs are looked for.
std::vector<std::string> unwrapped(const std::vector<std::string>& words) {
  if (words.empty() || !is_wrapper(words[0])) return words;
  static const std::set<std::string> known{"torchrun",    "accelerate", "deepspeed", "apptainer",
                                           "singularity", "docker",     "podman"};
  const auto inner = std::find_if(words.begin() + 1, words.end(), [](const std::string& word) {
    return is_python(word) || is_manager(word) || known.count(program_name(word)) > 0;
  });
  return {inner, words.end()};
}

/// The words that start the interpreter of a command; empty if it has none that is known.
std::vector<std::string> interpreter_words(const std::vector<std::string>& words, const fs::path& folder,
                                           const std::map<std::string, std::string>& environment) {
  const std::vector<std::string> inner = unwrapped(words);
  if (inner.empty()) return {};
  if (program_name(words[0]) == "env" && is_python(inner[0])) {
    return {words.begin(), words.end() - std::ssize(inner) + 1};
  }
  if (is_python(inner[0])) return {inner[0]};
  if (is_manager(inner[0])) {
    const auto python = std::find_if(inner.begin() + 1, inner.end(), is_python);
    if (python != inner.end()) return {inner.begin(), python + 1};
    const auto script = std::find_if(inner.begin() + 1, inner.end(), [](const std::string& word) {
      return word.ends_with(".py") || word == "torchrun" || word == "accelerate" || word == "deepspeed";
    });
    std::vector<std::string> found{inner[0], "run"};
    if (script != inner.end()) found.assign(inner.begin(), script);
    found.emplace_back("python");
    return found;
  }
  const std::vector<std::string> shebang = script_interpreter(find_executable(inner, folder, environment));
  const auto python = std::ranges::find_if(shebang, is_python);
  if (python == shebang.end()) return {};
  std::vector<std::string> found{shebang.begin(), python + 1};
  found.erase(std::remove(found.begin(), found.end(), "-S"), found.end());  // env's, which splits the line
  return found;
}

std::string short_hash(const std::string& text) { return sha256(text).substr(0, kFingerprintDigits); }

/// What an interpreter says, asked; nullopt if it does not say it in time.
std::optional<Json> ask_interpreter(std::vector<std::string> words, const fs::path& folder,
                                    const std::map<std::string, std::string>& environment, double seconds) {
  const std::string shown = join(words, " ");
  words.emplace_back("-c");
  words.emplace_back(python_facts_script());
  std::string said;
  const auto take = [&said](std::string_view piece) {
    if (said.size() < kMaxFacts) said.append(piece);
  };
  ProgramProcess program({.words = words, .folder = folder, .environment = environment, .log = {}, .output = take});
  constexpr std::chrono::milliseconds kWait{50};
  while (program.poll(kWait)) {
    if (program.usage().wall_seconds > seconds) return std::nullopt;
  }
  const std::size_t mark = said.rfind(kFactsMark);
  const std::string line = mark == std::string::npos ? "" : first_line(said.substr(mark + kFactsMark.size()));
  std::optional<Json> facts = parse_json_if_any(line);
  if (program.end().is_success() && facts && facts->is_object()) return facts;
  throw UsageError(
      fmt::format("the interpreter {} does not work: {}\n{}\nmake its environment again, or name another one", shown,
                  reason_of(program.end()), program.end().last_lines));
}

void add_python(ProgramEnvironment& found, const Json& said) {
  std::string all = "python " + said.value("python", "") + "\n";
  for (const auto& [key, value] : said.items()) found.facts[key] = value;
  if (said.contains("packages") && said["packages"].is_object()) {
    std::map<std::string, std::string> sorted;
    for (const auto& [name, version] : said["packages"].items()) {
      if (version.is_string()) sorted[name] = version.get<std::string>();
    }
    for (const auto& [name, version] : sorted) all += name + " " + version + "\n";
  } else {
    found.note = "its Python cannot list its packages: importlib.metadata needs Python 3.8";
  }
  found.fingerprint = short_hash(all);
}

void add_container(ProgramEnvironment& found, const ContainerImage& container) {
  found.facts["container"] = container.program;
  found.facts["image"] = container.image;
  if (!container.id.empty()) found.facts["image_id"] = container.id;
  if (container.id.empty()) {
    found.note = fmt::format("whether {} is the same image at every attempt is not known: name it with its digest",
                             container.image);
  }
  found.fingerprint = short_hash(container.id.empty() ? container.image : container.id);
}

}  // namespace

ProgramEnvironment find_program_environment(const std::vector<std::string>& words, const fs::path& folder,
                                            const std::map<std::string, std::string>& environment, double seconds) {
  ProgramEnvironment found;
  const fs::path executable = find_executable(words, folder, environment);
  found.facts["executable"] = executable.lexically_normal().string();
  if (const std::optional<ContainerImage> container = container_image(unwrapped(words), folder)) {
    add_container(found, *container);
    return found;
  }
  const std::vector<std::string> interpreter = interpreter_words(words, folder, environment);
  if (!interpreter.empty()) {
    if (const std::optional<Json> said = ask_interpreter(interpreter, folder, environment, seconds)) {
      add_python(found, *said);
    } else {
      found.note =
          fmt::format("{} did not list its packages within {}", join(interpreter, " "), human_duration(seconds));
    }
    return found;
  }
  std::error_code ignored;
  if (is_shell(words[0]) || is_wrapper(words[0]) || fs::file_size(executable, ignored) > kLargestHashed) return found;
  found.facts["executable_sha256"] = sha256_file(executable);
  found.fingerprint = short_hash(text_member(found.facts, "executable_sha256"));
  return found;
}

bool starts_python_by_a_shell(const std::vector<std::string>& words, const fs::path& folder) {
  constexpr std::uintmax_t kMaxScript = 1 << 16;
  if (words.empty() || !is_shell(words[0])) return false;
  return std::any_of(words.begin() + 1, words.end(), [&](const std::string& word) {
    std::error_code error;
    if (word.find("python") != std::string::npos) return true;
    const fs::path script = folder / word;
    if (!fs::is_regular_file(script, error) || fs::file_size(script, error) > kMaxScript) return false;
    return read_file(script).find("python") != std::string::npos;
  });
}

std::string changed_packages(const Json& before, const Json& now) {
  std::vector<std::string> changes;
  const auto compare = [&changes](const std::string& what, const std::string& old, const std::string& present) {
    if (old == present) return;
    if (present.empty()) {
      changes.push_back(fmt::format("no {}", what));
    } else {
      changes.push_back(old.empty() ? fmt::format("{} {}, which was missing", what, present)
                                    : fmt::format("{} {} instead of {}", what, present, old));
    }
  };
  compare("python", text_member(before, "python"), text_member(now, "python"));
  compare("image", text_member(before, "image"), text_member(now, "image"));
  compare("image id", text_member(before, "image_id"), text_member(now, "image_id"));
  compare("executable", text_member(before, "executable_sha256"), text_member(now, "executable_sha256"));
  const Json none = Json::object();
  const auto packages = [&none](const Json& facts) {
    const auto found = facts.find("packages");
    return found != facts.end() && found->is_object() ? *found : none;
  };
  const Json old = packages(before);
  const Json present = packages(now);
  std::set<std::string> names;
  for (const auto& [name, version] : old.items()) names.insert(name);
  for (const auto& [name, version] : present.items()) names.insert(name);
  for (const std::string& name : names)
    compare(name, text_member(old, name.c_str()), text_member(present, name.c_str()));
  if (changes.size() > kNamedChanges) {
    const std::size_t others = changes.size() - kNamedChanges;
    changes.resize(kNamedChanges);
    changes.push_back(fmt::format("{} other changes", others));
  }
  return join(changes, ", ");
}

}  // namespace xlm
