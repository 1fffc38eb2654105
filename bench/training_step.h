// Measures training steps of fixed sizes: time, memory, and the rate that limits them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include "core/api/model_options.h"
#include "core/api/options.h"
#include "core/models/captured_steps.h"

namespace xlm {

/// A model and a batch whose step is measured.
struct StepRow {
  std::string name;
  ModelOptions model;
  std::int64_t batch;
  std::int64_t block;
  double short_span = 0;        // adaptive span: z of all heads of a layer but one
  double long_span = 0;         // z of that one
  std::int64_t max_steps = 50;  // less for rows that take long
  std::int64_t symbols = 0;     // 0: text8's
  bool recompute = false;       // train.checkpoint_windows
};

/// The rows of docs/performance.md: those of the published comparison, and rows that show what the cost depends on.
std::vector<StepRow> rows_for_a_processor();

/// The papers' sizes, for a GPU.
std::vector<StepRow> rows_for_a_gpu();

struct StepCost {
  double seconds;          // of a step, the median
  double memory;           // the peak in bytes, as peak_memory (core/runtime/device.h) counts
  double flops_per_token;  // of the forward pass
  double parameters;
  bool recorded;  // the steps that were timed replayed a recording
};

/// Measures steps of a row: forward, backward and update. Runs enough steps before to fill the model's caches. Records
/// steps by `recorder`, as a run does, if their operations are known; null: it records none.
StepCost measure_steps(const StepRow& row, std::int64_t steps, Precision precision, torch::Device device,
                       std::unique_ptr<StepRecorder> recorder);

/// What records steps on a device where a run does so by default: a GPU. Null on the CPU.
std::unique_ptr<StepRecorder> default_recorder(torch::Device device);

/// The median of step times. There must be at least one.
double median_seconds(std::vector<double> seconds);

/// FLOP/s of the fastest product that libtorch offers for a large square matrix.
double fastest_product(torch::ScalarType type, torch::Device device);

/// The seconds that a step needs at least for its arithmetic at `rate` FLOP/s. The backward pass counts as two forward
/// passes.
double arithmetic_limit(const StepRow& row, const StepCost& cost, double rate);

}  // namespace xlm
