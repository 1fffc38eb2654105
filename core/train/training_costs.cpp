// Time and memory of training.
#include "core/train/training_costs.h"

#include <algorithm>

#include "base/progress.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

constexpr std::int64_t kUntimedSteps = 3;  // of every attempt: they warm caches

}  // namespace

void TrainingCosts::begin_step() {
  if (evaluated_) reserved_memory_ = std::max(reserved_memory_, peak_reserved_memory(device_));
  if (evaluated_) memory_before_ = restart_peak_memory(device_) ? 0 : peak_memory(device_);
  evaluated_ = false;
  if (began_ || steps_here_ < kUntimedSteps) return;
  wait_for(device_);
  began_ = monotonic_seconds();
}

void TrainingCosts::end_step(std::int64_t tokens) {
  ++steps_here_;
  stepped_ = true;
  if (!began_) return;
  ++steps_;
  tokens_ += tokens;
}

void TrainingCosts::pause() {
  if (!stepped_) return;
  stepped_ = false;
  wait_for(device_);
  if (began_) seconds_ += monotonic_seconds() - *began_;
  began_.reset();
  const std::int64_t peak = peak_memory(device_);
  if (peak > memory_before_) peak_memory_ = std::max(peak_memory_, peak);
}

void TrainingCosts::evaluated() { evaluated_ = true; }

std::optional<double> TrainingCosts::tokens_per_second() const {
  if (steps_ == 0) return std::nullopt;
  return static_cast<double>(tokens_) / (seconds_ + (began_ ? monotonic_seconds() - *began_ : 0));
}

/// The maximum over all GPUs. 0: unknown.
std::int64_t TrainingCosts::peak_memory_of_all() const {
  auto memory = static_cast<double>(peak_memory_);
  if (group_ != nullptr) group_->max(&memory, 1);
  return std::max(static_cast<std::int64_t>(memory), past_peak_memory_);
}

/// The maximum over all GPUs. 0: unknown, or there is no GPU.
std::int64_t TrainingCosts::reserved_memory_of_all() const {
  auto memory = static_cast<double>(std::max(reserved_memory_, peak_reserved_memory(device_)));
  if (group_ != nullptr) group_->max(&memory, 1);
  return std::max(static_cast<std::int64_t>(memory), past_reserved_memory_);
}

bool TrainingCosts::is_warm() const { return steps_here_ > kUntimedSteps; }

NamedValues TrainingCosts::memory() const {
  NamedValues values;
  const std::int64_t peak = peak_memory_of_all();
  if (peak > 0) values["peak_memory"] = static_cast<double>(peak);
  const std::int64_t reserved = reserved_memory_of_all();
  if (reserved > 0) values["reserved_memory"] = static_cast<double>(reserved);
  return values;
}

NamedValues TrainingCosts::values() const {
  NamedValues values = memory();
  if (steps_ > 0) values["step_seconds"] = seconds_ / static_cast<double>(steps_);
  return values;
}

Json TrainingCosts::state() const {
  Json state{{"seconds", seconds_}, {"steps", steps_}, {"tokens", tokens_}, {"peak_memory", peak_memory_of_all()}};
  const std::int64_t reserved = reserved_memory_of_all();
  if (reserved > 0) state["reserved_memory"] = reserved;
  return state;
}

void TrainingCosts::restore(const Json& state) {
  seconds_ = state.at("seconds").get<double>();
  steps_ = state.at("steps").get<std::int64_t>();
  tokens_ = state.at("tokens").get<std::int64_t>();
  past_peak_memory_ = state.at("peak_memory").get<std::int64_t>();
  past_reserved_memory_ = state.value("reserved_memory", std::int64_t{0});  // of a GPU, in newer checkpoints
}

}  // namespace xlm
