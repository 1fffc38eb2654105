// Recorded steps: inputs are copied to where the recording reads them.
#include "core/models/captured_steps.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/shared_library.h"
#include "base/text.h"
#include "core/kernels/step_context.h"

namespace xlm {
namespace {

using torch::Tensor;

/// The defined tensors among the arguments of a step.
std::vector<Tensor> tensors_of(const ModelInput& input, const Tensor& targets, const State& state) {
  std::vector<Tensor> result{targets};
  for (const Tensor& tensor : {input.tokens, input.positions, input.boundaries, input.noise}) {
    if (tensor.defined()) result.push_back(tensor);
  }
  result.insert(result.end(), state.begin(), state.end());
  return result;
}

/// Copies by way of pinned memory, so that the processor need not wait until a GPU gets there.
void copy_without_waiting(const Tensor& to, const Tensor& from) {
  const bool moves = to.is_cuda() && from.is_cpu();
  to.copy_(moves ? from.contiguous().pin_memory() : from, /*non_blocking=*/moves);
}

std::string sizes_of(const std::vector<Tensor>& tensors) {
  std::string text;
  for (const Tensor& tensor : tensors) text += fmt::format("[{}]", fmt::join(tensor.sizes(), ","));
  return text;
}

}  // namespace

std::unique_ptr<StepRecorder> make_cuda_recorder(torch::Device device, RecordedUse use) {
  using Make = StepRecorder* (*)(int, RecordedUse);
  const auto make = reinterpret_cast<Make>(library_function("libxlm_cuda.so", "xlm_make_recorder"));
  return std::unique_ptr<StepRecorder>(make(device.index(), use));
}

CapturedSteps::Outcome CapturedSteps::run(const std::string& signature, const ModelInput& input, const Tensor& targets,
                                          const State& state, const Work& work) {
  const SeedsOnDevice seeds(true);
  const std::vector<Tensor> given = tensors_of(input, targets, state);
  const std::string wanted = fmt::format("{}{} {}", signature, sizes_of(given), input.room);
  if (wanted != signature_) {
    forget();
    signature_ = wanted;
    wanted_ = uncaptured();
  }
  if (seen_ < wanted_) {
    ++seen_;
    Outcome outcome;
    recorder_->warm_up([&] { outcome = work(input.to(device_), targets.to(device_), state); });
    return outcome;
  }
  if (seen_ == wanted_) {
    ++seen_;
    try {
      record(input, targets, state, work);
    } catch (const c10::Error& error) {
      refuse(error.what_without_backtrace());
    } catch (const Error& error) {
      refuse(error.what());
    }
  } else {
    const std::vector<Tensor> kept = tensors_of(input_, targets_, state_);
    for (std::size_t i = 0; i < kept.size(); ++i) copy_without_waiting(kept[i], given[i]);
    recorder_->replay();
  }
  for (std::size_t i = 0; i < weights_.size(); ++i) weights_[i].second.mutable_grad() = gradients_[i];
  return outcome_;
}

/// Steps of new operations that run before they are recorded.
int CapturedSteps::uncaptured() const {
  constexpr std::int64_t kMaxDoublings = 5;
  return kUncaptured << std::clamp<std::int64_t>(recordings_ - kPatience, 0, kMaxDoublings);
}

/// Begins again with the next step.
void CapturedSteps::refuse(const std::string& why) {
  forget();
  throw RefusedRecording(first_line(why));
}

void CapturedSteps::forget() {
  signature_.clear();
  seen_ = 0;
  for (auto& [name, weight] : weights_) weight.mutable_grad().reset();
  gradients_.clear();
  outcome_ = {};
  recorder_->forget();
}

void CapturedSteps::record(const ModelInput& input, const Tensor& targets, const State& state, const Work& work) {
  const auto own = [&](const Tensor& tensor) {
    return tensor.defined() ? torch::empty_like(tensor, tensor.options().device(device_)).copy_(tensor) : tensor;
  };
  input_ = input;
  for (Tensor* tensor : {&input_.tokens, &input_.positions, &input_.boundaries, &input_.noise}) *tensor = own(*tensor);
  targets_ = own(targets);
  state_.clear();
  for (const Tensor& tensor : state) state_.push_back(own(tensor));
  ++recordings_;
  const DrawsOfRecording draws(recorder_->draws());
  recorder_->record([this, work] {
    for (auto& [name, weight] : weights_)
      weight.mutable_grad().reset();  // the recording creates gradients, it adds to none
    outcome_ = work(input_, targets_, state_);
    gradients_.clear();
    for (const auto& [name, weight] : weights_) gradients_.push_back(weight.grad());
  });
}

}  // namespace xlm
