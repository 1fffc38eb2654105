// The energy that the GPUs of a run use, as NVIDIA's driver tells it (NVML).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "experiments/worker/nvml.h"

namespace xlm {

/// Adds up what some cards use since it was made, each as a whole: other programs on them are included. A card without
/// a counter of energy is asked what power it draws whenever the meter is looked at, and that is integrated.
class GpuEnergyMeter {
 public:
  explicit GpuEnergyMeter(const GpuRange& gpus, const std::string& library = Nvml::kLibrary,
                          std::function<double()> clock = monotonic_seconds);

  /// Joules so far; nullopt if there is no NVML, or if one of the cards is unknown or tells nothing.
  std::optional<double> joules();

  /// Asks cards without a counter for their power, once a second at most.
  void look();

  /// How many cards have no counter.
  std::int64_t without_counter() const;

 private:
  struct Meter {
    Nvml::Card card = nullptr;
    bool has_counter = false;
    std::uint64_t last = 0;  // millijoules of the counter, or milliwatts
  };

  void add_up();

  std::function<double()> clock_;
  std::unique_ptr<const Nvml> nvml_;
  std::vector<Meter> meters_;
  double looked_ = 0;  // when
  double millijoules_ = 0;
};

}  // namespace xlm
