// How the program of a run is started.
#include "experiments/worker/program_setting.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/programs/code_snapshot.h"
#include "experiments/programs/import_hook.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/own_submissions.h"

namespace xlm {
namespace {

/// Sets a variable that neither the run's configuration nor the user's environment sets.
void set_if_unset(std::map<std::string, std::string>& environment, const std::string& name, const std::string& value) {
  if (std::getenv(name.c_str()) == nullptr) environment.emplace(name, value);
}

/// "cuda:1" is the second of the GPUs that this process may use, "cpu" is none of them.
void choose_device(const std::string& device, ProgramSetting& setting) {
  const std::vector<std::string> gpus = visible_gpus();
  setting.device = gpus.empty() || device == "cpu" ? "cpu" : "cuda";
  if (device == "cpu") setting.environment["CUDA_VISIBLE_DEVICES"] = "";
  std::int64_t index = 0;
  if (!device.starts_with("cuda:") || !parse_integer(device.substr(5), index)) return;
  if (index >= std::ssize(gpus)) {
    throw ResourceError(fmt::format("device is {}, and this process may use {} GPUs", device, gpus.size()));
  }
  setting.environment["CUDA_VISIBLE_DEVICES"] = gpus[static_cast<std::size_t>(index)];
}

/// A free port of this machine, for the processes of one run to meet. Runs that start at once get others, because the
/// system gives ports by chance. torchrun's own port where none may be opened, which few programs need.
std::string free_port() {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in any{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {INADDR_ANY}, .sin_zero = {}};
  socklen_t size = sizeof any;
  auto* const address = reinterpret_cast<sockaddr*>(&any);
  const bool found = ::bind(probe, address, size) == 0 && ::getsockname(probe, address, &size) == 0;
  if (probe >= 0) ::close(probe);
  return found ? std::to_string(ntohs(any.sin_port)) : "29500";
}

bool is_as_frozen(const fs::path& file, const fs::path& frozen) {
  std::error_code error;
  if (fs::is_symlink(frozen)) return fs::is_symlink(file) && fs::read_symlink(file) == fs::read_symlink(frozen);
  return fs::is_regular_file(file, error) && fs::file_size(file, error) == fs::file_size(frozen, error) && !error &&
         read_file(file) == read_file(frozen);
}

/// The frozen files and links, below their folder.
std::vector<fs::path> frozen_files(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_symlink() || !entry.is_directory()) files.push_back(entry.path().lexically_relative(folder));
  }
  return files;
}

ProgramSetting filled_setting(const RunConfiguration& run, const ProgramPaths& paths, std::int64_t threads,
                              bool resumes, const std::map<std::string, std::string>& further_places) {
  const ProgramOptions& program = *run.program;
  const fs::path checkpoints = RunPaths{paths.folder}.checkpoints();
  ProgramSetting setting;
  setting.places = places_of(run, paths);
  setting.places.insert(further_places.begin(), further_places.end());
  const std::string port = free_port();
  setting.places["free_port"] = port;
  setting.words = command_words(program.command, program, setting.places);
  for (std::string& word : setting.words) word = word_for_copy(word, program.folder, paths.work());
  for (std::string& word : flag_words(program)) setting.words.push_back(std::move(word));
  for (const auto& [name, text] : program.environment) {
    setting.environment[name] = filled(text, program, setting.places);
  }
  setting.environment["XLM_RUN"] = paths.folder.string();
  setting.environment["XLM_CONFIG"] = paths.config().string();
  setting.environment["XLM_SEED"] = std::to_string(run.seed);
  setting.environment["XLM_DATA"] = run.data.path;
  setting.environment["XLM_CHECKPOINTS"] = checkpoints.string();
  setting.environment["XLM_METRICS"] = paths.metrics().string();
  setting.environment["XLM_RESUME"] = resumes ? "1" : "";
  setting.environment["XLM_FREE_PORT"] = port;
  setting.environment.emplace("PET_MASTER_PORT", port);  // else torchrun takes 29500, as any other does
  set_if_unset(setting.environment, "OMP_NUM_THREADS", std::to_string(threads));
  set_if_unset(setting.environment, "PYTHONUNBUFFERED", "1");  // its lines are read as it writes them
  choose_device(run.device, setting);
  return setting;
}

}  // namespace

