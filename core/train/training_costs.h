// What training costs: the time of its steps and the most memory that they took, over all parts of a run.
#pragma once

#include <cstdint>
#include <optional>

#include <torch/torch.h>

#include "base/json.h"
#include "core/api/interface.h"
#include "core/parallel/process_group.h"

namespace xlm {

/// Time is measured over spans of steps, at whose two ends the device has done all it was given: what a GPU still
/// works on when a step returns counts, and no step waits for it. A span ends where something else begins, a checkpoint
/// or an evaluation, which counts in neither time nor memory.
class TrainingCosts {
 public:
  /// `group`, which may be null, lives on: memory is that of all its processes, each with its own part of a run.
  TrainingCosts(torch::Device device, ProcessGroup* group) : device_(device), group_(group) {}

  void begin_step();
  void end_step(std::int64_t tokens);
  /// Training pauses; nothing where it did already.
  void pause();
  /// What was done in the pause may have taken memory that is no training's.
  void evaluated();

  /// Since the run began; nothing before a step was timed. Does not wait for the device.
  std::optional<double> tokens_per_second() const;
  /// step_seconds and peak_memory (bytes), as far as they are known. In a pause only; the whole group calls it.
  NamedValues values() const;

  /// For checkpoints, in a pause only; the whole group calls it.
  Json state() const;
  void restore(const Json& state);

 private:
  std::int64_t peak_memory_of_all() const;

  torch::Device device_;
  ProcessGroup* group_;
  std::int64_t steps_here_ = 0;     // of this process
  std::optional<double> began_;     // the span that is timed
  bool stepped_ = false;            // since the last pause
  bool evaluated_ = false;          // since the last step
  std::int64_t memory_before_ = 0;  // that training did not take: its own peak is known only where it is higher
  std::int64_t peak_memory_ = 0;    // of this part
  // Over all parts.
  double seconds_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t past_peak_memory_ = 0;  // of the parts before
};

}  // namespace xlm
