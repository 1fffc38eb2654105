// The energy that a run uses: of this machine's processors as Linux tells it (RAPL), and of the run's GPUs as NVIDIA's
// driver does (NVML).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "core/api/interface.h"

namespace xlm {

/// Some of the GPUs that CUDA shows to this process, in its order.
struct GpuRange {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  std::int64_t first = 0;
  std::int64_t count = 0;  // 0: none
};

/// `count` GPUs from that of a device on: "cuda:1" is the second, "cuda" the first, and "cpu" none.
GpuRange gpus_from(const std::string& device, std::int64_t count);

/// Adds up counters since it was made. They count whole processors and cards, other programs included.
class EnergyMeter {
 public:
  /// `processors` holds intel-rapl:N/energy_uj; `library` is NVML's, which comes with the driver.
  explicit EnergyMeter(const GpuRange& gpus, const fs::path& processors = "/sys/class/powercap",
                       const std::string& library = "libnvidia-ml.so.1");

  /// Joules so far: "energy" of the processors, "energy_gpu" of the GPUs. What the machine does not tell this user, or
  /// tells of some of the GPUs only, is left out. Call it more often than a processor's counter begins again: that
  /// takes most of an hour.
  NamedValues joules();

 private:
  struct Counter {
    std::string quantity;
    double unit = 1;          // in joules
    std::uint64_t range = 0;  // behind which it begins again; 0: it does when the driver is loaded again
    std::function<std::optional<std::uint64_t>()> read;
    std::uint64_t last = 0;
    double units = 0;  // so far
  };

  static std::vector<Counter> counters_of_processors(const fs::path& folder);
  static std::vector<Counter> counters_of_gpus(const GpuRange& gpus, const std::string& library);

  std::vector<Counter> counters_;
};

}  // namespace xlm
