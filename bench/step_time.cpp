// Time and memory of one training step (forward, backward, update) at fixed settings, with the arithmetic limit.
//   step_time [--device D] [--threads N] [--steps N] [--precision float32|bfloat16] [--unrecorded] [ROW…]
// On a GPU it records steps as runs do (train.cuda_graph) unless --unrecorded is given.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/terminal.h"
#include "base/text.h"
#include "bench/training_step.h"
#include "core/kernels/packed_operands.h"
#include "core/runtime/device.h"

namespace xlm {
namespace {

int run(int argc, char** argv) {
  std::int64_t steps = 10;
  std::int64_t threads = 0;
  Precision precision = Precision::kFloat32;
  std::string name = "cpu";
  bool unrecorded = false;
  std::vector<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--steps" && parse_integer(next, steps)) {
      ++i;
    } else if (word == "--threads" && parse_integer(next, threads)) {
      ++i;
    } else if (word == "--precision" && (next == "float32" || next == "bfloat16")) {
      precision = next == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat32;
      ++i;
    } else if (word == "--device" && !next.empty()) {
      name = next;
      ++i;
    } else if (word == "--unrecorded") {
      unrecorded = true;
    } else if (!word.starts_with("-")) {
      chosen.push_back(word);
    } else {
      fmt::print(
          stderr,
          "usage: step_time [--device D] [--threads N] [--steps N] [--precision float32|bfloat16] [--unrecorded] "
          "[ROW…]\n");
      return 2;
    }
  }
  keep_freed_memory();
  RunOptions settings;
  settings.device = name;
  settings.train.threads = threads;
  const torch::Device device = prepare_device(settings);  // as for a run: it chooses among libtorch's kernels, too
  const bool lower = precision == Precision::kBfloat16 && (device.is_cuda() || has_bfloat16_products());
  const double rate = fastest_product(lower ? torch::kBFloat16 : torch::kFloat, device);
  fmt::print("{}{} threads, {}, fastest product {:.0f} GFLOP/s\n", device.is_cpu() ? "" : device.str() + ", ",
             at::get_num_threads(), kPrecisionNames.at(static_cast<std::size_t>(precision)), 1e-9 * rate);
  std::vector<TextTable::Column> columns{{"row"},           {"ms/step", true},  {"tokens/s", true},
                                         {"peak MB", true}, {"limit ms", true}, {"of limit", true}};
  if (device.is_cuda()) columns.push_back({"recorded"});
  TextTable table(columns);
  for (const StepRow& row : device.is_cpu() ? rows_for_a_processor() : rows_for_a_gpu()) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), row.name) == chosen.end()) continue;
    const StepCost cost = measure_steps(row, std::min(steps, row.max_steps), precision, device,
                                        unrecorded ? nullptr : default_recorder(device));
    const double limit = arithmetic_limit(row, cost, rate);
    std::vector<std::string> cells{row.name,
                                   fmt::format("{:.1f}", 1e3 * cost.seconds),
                                   fmt::format("{:.0f}", static_cast<double>(row.batch * row.block) / cost.seconds),
                                   fmt::format("{:.0f}", cost.memory / 1e6),
                                   fmt::format("{:.1f}", 1e3 * limit),
                                   fmt::format("{:.0f} %", 100 * limit / cost.seconds)};
    if (device.is_cuda()) cells.emplace_back(cost.recorded ? "yes" : "no");
    table.add(cells);
  }
  fmt::print("{}", table.render(TextTable::Format::kText));
  return 0;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) {
  try {
    return xlm::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
