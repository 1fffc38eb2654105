// What is checked of a device, and what came out.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "base/files.h"

namespace xlm {

/// How much is computed: the papers' own sizes on a GPU, what two cores do in minutes, or in seconds for a test.
enum class CheckSize { kPaper, kSmall, kLeast };

struct CheckJob {
  torch::Device device = torch::kCPU;
  CheckSize size = CheckSize::kSmall;
  fs::path work;           // a folder for what a check writes
  std::uint64_t seed = 0;  // of what is drawn: a check holds for any
};

/// One thing that must hold.
struct Check {
  std::string name;
  std::string bound;
  std::string measured;
  bool passed = false;
};

/// What the program computes with on this device, beside its plain version, in value and gradient.
std::vector<Check> check_kernels(const CheckJob& job);
/// Recorded steps beside unrecorded ones. On a CPU nothing is recorded: the same work runs again on what a recording
/// would read.
std::vector<Check> check_recorded_steps(const CheckJob& job);
/// Windows that are computed again beside windows that are kept.
std::vector<Check> check_windows(const CheckJob& job);
/// Training runs beside those of the CPU in float32.
std::vector<Check> check_losses(const CheckJob& job);
/// Runs that were stopped and resumed beside runs that were not, under train.deterministic.
std::vector<Check> check_resuming(const CheckJob& job);
/// Step time and memory beside the arithmetic limit.
std::vector<Check> check_steps(const CheckJob& job);

}  // namespace xlm
