// The costs of training: the time of its steps and their peak memory, over all attempts of a run.
#pragma once

#include <cstdint>
#include <optional>

#include <torch/torch.h>

#include "base/json.h"
#include "core/api/interface.h"
#include "core/parallel/process_group.h"

namespace xlm {

/// Time is measured over spans of steps. At both ends of a span the device has finished its work. So a GPU's queued
/// work counts, and single steps do not wait for it. A checkpoint or an evaluation ends a span and does not count.
class TrainingCosts {
 public:
  /// `group` may be null and must outlive this. Memory is that of all its processes.
  TrainingCosts(torch::Device device, ProcessGroup* group) : device_(device), group_(group) {}

  void begin_step();
  void end_step(std::int64_t tokens);
  /// Ends the span. No effect if training is paused already.
  void pause();
  /// There was an evaluation in the pause. Its memory does not count.
  void evaluated();

  /// Since the run began; nullopt before the first timed step. Does not wait for the device.
  std::optional<double> tokens_per_second() const;
  /// Whether this process has taken the steps that libraries need to get ready.
  bool is_warm() const;
  /// peak_memory and, on a GPU, reserved_memory (bytes), as far as they are known. Call it in a pause, in all processes
  /// of the group.
  NamedValues memory() const;
  /// The same with step_seconds, if that is known.
  NamedValues values() const;

  /// For checkpoints. Call it in a pause, in all processes of the group.
  Json state() const;
  void restore(const Json& state);

 private:
  std::int64_t peak_memory_of_all() const;
  std::int64_t reserved_memory_of_all() const;

  torch::Device device_;
  ProcessGroup* group_;
  std::int64_t steps_here_ = 0;       // of this process
  std::optional<double> began_;       // when the present span began
  bool stepped_ = false;              // since the last pause
  bool evaluated_ = false;            // since the last step
  std::int64_t memory_before_ = 0;    // the peak of an evaluation; training's is known only if it is higher
  std::int64_t peak_memory_ = 0;      // of this attempt
  std::int64_t reserved_memory_ = 0;  // of this attempt until its last evaluation, that included
  // Over all attempts.
  double seconds_ = 0;
  std::int64_t steps_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t past_peak_memory_ = 0;  // of earlier attempts
  std::int64_t past_reserved_memory_ = 0;
};

}  // namespace xlm
