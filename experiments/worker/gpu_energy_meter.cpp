// The energy that the GPUs of a run use.
#include "experiments/worker/gpu_energy_meter.h"

#include <algorithm>
#include <utility>

namespace xlm {
namespace {

constexpr double kJoulesOfMillijoule = 1e-3;
constexpr double kBetweenGpuLooks = 1;  // seconds

}  // namespace

GpuEnergyMeter::GpuEnergyMeter(const GpuRange& gpus, const std::string& library, std::function<double()> clock)
    : clock_(std::move(clock)) {
  if (gpus.count > 0) nvml_ = Nvml::open(library);
  if (!nvml_) return;
  for (Nvml::Card card : nvml_->cards_of(gpus)) {
    const std::optional<std::uint64_t> counter = nvml_->millijoules(card);
    const std::optional<std::uint64_t> first = counter ? counter : nvml_->milliwatts(card);
    if (!first) {
      meters_.clear();  // the others alone would pass for the energy of all
      return;
    }
    meters_.push_back({.card = card, .has_counter = counter.has_value(), .last = *first});
  }
  looked_ = clock_();
}

void GpuEnergyMeter::add_up() {
  const double now = clock_();
  const double seconds = now - std::exchange(looked_, now);
  for (Meter& meter : meters_) {
    const std::uint64_t before = meter.last;
    if (!meter.has_counter) {
      meter.last = nvml_->milliwatts(meter.card).value_or(before);
      millijoules_ += seconds * (static_cast<double>(before) + static_cast<double>(meter.last)) / 2;
    } else if (const std::optional<std::uint64_t> count = nvml_->millijoules(meter.card)) {
      meter.last = *count;
      // A counter begins again at 0 when the driver is loaded again.
      millijoules_ += static_cast<double>(*count >= before ? *count - before : *count);
    }
  }
}

std::optional<double> GpuEnergyMeter::joules() {
  if (meters_.empty()) return std::nullopt;
  add_up();
  return kJoulesOfMillijoule * millijoules_;
}

void GpuEnergyMeter::look() {
  if (without_counter() > 0 && clock_() - looked_ >= kBetweenGpuLooks) add_up();
}

std::int64_t GpuEnergyMeter::without_counter() const {
  return std::count_if(meters_.begin(), meters_.end(), [](const Meter& meter) { return !meter.has_counter; });
}

}  // namespace xlm
