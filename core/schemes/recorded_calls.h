// Calls of a model without gradients, recorded and replayed where they may be (core/models/captured_steps.h).
#pragma once

#include <optional>
#include <vector>

#include "core/models/capabilities.h"
#include "core/models/captured_steps.h"

namespace xlm {

/// One that cannot be recorded is computed without it, as all that follow.
class RecordedCalls {
 public:
  RecordedCalls(LanguageModel& model, torch::Device device, const MakeRecorder& recorder);
  /// A model that holds sizes for recordings has those of before.
  ~RecordedCalls();
  RecordedCalls(const RecordedCalls&) = delete;
  RecordedCalls& operator=(const RecordedCalls&) = delete;

  /// `work` on inputs on the device; the arguments may lie anywhere. The next call may overwrite what it returns.
  CapturedSteps::Outcome run(ModelInput input, const torch::Tensor& targets, const State& state,
                             const CapturedSteps::Work& work);

 private:
  CapturedSteps::Outcome run_once(const ModelInput& input, const torch::Tensor& targets, const State& state,
                                  const CapturedSteps::Work& work);

  LanguageModel* model_;
  torch::Device device_;
  Capturable* capturable_ = nullptr;  // null: calls may not be recorded
  std::vector<std::int64_t> held_;    // sizes
  std::optional<CapturedSteps> captured_;
};

}  // namespace xlm
