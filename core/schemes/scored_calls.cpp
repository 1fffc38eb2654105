// Calls of a model in an evaluation, recorded or not.
#include "core/schemes/scored_calls.h"

#include <utility>

#include "core/runtime/device.h"

namespace xlm {

ScoredCalls::ScoredCalls(LanguageModel& model, const SplitSettings& settings, Wants wants)
    : model_(&model), settings_(&settings), wants_(wants) {
  if (!settings.recorder || settings.group != nullptr || !graph_signature_of(model)) return;
  capturable_ = capability<Capturable>(model);
  held_ = capturable_->held_sizes();
  capturable_->hold_sizes();
  if (std::unique_ptr<StepRecorder> recorder = settings.recorder()) {
    captured_.emplace(std::move(recorder), settings.device, NamedTensors());
  }
}

ScoredCalls::~ScoredCalls() {
  if (capturable_ != nullptr && !held_.empty()) capturable_->set_held_sizes(held_);
}

/// {loss, targets if they are wanted, losses if they are wanted}
CapturedSteps::Outcome ScoredCalls::call(const ModelInput& input, const torch::Tensor& targets,
                                         const State& state) const {
  const PrecisionScope precision(settings_->precision, settings_->device);
  ModelOutput output = model_->forward(input, state);
  torch::Tensor counted = output.counted_targets(targets);
  if (output.left_out.defined() && wants_ == Wants::kFirstLeftOut) {
    counted = targets.masked_fill(output.left_out.to(torch::kLong).cumsum(1) > 0, kNoTarget);
  }
  CapturedSteps::Outcome outcome{
      .loss = output.summed_loss(counted), .state = std::move(output.state), .needed = output.needed};
  if (settings_->parts != nullptr || wants_ != Wants::kLoss) outcome.more.push_back(counted);
  if (settings_->parts != nullptr) outcome.more.push_back(output.losses(counted));
  return outcome;
}

CapturedSteps::Outcome ScoredCalls::recorded_call(const ModelInput& input, const torch::Tensor& targets,
                                                  const State& state) {
  const auto work = [this](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
    return call(in, wanted, before);
  };
  try {
    if (captured_) return captured_->run(graph_signature_of(*model_).value(), input, targets, state, work);
  } catch (const RefusedRecording&) {
    captured_.reset();
  }
  return call(input.to(settings_->device), targets.to(settings_->device), state);
}

ScoredCalls::Scored ScoredCalls::score(ModelInput input, const torch::Tensor& targets, const State& state) {
  CapturedSteps::Outcome outcome;
  if (capturable_ == nullptr) {
    outcome = call(input.to(settings_->device), targets.to(settings_->device), state);
  } else {
    input = recordable_input(*model_, std::move(input));
    outcome = recorded_call(input, targets, state);
    while (!had_room(*model_, input, outcome.needed)) {
      input.room = capturable_->room(input);
      outcome = recorded_call(input, targets, state);
    }
  }
  Scored scored{.loss = outcome.loss.item<double>(), .state = std::move(outcome.state)};
  if (!outcome.more.empty()) scored.targets = outcome.more[0].cpu().contiguous();
  if (outcome.more.size() > 1) scored.losses = outcome.more[1].cpu().contiguous();
  return scored;
}

}  // namespace xlm
