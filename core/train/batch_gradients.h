// The loss of a batch and its gradients: at once or in micro-batches, by one process or several, recorded or not.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <torch/torch.h>

#include "core/api/interface.h"
#include "core/models/captured_steps.h"
#include "core/models/language_model.h"
#include "core/parallel/process_group.h"
#include "core/schemes/scheme.h"
#include "core/train/checkpoint.h"
#include "core/train/first_non_finite.h"
#include "core/train/memory_check.h"

namespace xlm {

class BatchGradients {
 public:
  /// `model` must be on `device`. `group` may be null.
  BatchGradients(const RunOptions& options, LanguageModel& model, torch::Device device, ProcessGroup* group);

  /// Restores what a checkpoint has of this: the carried state and held sizes.
  void restore(const Checkpoint& checkpoint);
  void save(Checkpoint& checkpoint) const;
  /// Records steps from now on as train.cuda_graph says. If it asks for that in vain, a note to `sink` says why.
  void start_recording(TrainSink& sink);
  /// Records steps from now on by `recorder`. If it refuses a step, that one and all later ones are computed without
  /// it, and a warning to `sink` says so once. `has_room` is asked before each recording whether memory suffices; if
  /// not, a note says so and none is made any more. Random numbers stay those of steps that are recorded.
  void record_by(std::unique_ptr<StepRecorder> recorder, TrainSink& sink, std::function<bool()> has_room = {});
  /// Drops the recording, frees its memory and records no more. Drops the gradients, too.
  void stop_recording();
  /// Whether steps are or could be recorded, so that sizes of the model are held.
  bool holds_sizes() const { return holds_sizes_; }
  /// Whether the device refused to record a step.
  bool was_refused() const { return refused_; }
  /// Does `work`, such as an evaluation, while the recording keeps its memory. If memory runs out, stops recording,
  /// says so and does it once more.
  void beside_recording(const std::function<void()>& work);

  /// From now on `watch` sees the passes of each batch.
  void watch(FirstNonFinite& watch) { watch_ = &watch; }

  /// Adds the gradients of all processes to those of the weights. Returns the batch's mean loss in nats. Random numbers
  /// follow from `step`, the number of updates before this batch. Throws StepMemoryError if memory is too small.
  double add(const Batch& batch, std::int64_t step);

 private:
  double add_own_rows(const Batch& batch, std::int64_t step);
  std::optional<double> add_unrecorded(const Batch& batch, std::int64_t step);
  std::optional<double> add_recorded(const Batch& batch, std::int64_t step);
  TrainingLoss loss_of(const ModelInput& input, const torch::Tensor& targets, const State& state);
  std::int64_t rows_at_once(std::int64_t rows) const;
  void seed_generators(std::int64_t step, std::int64_t first_row) const;
  const char* obstacle_to_recording() const;
  bool has_room_for_recording() const;
  const NamedTensors& weights() const { return model_->weights(); }

  const RunOptions* options_;
  LanguageModel* model_;
  const Scheme* scheme_;
  torch::Device device_;
  ProcessGroup* group_;  // null: this process is alone
  ActivationPolicy policy_;
  State state_;                           // of this process's rows
  std::vector<std::int64_t> held_sizes_;  // of the checkpoint (Capturable::held_sizes)
  FirstNonFinite* watch_ = nullptr;
  TrainSink* sink_ = nullptr;  // for a warning about recordings
  bool refused_ = false;
  bool holds_sizes_ = false;                 // since steps were first recorded, for good: how much memory is free
                                             // decides whether steps are recorded, but not what dropout draws
  std::function<bool()> has_room_;           // for a recording; empty: always
  std::unique_ptr<CapturedSteps> captured_;  // null: steps are not recorded
};

}  // namespace xlm
