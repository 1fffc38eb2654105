// What `xlm sweep --dry-run` says.
#include "cmd/sweep_dry_run.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/search_view.h"
#include "cmd/sweep_table.h"
#include "experiments/runs/process_identity.h"
#include "experiments/worker/core_library.h"

namespace xlm {
namespace {

std::string dry_run_json(const std::vector<SweepRun>& runs, const std::vector<CostEstimate>& costs) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json entry = {{"run_id", runs[i].id()}, {"status", name_of(runs[i].status)}, {"reason", runs[i].reason}};
    const bool known = !costs.empty() && !runs[i].planned.options.program;
    entry["params"] = known ? Json(costs[i].params) : Json();
    const TrainOptions& train = runs[i].planned.options.train;
    const bool has_steps = known && costs[i].steps.count > 0;
    entry["steps"] = has_steps ? Json(costs[i].steps.count) : Json(train.steps);
    if (has_steps && !costs[i].steps.is_exact) entry["steps_are_exact"] = false;
    entry["flops"] = known ? Json(costs[i].flops) : Json();
    entry["evaluation_flops"] = known ? Json(costs[i].evaluation_flops) : Json();
    entry["seconds"] = known && costs[i].seconds ? Json(*costs[i].seconds) : Json();
    entry["evaluation_seconds"] = known && costs[i].evaluation_seconds ? Json(*costs[i].evaluation_seconds) : Json();
    if (runs[i].trial > 0) entry["trial"] = runs[i].trial;
    if (!runs[i].evaluations.empty()) entry["evaluations_left"] = runs[i].evaluations_left;
    Json values = Json::object();
    for (const auto& [key, value] : runs[i].point) values[key] = to_json(value);
    entry["values"] = std::move(values);
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

bool is_program(const SweepRun& run) { return run.planned.options.program.has_value(); }

/// "~1200" if the number is not exact.
std::string steps_cell(const SweepRun& run, const ExpectedSteps& expected) {
  const std::int64_t steps = run.planned.options.train.steps;
  if (steps > 0) return fmt::to_string(steps);
  return expected.count > 0 ? fmt::format("{}{:.0f}", expected.is_exact ? "" : "~", expected.count) : "?";
}

}  // namespace

std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs, const fs::path& folder) {
  std::vector<CostEstimate> costs;
  if (std::ranges::all_of(runs, is_program)) return costs;
  try {
    const MachineSpeed speed(folder, this_process().host);
    CostEstimator estimator(core, &speed);
    for (const SweepRun& run : runs) costs.push_back(estimator.of(run));
  } catch (const Error& error) {
    spdlog::warn("no costs: {}", error.what());
    costs.clear();
  }
  return costs;
}

bool has_work(const std::vector<SweepRun>& runs) { return std::ranges::any_of(runs, &SweepRun::is_open); }

void print_dry_run(const std::vector<SweepRun>& runs, const std::optional<Search>& search,
                   const LauncherEntry& launcher, SweepLaunch& launch, const GlobalOptions& global) {
  const std::vector<CostEstimate> costs = estimate_costs(runs, global.runs);
  if (global.json) return print(dry_run_json(runs, costs));
  const auto cells = [&](std::size_t i) {
    const bool known = !costs.empty() && !is_program(runs[i]);
    return std::vector<std::string>{known ? human_count(costs[i].params) : "?",
                                    steps_cell(runs[i], known ? costs[i].steps : ExpectedSteps()),
                                    known ? human_count(costs[i].flops) : "?", runs[i].reason};
  };
  std::string text = table_of_sweep(runs, {{"parameters", true}, {"steps", true}, {"FLOPs left", true}, {"status"}},
                                    cells, global.standard_output);
  std::size_t to_do = 0;
  std::size_t evaluations = 0;
  double flops = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].action == SweepAction::kRun && runs[i].status != RunStatus::kDone) ++to_do;
    evaluations += runs[i].evaluations_left;
    if (!costs.empty()) flops += costs[i].flops;
  }
  text += fmt::format("\n{} of {} runs to do", to_do, runs.size());
  if (evaluations > 0) text += fmt::format(", {} evaluations", evaluations);
  if (!costs.empty())
    text += fmt::format(", about {} FLOPs (a step counted as three forward passes)", human_count(flops));
  if (search) {
    double largest = 0;
    for (const CostEstimate& cost : costs) largest = std::max(largest, cost.flops);
    text += search_rest(*search, runs, largest);
  }
  if (launcher.here) return print(text + "; nothing was written\n" + cost_lines(costs));
  if (has_work(runs)) text = fmt::format("{}\n\n{}", text, trim(launch.preview()));
  print(text + "\nnothing was written or submitted\n" + cost_lines(costs));
}

}  // namespace xlm
