// Checkpoints, each in one file with a hash.
#include "core/train/checkpoint.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "core/api/checkpoint_files.h"

namespace xlm {
namespace {

constexpr std::size_t kKept = 2;
constexpr std::string_view kModel = "model.";

/// Steps with a checkpoint file, newest first.
std::map<std::int64_t, fs::path, std::greater<>> checkpoint_files(const fs::path& folder) {
  std::map<std::int64_t, fs::path, std::greater<>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::int64_t step = step_of_checkpoint(entry->path());
    if (step >= 0) files[step] = entry->path();
  }
  if (error && error != std::errc::no_such_file_or_directory)
    throw_file_error("read the folder", folder, error.value());
  return files;
}

Checkpoint load_checkpoint(const fs::path& path) {
  TensorFile file = read_hashed_safetensors(path);
  Checkpoint checkpoint;
  checkpoint.state = parse_json(file.metadata["state"], path.string());
  checkpoint.step = checkpoint.state.at("step").get<std::int64_t>();
  checkpoint.tensors = std::move(file.tensors);
  return checkpoint;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, std::int64_t keep_every)
    : folder_(std::move(folder)), keep_every_(keep_every) {
  create_folders(folder_);
}

fs::path CheckpointFolder::save(const Checkpoint& checkpoint) const {
  Json with_step = checkpoint.state;
  with_step["step"] = checkpoint.step;
  const fs::path path = folder_ / checkpoint_name(checkpoint.step);
  write_safetensors(path, checkpoint.tensors, {{"state", with_step.dump()}});
  std::size_t number = 0;
  for (const auto& [step, file] : checkpoint_files(folder_)) {
    std::error_code ignored;                         // another process may have removed it
    const bool is_damaged = step > checkpoint.step;  // otherwise training would have resumed from it
    const bool is_kept = !is_damaged && (++number <= kKept || (keep_every_ > 0 && step % keep_every_ == 0));
    if (!is_kept) fs::remove(file, ignored);
  }
  return path;
}

std::optional<Checkpoint> CheckpointFolder::load_newest(const std::function<void(const std::string&)>& warn) const {
  const auto files = checkpoint_files(folder_);
  std::size_t left = files.size();
  for (const auto& [step, path] : files) {
    const char* then = --left > 0 ? "resuming from the checkpoint before" : "no other is left: training begins again";
    try {
      return load_checkpoint(path);
    } catch (const Error& error) {
      if (error.code() != kBadData) throw;
      warn(fmt::format("{}; {}", error.what(), then));
    } catch (const Json::exception& error) {
      warn(fmt::format("{} is corrupt: {}; {}", path.string(), reason_of(error), then));
    }
  }
  return std::nullopt;
}

std::optional<Checkpoint> CheckpointFolder::load_first(std::int64_t start,
                                                       const std::function<void(const std::string&)>& warn) const {
  std::optional<Checkpoint> newest = load_newest(warn);
  if (!newest && start > 0) newest = load_start(start);
  return newest;
}

Checkpoint CheckpointFolder::load_start(std::int64_t step) const {
  const fs::path path = folder_ / kStartCheckpoint;
  try {
    Checkpoint checkpoint = load_checkpoint(path);
    checkpoint.of_other_run = true;
    if (checkpoint.step == step) return checkpoint;
    throw DataError(
        fmt::format("{} is of step {}, and this run begins at step {}", path.string(), checkpoint.step, step));
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is corrupt: {}", path.string(), reason_of(error)));
  }
}

void Checkpoint::add_weight(const std::string& name, const torch::Tensor& weight) {
  tensors.emplace_back(std::string(kModel) + name, weight);
}

NamedTensors Checkpoint::weights() const {
  NamedTensors weights;
  for (const auto& [name, tensor] : tensors) {
    if (name.starts_with(kModel)) weights.emplace_back(name.substr(kModel.size()), tensor);
  }
  return weights;
}

NamedTensors read_checkpoint_weights(const fs::path& file) {
  Checkpoint checkpoint;
  checkpoint.tensors = read_hashed_safetensors(file).tensors;
  return checkpoint.weights();
}

}  // namespace xlm
