// The checkpoints of a run as files.
#include "experiments/runs/run_checkpoints.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/safetensors_header.h"
#include "base/text.h"
#include "experiments/runs/file_copy.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

void link_or_copy(const fs::path& from, const fs::path& to) {
  create_folders(to.parent_path());
  std::error_code error;
  fs::create_hard_link(fs::canonical(from, error), to, error);
  if (error) copy_whole_file(from, to);
}

/// The step of best weights; -1 if they are missing or damaged.
std::int64_t step_of_best(const fs::path& file) {
  if (!fs::is_regular_file(file)) return -1;
  try {
    const MappedFile content(file);
    const auto metadata = parse_safetensors_header(content.text(), file.string()).metadata;
    std::int64_t step = -1;
    return parse_integer(value_or(metadata, "step", ""), step) ? step : -1;
  } catch (const DataError&) {
    return -1;
  }
}

}  // namespace

std::vector<std::int64_t> checkpoint_steps(const fs::path& run) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (const fs::directory_entry& entry : entries_in(RunPaths{run}.checkpoints(), error)) {
    if (const std::int64_t step = step_of_checkpoint(entry.path()); step >= 0) steps.push_back(step);
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    throw_file_error("read the folder", RunPaths{run}.checkpoints(), error.value());
  }
  std::ranges::sort(steps);
  return steps;
}

bool has_saved_files(const fs::path& run) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(RunPaths{run}.checkpoints(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) return true;
  }
  return false;
}

fs::path checkpoint_file(const fs::path& run, std::int64_t step) {
  return RunPaths{run}.checkpoints() / checkpoint_name(step);
}

std::optional<SpentBudget> spent_up_to(const fs::path& checkpoint) {
  try {
    const MappedFile content(checkpoint);
    const auto metadata = parse_safetensors_header(content.text(), checkpoint.string()).metadata;
    const std::string* const state = find_in(metadata, "state");
    if (state == nullptr) return std::nullopt;
    const Json budget = parse_json(*state, checkpoint.string()).value("budget", Json::object());
    if (!budget.contains("flops")) return std::nullopt;
    return SpentBudget{.flops = budget.at("flops").get<double>(), .seconds = budget.value("seconds", 0.0)};
  } catch (const Error&) {
    return std::nullopt;  // loading it says what is wrong
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void bring_start(const fs::path& file, const fs::path& run) {
  try {
    link_or_copy(file, RunPaths{run}.checkpoints() / kStartCheckpoint);
  } catch (const DataError&) {
    if (fs::exists(file)) throw;
    throw DataError(
        fmt::format("the checkpoint {} is gone: its run has saved newer ones since\n"
                    "run the command again; train.keep_every of that run keeps checkpoints",
                    file.string()));
  }
}

void bring_best_weights(const fs::path& other, std::int64_t step, const fs::path& run) {
  const fs::path best = RunPaths{other}.checkpoints() / kBestWeights;
  const std::int64_t found = step_of_best(best);
  if (found >= 0 && found <= step) link_or_copy(best, RunPaths{run}.checkpoints() / kBestWeights);
}

void copy_checkpoints(const fs::path& from, const fs::path& run) {
  copy_folder(RunPaths{from}.checkpoints(), RunPaths{run}.checkpoints());
}

bool has_start(const fs::path& run) {
  return !checkpoint_steps(run).empty() || fs::is_regular_file(RunPaths{run}.checkpoints() / kStartCheckpoint);
}

}  // namespace xlm
