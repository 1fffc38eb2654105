// Budgets of tries.
#include "experiments/sweeps/try_budget.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "experiments/sweeps/asked_resources.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/run_cost.h"

namespace xlm {
namespace {

constexpr std::array<std::string_view, 3> kUnits{"runs", "flops", "tokens"};

/// Seconds in which workers have had a run, up to now.
double seconds_until_now(const Run& run) {
  const bool runs = run.status == RunStatus::kRunning && !run.history.empty();
  return busy_seconds(run) + (runs ? std::max(wall_seconds() - run.history.back().time, 0.0) : 0);
}

/// A number that a run reports while it trains, and once more at its end.
double newest_number(const Run& run, const std::string& name) {
  const auto cost = run.costs.find(name);
  if (cost != run.costs.end()) return cost->second;
  const auto series = run.metrics.find(name);
  return series == run.metrics.end() || series->second.empty() ? 0 : series->second.rbegin()->second;
}

}  // namespace

TryCost& TryCost::operator+=(const TryCost& other) {
  runs += other.runs;
  seconds += other.seconds;
  flops += other.flops;
  tokens += other.tokens;
  return *this;
}

TryCost cost_since(const std::set<fs::path>& run_folders, double time) {
  TryCost cost;
  for (const fs::path& folder : run_folders) {
    if (!fs::exists(folder)) continue;
    const Run run = read_live_run(folder);
    if (run.created.value_or(0) < time || !run.started) continue;
    cost += {.runs = 1,
             .seconds = seconds_until_now(run),
             .flops = newest_number(run, "training_flops"),
             .tokens = newest_number(run, "training_tokens")};
  }
  return cost;
}

Json to_json(const TryCost& cost) {
  return {{"runs", cost.runs}, {"seconds", cost.seconds}, {"flops", cost.flops}, {"tokens", cost.tokens}};
}

TryCost cost_from_json(const Json& json) {
  return {.runs = json.value("runs", std::int64_t{0}),
          .seconds = json.value("seconds", 0.0),
          .flops = json.value("flops", 0.0),
          .tokens = json.value("tokens", 0.0)};
}

TryBudget::TryBudget(const std::string& text, const std::string& option) : text_(text) {
  if (text.empty()) return;
  for (const std::string_view unit : kUnits) {
    if (!text.ends_with(unit)) continue;
    unit_ = unit;
    const std::string_view number = trim(std::string_view(text).substr(0, text.size() - unit.size()));
    if (parse_real(number, most_) && most_ > 0) return;
    throw UsageError(
        fmt::format("{}: '{}' is no number of {} above 0: write 8runs, 1e15flops or 5e6tokens", option, text, unit));
  }
  try {
    most_ = read_duration(make_scalar(text, option), "it");
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "{} is a time, or a number of runs, flops or tokens: 20min, 8runs, 1e15flops; not '{}'", option, text));
  }
}

bool TryBudget::is_spent(const TryCost& cost) const {
  const double spent = unit_ == "runs"     ? static_cast<double>(cost.runs)
                       : unit_ == "flops"  ? cost.flops
                       : unit_ == "tokens" ? cost.tokens
                                           : cost.seconds;
  return spent >= most_ && unit_ != "runs";
}

bool TryBudget::is_unmeasured(const TryCost& cost) const {
  return cost.runs > 0 && ((unit_ == "flops" && cost.flops <= 0) || (unit_ == "tokens" && cost.tokens <= 0));
}

bool TryBudget::has_room_for(std::int64_t runs, const TryCost& cost) const {
  return unit_ == "runs" ? static_cast<double>(cost.runs + runs) <= most_ : !is_spent(cost);
}

}  // namespace xlm
