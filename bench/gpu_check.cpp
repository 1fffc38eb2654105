// Checks a device: kernels, recorded steps, resuming, losses, time and memory, each against a stated bound. It is meant
// for a GPU on which the program has never run. It also runs on a CPU, so that tests can cover it.
//   gpu_check [--device D] [--size paper|small|least] [--threads N] [--seed N] [--out FOLDER] [--within TIME]
//   [SECTION…]
// --within 6min measures steps first, for half of that time, and then checks what the rest of it has room for.
// Writes a page and the same numbers as JSON into FOLDER. Exit code 1: a check failed.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/progress.h"
#include "base/text.h"
#include "base/version.h"
#include "bench/checks.h"
#include "core/api/interface.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

struct CheckSection {
  const char* name;
  const char* title;
  std::vector<Check> (*check)(const CheckJob& job);
};

constexpr std::array kSections{
    CheckSection{"kernels", "Kernels and compositions against the plain version", check_kernels},
    CheckSection{"recorded", "Recorded steps against unrecorded ones", check_recorded_steps},
    CheckSection{"windows", "Recomputed windows against kept ones", check_windows},
    CheckSection{"losses", "Training against the CPU in float32", check_losses},
    CheckSection{"resuming", "Stopped and resumed runs against whole ones (train.deterministic)", check_resuming},
    CheckSection{"steps", "Step time against the arithmetic limit, and memory", check_steps},
};

struct CheckOptions {
  std::string device = "auto";
  std::optional<CheckSize> size;
  std::int64_t threads = 0;
  std::int64_t seed = 0;
  fs::path out = "gpu-check";
  std::vector<std::string> sections;
  double within = 0;  // seconds for everything; 0: as long as it takes
};

/// "6min", "90s" or a number of seconds; nullopt for anything else.
std::optional<double> seconds_in(const std::string& text) {
  const bool minutes = text.ends_with("min");
  const std::string number = text.substr(0, text.size() - (minutes ? 3 : text.ends_with("s") ? 1 : 0));
  double value = 0;
  if (!parse_real(number, value) || value <= 0) return std::nullopt;
  return minutes ? 60 * value : value;
}

