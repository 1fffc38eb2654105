// Steps of training and of evaluations that are recorded once and then replayed. On a GPU a small model's step is
// hundreds of operations, each of which takes longer to start than to run. A recording starts them all at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/error.h"
#include "core/kernels/step_context.h"
#include "core/models/language_model.h"
#include "core/runtime/safetensors.h"

namespace xlm {

/// Records the operations that a function starts on a device. Tensors that they make stay where they are, and hold new
/// values after every replay.
class StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  /// Runs `work` without recording it, on the stream that recordings use: libtorch sets itself up for each stream.
  virtual void warm_up(const std::function<void()>& work) = 0;
  /// Runs `work` once and records it. The recording replaces the one before. If that fails, there is none, and the
  /// device's generator must be seeded again.
  virtual void record(const std::function<void()>& work) = 0;
  virtual void replay() = 0;
  /// Drops the recording. Frees its memory, except that of tensors that are still in use.
  virtual void forget() = 0;
  /// Where the device's generator stands while `record` runs; null: the device draws nothing itself.
  virtual RecordedDraws* draws() { return nullptr; }
};

/// What the operations of a recording draw.
enum class RecordedUse {
  kTrain,     // numbers of the device's generator
  kEvaluate,  // none: the device's generator stays with the recordings of training
};

/// A recorder of CUDA graphs on a GPU, from libxlm_cuda.so. Throws Error if that library is missing.
std::unique_ptr<StepRecorder> make_cuda_recorder(torch::Device device, RecordedUse use);

/// Makes a recorder. Empty: nothing may be recorded. A null recorder: it could be, but is not.
using MakeRecorder = std::function<std::unique_ptr<StepRecorder>()>;

/// A device does not record a step: an operation cannot be recorded, or the recording takes too much memory.
class RefusedRecording : public Error {
 public:
  using Error::Error;
};

/// Computes losses of batches, and gradients if there are weights. Replays a recording if the operations are the same
/// as before.
class CapturedSteps {
 public:
  struct Outcome {
    torch::Tensor loss;  // scalar; of a reader the logits [V]
    State state;
    torch::Tensor needed = {};             // ModelOutput::needed
    std::vector<torch::Tensor> more = {};  // what else the work wants to keep
  };
  /// Computes a step on inputs on the device. Returns loss and next state without gradient. Adds to the gradients of
  /// the weights.
  using Work = std::function<Outcome(const ModelInput& input, const torch::Tensor& targets, const State& state)>;

  /// Steps of the same operations that run before one is recorded. libtorch sets itself up in them. Operations that
  /// change at every step are never recorded.
  static constexpr int kUncaptured = 2;
  /// After so many recordings, twice as many steps run before each further one, up to 64: where operations change all
  /// the time, recordings would take longer than they save.
  static constexpr std::int64_t kPatience = 8;

  /// `weights`: whose gradients are wanted.
  CapturedSteps(std::unique_ptr<StepRecorder> recorder, torch::Device device, NamedTensors weights)
      : recorder_(std::move(recorder)), device_(device), weights_(std::move(weights)) {}

  /// `signature`, the room and the sizes of the arguments determine the operations of `work` (Capturable).
  /// The weights must have no gradients. The next call overwrites the tensors that this one returns. Throws
  /// RefusedRecording with the reason's first line; the weights have no gradients then, and the step can be computed
  /// without a recording.
  Outcome run(const std::string& signature, const ModelInput& input, const torch::Tensor& targets, const State& state,
              const Work& work);

  /// The state that the last step began with, where it was given as `given`: what a recording returned is overwritten
  /// by its next replay.
  State state_before(const State& given) const { return seen_ > wanted_ ? state_ : given; }

  /// Drops the recording with its memory, and the gradients. The next steps run unrecorded again at first.
  void forget();

  std::int64_t recordings() const { return recordings_; }
  /// Whether the next step is recorded if its operations are those of the last one. There is no recording then.
  bool records_next() const { return seen_ > 0 && seen_ == wanted_; }

 private:
  int uncaptured() const;
  void record(const ModelInput& input, const torch::Tensor& targets, const State& state, const Work& work);
  [[noreturn]] void refuse(const std::string& why);

  std::unique_ptr<StepRecorder> recorder_;
  torch::Device device_;
  NamedTensors weights_;
  std::string signature_;
  int seen_ = 0;    // steps of these operations so far, at most until they are recorded
  int wanted_ = 0;  // as many run before they are recorded
  std::int64_t recordings_ = 0;
  // What the recording reads and writes.
  ModelInput input_;
  torch::Tensor targets_;
  State state_;
  Outcome outcome_;
  std::vector<torch::Tensor> gradients_;  // of weights_, in their order
};

}  // namespace xlm
