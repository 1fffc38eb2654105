// Checks the cost of a step on a device: its time against the arithmetic limit, and its memory.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/progress.h"
#include "bench/checks.h"
#include "bench/training_step.h"
#include "core/runtime/device.h"

namespace xlm {

std::vector<Check> check_steps(const CheckJob& job) {
  const Precision precision = job.device.is_cuda() ? Precision::kBfloat16 : Precision::kFloat32;
  const double rate = fastest_product(precision == Precision::kBfloat16 ? torch::kBFloat16 : torch::kFloat, job.device);
  // Copying a large tensor reads and writes it once.
  torch::Tensor from =
      torch::ones({std::int64_t{1} << (job.device.is_cuda() ? 29 : 24)}, torch::TensorOptions().device(job.device));
  torch::Tensor to = torch::empty_like(from);
  double copied = 0;
  for (int i = 0; i < 5; ++i) {
    wait_for(job.device);
    const double start = monotonic_seconds();
    to.copy_(from);
    wait_for(job.device);
    copied = std::max(copied, 2 * static_cast<double>(from.nbytes()) / (monotonic_seconds() - start));
  }
  for (torch::Tensor* tensor : {&from, &to}) tensor->reset();  // not part of a step's memory
  std::vector<Check> checks{
      {.name = "fastest product and copy",
       .bound = "above 0 (measured on one H200: 790 TFLOP/s in bfloat16, 4.3 TB/s)",
       .measured = fmt::format("{:.3g} TFLOP/s in {}, {:.3g} TB/s", rate / 1e12,
                               kPrecisionNames.at(static_cast<std::size_t>(precision)), copied / 1e12),
       .passed = rate > 0 && copied > 0}};
  const bool timed = job.size != CheckSize::kLeast;  // a single step is too short to time while other programs run
  std::vector<std::string> chosen;
  if (job.size == CheckSize::kSmall) chosen = {"s256", "s1024", "fixed2-512", "whitespace-512", "gpt2-recurrent"};
  if (job.size == CheckSize::kLeast) chosen = {"s256"};
  for (const StepRow& row : job.size == CheckSize::kPaper ? rows_for_a_gpu() : rows_for_a_processor()) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), row.name) == chosen.end()) continue;
    if (monotonic_seconds() > job.until) {
      checks.push_back({.name = row.name, .bound = "", .measured = "no time"});
      continue;
    }
    Check check{.name = row.name,
                .bound = timed ? "between 0 and 100 % of the limit" : "above 0 % of the limit",
                .measured = {},
                .passed = false};
    try {
      const StepCost cost = measure_steps(row, timed ? std::min<std::int64_t>(row.max_steps, 5) : 1, precision,
                                          job.device, default_recorder(job.device));
      // The time of arithmetic, and of an update that reads and writes each weight with its gradient and two sums.
      constexpr double kUpdateBytes = 28;
      const double limit = arithmetic_limit(row, cost, rate) + kUpdateBytes * cost.parameters / copied;
      const double share = limit / cost.seconds;
      check.passed = share > 0 && (share <= 1 || !timed);
      check.measured = fmt::format("{:.1f} ms{}, {}; limit {:.1f} ms ({:.0f} %)", 1e3 * cost.seconds,
                                   cost.recorded ? " recorded" : "", fmt::format("{:.2f} GB", cost.memory / 1e9),
                                   1e3 * limit, 100 * share);
    } catch (const c10::Error& error) {
      check.measured = error.what_without_backtrace();
      check.measured = check.measured.substr(0, check.measured.find('\n'));
    }
    checks.push_back(std::move(check));
  }
  return checks;
}

}  // namespace xlm
