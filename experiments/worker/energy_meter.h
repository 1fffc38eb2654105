// The energy that this machine's processors use, as Linux tells it (RAPL).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/files.h"

namespace xlm {

/// Adds up the counters of all processor packages since it was made. They count the whole machine, other programs
/// included.
class EnergyMeter {
 public:
  /// `folder` holds intel-rapl:N/energy_uj, microjoules that begin again at 0 behind max_energy_range_uj.
  explicit EnergyMeter(const fs::path& folder = "/sys/class/powercap");

  /// Joules so far; nullopt if the machine tells nothing, or not to this user. Call it more often than a counter
  /// begins again: a full processor takes most of an hour for that.
  std::optional<double> joules();

 private:
  struct Package {
    fs::path counter;
    std::int64_t range = 0;
    std::int64_t last = 0;
  };
  std::vector<Package> packages_;
  double microjoules_ = 0;
};

}  // namespace xlm
