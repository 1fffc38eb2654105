// Checkpoints, each in one file with a hash.
#include "core/train/checkpoint.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::size_t kKept = 2;
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".safetensors";

/// Steps with a checkpoint file, newest first.
std::map<std::int64_t, fs::path, std::greater<>> checkpoint_files(const fs::path& folder) {
  std::map<std::int64_t, fs::path, std::greater<>> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    std::int64_t step = 0;
    const std::string digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    if (parse_integer(digits, step)) files[step] = entry.path();
  }
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

CheckpointFolder::CheckpointFolder(fs::path folder) : folder_(std::move(folder)) { create_folders(folder_); }

fs::path CheckpointFolder::save(const Checkpoint& checkpoint) const {
  Json with_step = checkpoint.state;
  with_step["step"] = checkpoint.step;
  const fs::path path = folder_ / fmt::format("{}{:09}{}", kPrefix, checkpoint.step, kSuffix);
  write_safetensors(path, checkpoint.tensors, {{"state", with_step.dump()}});
  std::size_t number = 0;
  for (const auto& [step, file] : checkpoint_files(folder_)) {
    std::error_code ignored;  // another process may have removed it
    if (++number > kKept) fs::remove(file, ignored);
  }
  return path;
}

std::optional<Checkpoint> CheckpointFolder::load_newest(const std::function<void(const std::string&)>& warn) const {
  for (const auto& [step, path] : checkpoint_files(folder_)) {
    try {
      return load_checkpoint(path);
    } catch (const Error& error) {
      if (error.code() != kBadData) throw;
      warn(fmt::format("{}; resuming from the checkpoint before", error.what()));
    } catch (const Json::exception& error) {
      warn(fmt::format("{} is corrupt: {}; resuming from the checkpoint before", path.string(), reason_of(error)));
    }
  }
  return std::nullopt;
}

}  // namespace xlm
