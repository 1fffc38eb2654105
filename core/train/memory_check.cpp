// Whether memory suffices to train a model, and to compute a step.
#include "core/train/memory_check.h"

#include <algorithm>
#include <new>
#include <string>

#include <fmt/format.h>

#include "base/memory_limit.h"
#include "base/text.h"
#include "core/models/model_costs.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

/// What `rows` rows need if each further one needs as much as those between `less` and `more`.
double predicted_bytes(std::int64_t less, double bytes_of_less, std::int64_t more, double bytes_of_more,
                       std::int64_t rows) {
  const double each = std::max(bytes_of_more - bytes_of_less, 0.0) / static_cast<double>(more - less);
  return bytes_of_more + each * static_cast<double>(rows - more);
}

}  // namespace

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

RowsAtOnce rows_in_memory(std::int64_t rows, double available,
                          const std::function<std::optional<double>(std::int64_t)>& bytes_of) {
  const auto in_parts = [rows](std::int64_t most) {
    const std::int64_t parts = (rows + most - 1) / most;
    return (rows + parts - 1) / parts;
  };
  std::int64_t measured = 1;
  std::optional<double> bytes = bytes_of(measured);
  if (!bytes || *bytes > available) return {1, rows == 1 ? bytes.value_or(0) : 0};
  double bytes_of_all = rows == 1 ? *bytes : 0;
  while (measured < rows) {
    const std::int64_t more = std::min(2 * measured, rows);
    const std::optional<double> bytes_of_more = bytes_of(more);
    if (!bytes_of_more || *bytes_of_more > available) {
      if (bytes_of_more) bytes_of_all = predicted_bytes(measured, *bytes, more, *bytes_of_more, rows);
      return {in_parts(measured), bytes_of_all};
    }
    bytes_of_all = predicted_bytes(measured, *bytes, more, *bytes_of_more, rows);
    if (bytes_of_all <= available) return {rows, bytes_of_all};
    const double each = (bytes_of_all - *bytes_of_more) / static_cast<double>(rows - more);
    const auto fitting = more + static_cast<std::int64_t>((available - *bytes_of_more) / each);
    if (fitting < 2 * more) return {in_parts(std::min(fitting, rows)), bytes_of_all};
    measured = more;
    bytes = bytes_of_more;
  }
  return {rows, bytes_of_all};
}

}  // namespace xlm
