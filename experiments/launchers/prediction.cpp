// What runs of other sweeps say of the time and memory that those of a sweep need.
#include "experiments/launchers/prediction.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace xlm {
namespace {

constexpr double kMarginOfShape = 1.5;
constexpr double kMarginOfFlops = 2;  // larger models manage more FLOPs a second, smaller ones less

std::string named(const FinishedRun& run) {
  return run.experiment.empty() ? run.id : fmt::format("{} of experiment {}", run.id, run.experiment);
}

/// Of the finished runs of that shape the one in which `part` is the most; null where none has it.
const FinishedRun* most_of_shape(const std::vector<const FinishedRun*>& finished, const std::string& shape,
                                 double FinishedRun::*part) {
  const FinishedRun* most = nullptr;
  for (const FinishedRun* run : finished) {
    if (run->shape != shape || run->*part <= 0) continue;
    if (most == nullptr || run->*part > most->*part) most = run;
  }
  return most;
}

/// The slowest finished run of that shape among those that are no mere trials, a tenth as long or more: what comes
/// before and after the steps makes those of a short run look long. Where there are trials alone, the longest of them.
const FinishedRun* pace_setter(const std::vector<const FinishedRun*>& finished, const std::string& shape,
                               double steps) {
  const FinishedRun* found = nullptr;
  const auto is_long = [&](const FinishedRun& run) { return 10 * run.steps >= steps; };
  for (const FinishedRun* run : finished) {
    if (run->shape != shape || run->step_seconds <= 0) continue;
    const bool better = found == nullptr || (is_long(*run) && !is_long(*found)) ||
                        (is_long(*run) == is_long(*found) &&
                         (is_long(*run) ? run->step_seconds > found->step_seconds : run->steps > found->steps));
    if (better) found = run;
  }
  return found;
}

/// The finished run of that type, precision and number of processes whose steps come nearest in FLOPs; null where there
/// is none.
const FinishedRun* nearest_in_flops(const std::vector<const FinishedRun*>& finished, const RunOptions& options,
                                    double step_flops) {
  const auto distance = [&](const FinishedRun& run) { return std::abs(std::log(run.step_flops / step_flops)); };
  const FinishedRun* nearest = nullptr;
  for (const FinishedRun* run : finished) {
    const bool alike = run->model == options.model.type() && run->precision == options.train.precision &&
                       run->processes == options.train.processes;
    if (!alike || run->step_flops <= 0 || run->step_seconds <= 0) continue;
    if (nearest == nullptr || distance(*run) < distance(*nearest)) nearest = run;
  }
  return nearest;
}

/// Time that a run of so many steps needs; `flops` of all of them, 0: not known.
Need time_of(const std::vector<const FinishedRun*>& finished, const RunOptions& options, const std::string& shape,
             double steps, double flops) {
  if (const FinishedRun* same = pace_setter(finished, shape, steps)) {
    return {kMarginOfShape * steps * same->step_seconds,
            fmt::format("run {}: {:.0f} steps at its speed, and half as much again", named(*same), steps)};
  }
  if (flops <= 0) return {};
  const FinishedRun* near = nearest_in_flops(finished, options, flops / steps);
  if (near == nullptr) return {};
  const double rate = near->step_flops / near->step_seconds;
  return {kMarginOfFlops * flops / rate, fmt::format("by the FLOPs of run {}: {} at its {} a second, and as much again",
                                                     named(*near), human_count(flops), human_count(rate))};
}

}  // namespace

Resources predicted_resources(const std::vector<SweepRun>& runs, const Experience& experience, std::string_view device,
                              std::int64_t nodes) {
  std::vector<const FinishedRun*> finished;
  for (const FinishedRun& run : experience.finished) {
    if (run.device == device) finished.push_back(&run);
  }
  Need time;
  Need memory;
  bool all_times = true;
  bool all_memories = device == "cpu";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunOptions& options = runs[i].planned.options;
    const auto steps = static_cast<double>(options.train.steps - runs[i].checkpoint);
    if (runs[i].action != SweepAction::kRun || runs[i].status == name_of(RunStatus::kDone) || steps <= 0) continue;
    const std::string shape = shape_of(options, runs[i].planned.inputs.data.symbols);
    const double flops = i < experience.costs.size() ? experience.costs[i].flops : 0;
    const Need needed = time_of(finished, options, shape, steps, flops);
    all_times = all_times && needed.known();
    if (needed.value > time.value) time = needed;
    const FinishedRun* largest = most_of_shape(finished, shape, &FinishedRun::peak_memory);
    all_memories = all_memories && largest != nullptr;
    if (largest == nullptr) continue;
    const double on_a_node = kMarginOfShape * largest->peak_memory / static_cast<double>(nodes);
    if (on_a_node <= memory.value) continue;
    memory = {on_a_node, fmt::format("run {}: what it took{}, and half as much again", named(*largest),
                                     nodes > 1 ? fmt::format(", over {} nodes", nodes) : "")};
  }
  Resources predicted;
  if (all_times && time.known()) predicted.time = {whole_time(time.value), time.source};
  if (all_memories) predicted.memory = memory;
  return predicted;
}

}  // namespace xlm
