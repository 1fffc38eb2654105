// The calls of a model in an evaluation: each gives the loss of its predictions, and the next call's state.
//
// B rows, T tokens of a call, P of them scored.
#pragma once

#include "core/schemes/recorded_calls.h"
#include "core/schemes/scheme.h"

namespace xlm {

/// Calls of equal sizes are recorded and replayed if the settings have a recorder.
class ScoredCalls {
 public:
  struct Scored {
    double loss = 0;        // summed, in nats
    torch::Tensor targets;  // [B, P], on the CPU: kNoTarget where none counts; where they are wanted
    torch::Tensor losses;   // [B, P] double, the same
    State state;            // which the next call may overwrite
  };
  /// What a call returns besides loss and state. If parts of the split are wanted, always targets and losses.
  enum class Wants {
    kLoss,
    kLeftOut,       // targets
    kFirstLeftOut,  // targets; from the first that the model leaves out on, none of a row counts
  };

  /// The settings outlive it.
  ScoredCalls(LanguageModel& model, const SplitSettings& settings, Wants wants = Wants::kLoss);
  /// `targets` [B, P]; tensors may lie on any device.
  Scored score(ModelInput input, const torch::Tensor& targets, const State& state);

 private:
  CapturedSteps::Outcome call(const ModelInput& input, const torch::Tensor& targets, const State& state) const;

  LanguageModel* model_;
  const SplitSettings* settings_;
  Wants wants_;
  RecordedCalls calls_;
};

}  // namespace xlm
