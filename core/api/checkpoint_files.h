// The names of checkpoint files in a run folder, for core, which writes them, and for all that look for them.
#pragma once

#include <cstdint>

#include "base/files.h"

namespace xlm {

/// The folder of checkpoints in a run folder.
inline constexpr const char* kCheckpointFolder = "checkpoints";
/// In it: the checkpoint of another run that this one begins with, or whose weights it begins with, and the symbols of
/// these weights.
inline constexpr const char* kStartCheckpoint = "start.safetensors";
inline constexpr const char* kStartVocabulary = "start.vocab.json";
/// The best weights so far; their metadata have the step.
inline constexpr const char* kBestWeights = "best.safetensors";

/// step-000000100.safetensors
fs::path checkpoint_name(std::int64_t step);

/// The step of a checkpoint from its name. -1 if the file is no checkpoint.
std::int64_t step_of_checkpoint(const fs::path& file);

}  // namespace xlm
