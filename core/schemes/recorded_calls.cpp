// Calls of a model without gradients.
#include "core/schemes/recorded_calls.h"

#include <utility>

namespace xlm {

RecordedCalls::RecordedCalls(LanguageModel& model, torch::Device device, const MakeRecorder& recorder)
    : model_(&model), device_(device) {
  if (!recorder || !graph_signature_of(model)) return;
  capturable_ = capability<Capturable>(model);
  held_ = capturable_->held_sizes();
  capturable_->hold_sizes();
  if (std::unique_ptr<StepRecorder> made = recorder()) captured_.emplace(std::move(made), device, NamedTensors());
}

RecordedCalls::~RecordedCalls() {
  if (capturable_ != nullptr && !held_.empty()) capturable_->set_held_sizes(held_);
}

CapturedSteps::Outcome RecordedCalls::run_once(const ModelInput& input, const torch::Tensor& targets,
                                               const State& state, const CapturedSteps::Work& work) {
  try {
    if (captured_) return captured_->run(graph_signature_of(*model_).value(), input, targets, state, work);
  } catch (const RefusedRecording&) {
    captured_.reset();
  }
  return work(input.to(device_), targets.to(device_), state);
}

CapturedSteps::Outcome RecordedCalls::run(ModelInput input, const torch::Tensor& targets, const State& state,
                                          const CapturedSteps::Work& work) {
  if (capturable_ == nullptr) return run_once(input, targets, state, work);
  input = recordable_input(*model_, std::move(input));
  State before = state;
  for (;;) {
    CapturedSteps::Outcome outcome = run_once(input, targets, before, work);
    if (had_room(*model_, input, outcome.needed)) return outcome;
    if (captured_) before = captured_->state_before(before);
    input.room = capturable_->room(input);
  }
}

}  // namespace xlm