std::map<std::string, std::string> places_of(const RunConfiguration& run, const ProgramPaths& paths) {
  return {{"seed", std::to_string(run.seed)},
          {"data.path", run.data.path},
          {"run", paths.folder.string()},
          {"checkpoints", RunPaths{paths.folder}.checkpoints().string()},
          {"config", paths.config().string()}};
}

ProgramSetting program_setting(const RunConfiguration& run, const ProgramPaths& paths, std::int64_t threads,
                               bool resumes) {
  return filled_setting(run, paths, threads, resumes, {});
}

ProgramSetting evaluation_setting(const RunConfiguration& run, const ProgramPaths& paths, std::int64_t threads,
                                  const std::string& split) {
  ProgramSetting setting = filled_setting(run, paths, threads, false, {{"split", split}});
  setting.environment["XLM_SPLIT"] = split;
  return setting;
}

std::vector<MetricDescription> described_metrics(const ProgramOptions& program,
                                                 const std::map<std::string, std::string>& places,
                                                 const fs::path& work) {
  std::vector<MetricDescription> metrics = metric_descriptions(program.metrics);
  for (MetricDescription& one : metrics) {
    if (one.kind != MetricKind::kLines) one.target = (work / filled(one.target, program, places)).string();
  }
  return metrics;
}

RunConfiguration submitted_configuration(const Run& run) {
  const fs::path file = RunPaths{run.folder}.config();
  const std::string text = read_file(file);
  check_submitted(run.folder, text, run.contents.at("program.folder"));
  return read_run_options(parse_yaml(text, file.string()));
}

void put_code(const fs::path& place, const std::string& hash, const fs::path& work) {
  check_frozen_code(place, hash);
  const fs::path folder = code_folder(place, hash);
  make_own_folder(work.parent_path(), work.filename().string());
  for (const fs::path& file : frozen_files(folder)) {
    if (is_as_frozen(work / file, folder / file)) continue;
    std::error_code error;
    create_folders((work / file).parent_path());
    fs::remove_all(work / file, error);
    fs::copy(folder / file, work / file, fs::copy_options::copy_symlinks, error);
    if (error) throw_file_error("write", work / file, error.value());
    if (!fs::is_symlink(work / file)) {
      fs::permissions(work / file, fs::perms::owner_write, fs::perm_options::add, error);
    }
  }
}

void take_code(const fs::path& place, const std::string& hash, const fs::path& work) {
  const fs::path folder = code_folder(place, hash);
  remove_import_hook(work);
  std::error_code error;
  if (!fs::is_directory(folder, error)) return;
  for (const fs::path& file : frozen_files(folder)) {
    if (!is_as_frozen(work / file, folder / file)) continue;
    fs::remove(work / file, error);
    for (fs::path above = file.parent_path(); !above.empty(); above = above.parent_path()) {
      if (!fs::remove(work / above, error)) break;  // something else is in it
    }
  }
  fs::remove(work, error);
}

ProgramCommand command_of(const ProgramSetting& setting, const ProgramOptions& program, const ProgramPaths& paths,
                          std::function<void(std::string_view)> output) {
  return {.words = setting.words,
          .folder = paths.work(),
          .environment = setting.environment,
          .log = paths.output(),
          .output = std::move(output),
          .owner = paths.folder.string(),
          .grace = std::chrono::duration<double>(program.grace),
          .stop_all = program.stop == ProgramOptions::Stop::kAll,
          .memory_kills = memory_kills};
}

}  // namespace xlm
