// Whether memory suffices to train a model, and to compute a step.
#include "core/train/memory_check.h"

#include <new>
#include <string>

#include <fmt/format.h>

#include "base/memory_limit.h"
#include "base/text.h"
#include "core/models/language_model.h"
#include "core/runtime/device.h"

namespace xlm {

void check_memory(const RunOptions& options, std::int64_t symbols, torch::Device device, std::uint64_t available) {
  if (!device.is_cpu()) return;
  const double weights = model_costs(options.model, symbols, options.train.block).at("params");
  const OptimizerOptions::Type type = options.optimizer.type;
  const bool has_two = type == OptimizerOptions::Type::kAdam || type == OptimizerOptions::Type::kAdamW;
  const int kept = has_two ? 2 : 1;  // averages of each gradient, at least
  const double needed = weights * (2 + kept) * sizeof(float);
  if (needed <= static_cast<double>(available)) return;
  throw MemoryLimitError(
      fmt::format("out of memory: {} weights, their gradients and the optimiser's averages need {:.1f} GB; this "
                  "process may use {:.1f} GB\nuse a smaller model",
                  human_count(weights), needed / 1e9, static_cast<double>(available) / 1e9));
}

double within_memory_of_a_step(std::int64_t rows, const std::function<double()>& work) {
  std::string what;
  try {
    return work();
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
    what = ": " + first_line(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    // The workspace of a kernel. The exception has no details.
  }
  throw StepMemoryError(fmt::format("out of memory{}\nuse a smaller model or a smaller train.micro_batch", what), rows);
}

}  // namespace xlm
