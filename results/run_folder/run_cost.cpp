// What a run cost, added up from its journal.
#include "results/run_folder/run_cost.h"

#include <algorithm>

namespace xlm {
namespace {

constexpr double kSecondsOfAnHour = 3600;

/// Whether the end of an attempt was recorded for its lost worker, perhaps hours later. A worker that records its own
/// end gives its process; an error is seen when it occurs.
bool is_said_later(const RunState& end) {
  return !end.cause.empty() && end.cause != name_of(EndCause::kError) && end.pid == 0;
}

double number_in(const Json& environment, const char* key) {
  const auto found = environment.find(key);
  return found != environment.end() && found->is_number() ? found->get<double>() : 0;
}

/// Of evaluations that were made when no worker trained the run.
double seconds_of_later_evaluations(const Run& run) {
  if (!run.finished) return 0;
  double seconds = 0;
  for (const RunEvaluation& evaluation : run.evaluations) {
    const auto own = evaluation.values.find("seconds");
    if (evaluation.time > *run.finished && own != evaluation.values.end()) seconds += own->second;
  }
  return seconds;
}

}  // namespace

double busy_seconds(const Run& run) {
  double seconds = 0;
  const RunState* began = nullptr;
  for (const RunState& state : run.history) {
    const bool running = state.state == name_of(RunStatus::kRunning);
    if (began != nullptr) {
      const double end = running || is_said_later(state) ? began->last_sign : state.time;
      seconds += state.seconds.value_or(std::max(end - began->time, 0.0));
    }
    began = running ? &state : nullptr;
  }
  return seconds;
}

void add_costs_of_work(Run& run) {
  double flops = 0;
  for (const RunEvaluation& evaluation : run.evaluations) {
    const auto own = evaluation.values.find("flops");
    if (own != evaluation.values.end()) flops += own->second;
  }
  if (flops > 0) run.costs["evaluation_flops"] = flops;
  const double threads = number_in(run.environment, "threads");  // of each process
  const double hours = (busy_seconds(run) + seconds_of_later_evaluations(run)) / kSecondsOfAnHour;
  if (threads <= 0 || hours <= 0) return;
  const double processes = std::max(1.0, number_in(run.environment, "processes"));
  run.costs["processor_hours"] = hours * threads * processes;
  const auto device = run.environment.find("device");
  const bool has_gpu = device != run.environment.end() && device->is_string() &&
                       device->get_ref<const std::string&>().starts_with("cuda");
  if (has_gpu) run.costs["gpu_hours"] = hours * processes;
}

double seconds_of_step(const Run& run) {
  return busy_seconds(run) / static_cast<double>(std::max<std::int64_t>(run.step, 1));
}

}  // namespace xlm
