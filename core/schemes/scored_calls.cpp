// Calls of a model in an evaluation, recorded or not.
#include "core/schemes/scored_calls.h"

#include <utility>

#include "core/runtime/device.h"

namespace xlm {

ScoredCalls::ScoredCalls(LanguageModel& model, const SplitSettings& settings, Wants wants)
    : model_(&model),
      settings_(&settings),
      wants_(wants),
      calls_(model, settings.device, settings.group == nullptr ? settings.recorder : MakeRecorder()) {}

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

ScoredCalls::Scored ScoredCalls::score(ModelInput input, const torch::Tensor& targets, const State& state) {
  const auto work = [this](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
    return call(in, wanted, before);
  };
  CapturedSteps::Outcome outcome = calls_.run(std::move(input), targets, state, work);
  Scored scored{.loss = outcome.loss.item<double>(), .state = std::move(outcome.state)};
  if (!outcome.more.empty()) scored.targets = outcome.more[0].cpu().contiguous();
  if (outcome.more.size() > 1) scored.losses = outcome.more[1].cpu().contiguous();
  return scored;
}

}  // namespace xlm
