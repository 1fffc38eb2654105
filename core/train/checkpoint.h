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
  std::int64_t step = 0;  // updates done
  NamedTensors tensors;   // weights, optimiser state, carried state
  Json state;             // stream position, best evaluation, …
};

/// The checkpoints of one run: step-N.safetensors, a safetensors file whose metadata holds the state. The newest two
/// are kept.
class CheckpointFolder {
 public:
  explicit CheckpointFolder(fs::path folder);

  /// Writes atomically and durably, then removes all but the newest two. Returns the file.
  fs::path save(const Checkpoint& checkpoint) const;

  /// The newest whole checkpoint; nullopt if there is none. A corrupt one is reported to `warn` and skipped.
  std::optional<Checkpoint> load_newest(const std::function<void(const std::string&)>& warn) const;

 private:
  fs::path folder_;
};

}  // namespace xlm
