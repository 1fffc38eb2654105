// Checkpoints: everything a run needs to resume exactly, in one file with a hash.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/json.h"
#include "core/runtime/safetensors.h"

namespace xlm {

struct Checkpoint {
  std::int64_t step = 0;      // updates done
  NamedTensors tensors;       // weights, optimiser state, carried state
  Json state;                 // stream position, best evaluation, …
  bool of_other_run = false;  // with which this one begins

  void add_weight(const std::string& name, const torch::Tensor& weight);
  /// The weights among the tensors, by the names of the parameters.
  NamedTensors weights() const;
};

/// The checkpoints of one run: step-N.safetensors, a safetensors file whose metadata holds the state. The newest two
/// are kept, and those of every `keep_every` steps if that is not 0. A run that begins with a checkpoint of another has
/// that as start.safetensors.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(fs::path folder, std::int64_t keep_every = 0);

  /// Writes atomically and durably, then removes those that are not kept, and those of later steps: training that
  /// resumed before them could not load them. Returns the file.
  fs::path save(const Checkpoint& checkpoint) const;

  /// The newest whole checkpoint; nullopt if there is none. A corrupt one is reported to `warn` and skipped.
  std::optional<Checkpoint> load_newest(const std::function<void(const std::string&)>& warn) const;

  /// What a run goes on from: load_newest, or else load_start if `start` is not 0.
  std::optional<Checkpoint> load_first(std::int64_t start, const std::function<void(const std::string&)>& warn) const;

  /// The checkpoint of `step` of another run that this one begins with. Throws DataError if it is missing or corrupt.
  Checkpoint load_start(std::int64_t step) const;

 private:
  fs::path folder_;
  std::int64_t keep_every_;
};

/// The weights in a checkpoint file, by the names of the parameters. Throws DataError if it is missing or corrupt.
NamedTensors read_checkpoint_weights(const fs::path& file);

}  // namespace xlm
