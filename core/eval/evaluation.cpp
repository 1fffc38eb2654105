// What evaluations of all schemes share.
#include "core/eval/evaluation.h"

#include <array>
#include <optional>

#include "base/error.h"

namespace xlm {
namespace {

/// Sums a result over all processes. If one process stopped, all have.
void unite(SplitLoss& result, ProcessGroup& group) {
  std::array<double, 5> sums{result.loss, static_cast<double>(result.tokens), static_cast<double>(result.bytes),
                             result.stopped ? 1.0 : 0.0, static_cast<double>(result.computed)};
  group.sum(sums.data(), sums.size());
  result.loss = sums[0];
  result.tokens = static_cast<std::int64_t>(sums[1]);
  result.bytes = static_cast<std::int64_t>(sums[2]);
  result.stopped = sums[3] > 0;
  result.computed = static_cast<std::int64_t>(sums[4]);
}

}  // namespace

Counts counts_of_all(const LanguageModel& model, ProcessGroup* group) {
  Counts counts = model.counts();
  if (group == nullptr) return counts;
  group->sum(counts.sums.data(), counts.sums.size());
  group->max(counts.maxima.data(), counts.maxima.size());
  return counts;
}

void unite_counts(LanguageModel& model, ProcessGroup& group) { model.set_counts(counts_of_all(model, &group)); }

SplitLoss evaluate_split(LanguageModel& model, const TokenSource& source, const SplitSettings& settings,
                         const ProgressCallback& progress) {
  const torch::NoGradGuard no_grad;
  const bool was_training = model.is_training();
  model.eval();
  model.reset_statistics();
  std::optional<PartSums> parts;
  SplitSettings with_parts = settings;
  if (settings.by_part) with_parts.parts = &parts.emplace(source);
  SplitLoss result = scheme_of(model).evaluate(model, source, with_parts, progress);
  if (settings.group != nullptr) {
    unite(result, *settings.group);
    unite_counts(model, *settings.group);
    if (parts) parts->unite(*settings.group);
  }
  if (result.tokens == 0) throw DataError("the split has no document of two tokens or more: nothing can be scored");
  result.loss /= static_cast<double>(result.tokens);
  result.statistics = model.statistics();
  if (parts) result.parts = parts->losses();
  model.train(was_training);
  return result;
}

SplitSettings split_settings(const RunOptions& options, torch::Device device) {
  return {.rows = options.eval.batch,
          .block = options.train.block,
          .context = options.eval.context,
          .stride = options.eval.stride,
          .max_windows = options.eval.max_windows,
          .first_token = options.eval.first_token == EvalOptions::FirstToken::kScore,
          .precision = options.train.precision,
          .device = device,
          .by_part = options.eval.by_document};
}

MakeRecorder evaluation_recorder(const RunOptions& options, torch::Device device) {
  if (!device.is_cuda() || options.train.cuda_graph == TrainOptions::CudaGraph::kFalse) return {};
  return [device] { return make_cuda_recorder(device, RecordedUse::kEvaluate); };
}

}  // namespace xlm