/// Runs `work` in a child process and returns its JSON. After an illegal access on a GPU every later call of the
/// process fails, and settings such as train.deterministic hold for a whole process. This process never opens CUDA. A
/// child that still runs at `deadline`, in monotonic_seconds, is killed: the result is then {"left_out": true}.
Json in_child_process(const std::function<Json()>& work, double deadline = INFINITY) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw Error("cannot make a pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error("cannot start a process");
  if (child == 0) {
    ::close(ends[0]);
    Json result;
    try {
      result = work();
    } catch (const c10::Error& error) {
      result["error"] = error.what_without_backtrace();
    } catch (const std::exception& error) {
      result["error"] = error.what();
    }
    const std::string text = json_text(result);
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t written = ::write(ends[1], text.data() + at, text.size() - at);
      if (written <= 0) ::_exit(1);
      at += static_cast<std::size_t>(written);
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  bool late = false;
  for (;;) {
    const double left = std::min(deadline - monotonic_seconds(), 1.0);
    late = left <= 0;
    if (late) ::kill(child, SIGKILL);
    pollfd readable{.fd = ends[0], .events = POLLIN, .revents = 0};
    if (!late && ::poll(&readable, 1, static_cast<int>(1000 * left) + 1) == 0) continue;
    const ssize_t got = late ? 0 : ::read(ends[0], buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (late) return {{"left_out", true}};
  if (WIFSIGNALED(status)) return {{"error", fmt::format("its process was ended by signal {}", WTERMSIG(status))}};
  // A library may have called exit.
  if (WEXITSTATUS(status) != 0 || text.empty()) {
    return {{"error", fmt::format("its process ended without a result (exit code {})", WEXITSTATUS(status))}};
  }
  return parse_json(text, "the process of a check");
}

/// A new folder for the files of the checks; it is removed at the end.
class WorkFolder {
 public:
  WorkFolder() {
    std::string name = (fs::temp_directory_path() / "xlm-gpu-check-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error("cannot make a folder in " + fs::temp_directory_path().string());
    path_ = name;
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Json to_json(const std::vector<Check>& checks) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back(
        {{"name", check.name}, {"bound", check.bound}, {"measured", check.measured}, {"passed", check.passed}});
  }
  return {{"checks", list}};
}

Json run_section(const CheckSection& section, const CheckOptions& options, const fs::path& work, double deadline) {
  const double begin = monotonic_seconds();
  const auto check = [&] {
    keep_freed_memory();
    RunOptions settings;
    settings.device = options.device;
    settings.train.threads = options.threads;
    CheckJob job{.device = prepare_device(settings)};
    job.size = options.size.value_or(job.device.is_cuda() ? CheckSize::kPaper : CheckSize::kSmall);
    job.work = work / section.name;
    job.seed = static_cast<std::uint64_t>(options.seed);
    if (options.within > 0) job.until = begin + 0.5 * options.within;
    return to_json(section.check(job));
  };
  Json result = in_child_process(check, deadline);
  if (result.contains("left_out")) result = to_json({{.name = section.name, .bound = "", .measured = "no time"}});
  if (result.contains("error")) {
    result = to_json({{.name = section.name,
                       .bound = "does not end with an error",
                       .measured = result["error"].get<std::string>(),
                       .passed = false}});
  }
  result["section"] = section.name;
  result["title"] = section.title;
  return result;
}

/// A text as a cell of a Markdown table.
std::string cell(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '|', '/');
  return text;
}

std::string page_of(const Json& all) {
  std::string page =
      fmt::format("# What holds on {}\n\nWritten by `gpu_check` of {}: {} passed, {} failed.\n\n",
                  all["device"].value("device", "") == "cpu" ? "a CPU" : all["device"].value("gpu", "a GPU"),
                  all["version"].get<std::string>(), all["passed"].dump(), all["failed"].dump());
  page += "| device | |\n| --- | --- |\n";
  for (const auto& [key, value] : all["device"].items()) {
    page += fmt::format("| {} | {} |\n", key, cell(value.get<std::string>()));
  }
  for (const Json& section : all["sections"]) {
    page += fmt::format("\n## {}\n\n| | bound | measured | |\n| --- | --- | --- | --- |\n",
                        section["title"].get<std::string>());
    for (const Json& check : section["checks"]) {
      page += fmt::format("| {} | {} | {} | {} |\n", cell(check["name"].get<std::string>()),
                          cell(check["bound"].get<std::string>()), cell(check["measured"].get<std::string>()),
                          check["bound"] == ""          ? "left out"
                          : check["passed"].get<bool>() ? "passed"
                                                        : "**failed**");
    }
  }
  return page;
}

int check_device(const CheckOptions& options) {
  create_folders(options.out);
  const WorkFolder work;
  Json all;
  all["version"] = fmt::format("xlm {}", kVersion);
  all["device"] = in_child_process([&] {
    Json facts;
    for (const auto& [key, value] : xlm_core()->environment(options.device)) facts[key] = value;
    if (options.threads > 0) at::set_num_threads(static_cast<int>(options.threads));
    facts["threads"] = std::to_string(at::get_num_threads());
    return facts;
  });
  if (all["device"].contains("error")) throw Error(all["device"]["error"].get<std::string>());
  std::int64_t passed = 0;
  std::int64_t failed = 0;
  all["sections"] = Json::array();
  const double deadline = options.within > 0 ? monotonic_seconds() + options.within : INFINITY;
  std::vector<CheckSection> sections(kSections.begin(), kSections.end());
  if (options.within > 0) std::rotate(sections.begin(), sections.end() - 1, sections.end());  // steps first
  for (const CheckSection& section : sections) {
    const auto& wanted = options.sections;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), section.name) == wanted.end()) continue;
    fmt::print("== {}\n", section.title);
    const Json result = run_section(section, options, work.path(), deadline);
    for (const Json& check : result["checks"]) {
      const std::string bound = check["bound"].get<std::string>();
      const bool holds = check["passed"].get<bool>();
      if (!bound.empty()) (holds ? passed : failed) += 1;
      fmt::print("{}  {}: {}{}\n", bound.empty() ? "left out" : (holds ? "passed" : "FAILED"),
                 check["name"].get<std::string>(), check["measured"].get<std::string>(),
                 bound.empty() ? "" : " (" + bound + ")");
    }
    std::fflush(stdout);
    all["sections"].push_back(result);
    all["passed"] = passed;
    all["failed"] = failed;
    write_file(options.out / "gpu-check.json", json_text(all));  // after every section, in case a later one hangs
    write_file(options.out / "gpu-check.md", page_of(all));
  }
  fmt::print("{} passed, {} failed: {}\n", passed, failed, (options.out / "gpu-check.md").string());
  return failed == 0 && passed > 0 ? 0 : 1;
}

/// Returns nullopt if a word is unknown.
std::optional<CheckOptions> read_options(const std::vector<std::string>& words) {
  CheckOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const bool is_section = std::any_of(kSections.begin(), kSections.end(),
                                        [&](const CheckSection& section) { return word == section.name; });
    if (is_section) {
      options.sections.push_back(word);
      continue;
    }
    ++i;
    if (word == "--device" && !next.empty()) {
      options.device = next;
    } else if (word == "--out" && !next.empty()) {
      options.out = next;
    } else if (word == "--size" && (next == "paper" || next == "small" || next == "least")) {
      options.size = next == "paper" ? CheckSize::kPaper : next == "small" ? CheckSize::kSmall : CheckSize::kLeast;
    } else if (word == "--within" && seconds_in(next)) {
      options.within = *seconds_in(next);
    } else if (word != "--threads" && word != "--seed") {
      return std::nullopt;
    } else if (!parse_integer(next, word == "--seed" ? options.seed : options.threads)) {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) {
  const std::optional<xlm::CheckOptions> options = xlm::read_options({argv + 1, argv + argc});
  if (!options) {
    fmt::print(stderr,
               "usage: gpu_check [--device D] [--size paper|small|least] [--threads N] [--seed N] [--out FOLDER] "
               "[--within TIME]\n"
               "                 [SECTION…]\n"
               "sections: kernels recorded windows losses resuming steps\n");
    return 2;
  }
  try {
    return xlm::check_device(*options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
