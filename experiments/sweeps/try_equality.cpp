// At what the sides of a try are equal.
#include "experiments/sweeps/try_equality.h"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/runs/live_run.h"
#include "results/quantities/number_format.h"
#include "results/run_folder/run_cost.h"

namespace xlm {
namespace {

/// Means over the runs of a side that are done; 0: unknown.
struct MeanRun {
  double steps = 0;
  double flops = 0;
  double seconds = 0;       // of training
  double work_seconds = 0;  // in which workers had the run, with its start, its evaluations and what kills undid
  double params = 0;
};

std::optional<MeanRun> mean_run(const std::set<fs::path>& folders) {
  MeanRun mean;
  double count = 0;
  double timed = 0;  // runs that say the time of their steps
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder)) continue;
    const Run run = read_live_run(folder);
    if (run.status != RunStatus::kDone) continue;
    ++count;
    mean.steps += static_cast<double>(run.step);
    timed += run.costs.contains("step_seconds") ? 1 : 0;
    mean.seconds += value_or(run.costs, "step_seconds", 0) * static_cast<double>(run.step);
    mean.work_seconds += busy_seconds(run);
    mean.flops += value_or(run.costs, "training_flops", 0);
    mean.params += value_or(run.costs, "params", 0);
  }
  if (count == 0) return std::nullopt;
  if (timed < count) mean.seconds = 0;
  return MeanRun{mean.steps / count, mean.flops / count, mean.seconds / count, mean.work_seconds / count,
                 mean.params / count};
}

/// "1.3 × the time"; empty if both are the same but for a share, or if one is unknown.
std::string ratio_text(double change, double base, double share, const char* what) {
  if (change <= 0 || base <= 0 || std::abs(change / base - 1) <= share) return "";
  return fmt::format(", {} × the {}", with_digits(change / base, 3), what);
}

}  // namespace

std::string equality_in_words(const std::set<fs::path>& change, const std::set<fs::path>& base) {
  constexpr double kSameTime = 0.1;  // of one program on one machine
  constexpr double kSameCount = 0.001;
  const std::optional<MeanRun> a = mean_run(change);
  const std::optional<MeanRun> b = mean_run(base);
  if (!a || !b) return "";
  std::string text = a->steps == b->steps ? fmt::format("equal steps ({:.0f})", a->steps)
                                          : fmt::format("unequal steps ({:.0f} against {:.0f})", a->steps, b->steps);
  text += ratio_text(a->flops, b->flops, kSameCount, "FLOPs");
  const bool are_timed = a->seconds > 0 && b->seconds > 0;
  text +=
      ratio_text(are_timed ? a->seconds : a->work_seconds, are_timed ? b->seconds : b->work_seconds, kSameTime, "time");
  return text + ratio_text(a->params, b->params, kSameCount, "parameters");
}

}  // namespace xlm
