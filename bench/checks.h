// Checks of a device, and their results.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/files.h"

namespace xlm {

/// How much is computed: the papers' sizes for a GPU, minutes on two cores, or seconds for a test.
enum class CheckSize { kPaper, kSmall, kLeast };

struct CheckJob {
  torch::Device device = torch::kCPU;
  CheckSize size = CheckSize::kSmall;
  fs::path work;                                           // a folder for the files of a check
  std::uint64_t seed = 0;                                  // of the inputs; a check must hold for any
  double until = std::numeric_limits<double>::infinity();  // monotonic_seconds after which no further row is measured
};

/// A measured value, and the bound that it must keep.
struct Check {
  std::string name;
  std::string bound;  // empty: left out, because the time was over
  std::string measured;
  bool passed = false;
};

/// Compares kernels with their plain versions on this device, in value and gradient.
std::vector<Check> check_kernels(const CheckJob& job);
/// Compares recorded steps with unrecorded ones. On a CPU, which cannot record, RerunRecorder stands in.
std::vector<Check> check_recorded_steps(const CheckJob& job);
/// Compares recomputed windows with kept ones.
std::vector<Check> check_windows(const CheckJob& job);
/// Compares training runs with those of the CPU in float32.
std::vector<Check> check_losses(const CheckJob& job);
/// Compares runs that were stopped and resumed with runs that were not, under train.deterministic.
std::vector<Check> check_resuming(const CheckJob& job);
/// Compares step times with the arithmetic limit, and measures memory.
std::vector<Check> check_steps(const CheckJob& job);

}  // namespace xlm
