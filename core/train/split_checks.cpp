// Whether the data's splits suffice for a run.
#include "core/train/split_checks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "core/eval/evaluation.h"

namespace xlm {

void check_splits(const PreparedData& data, const RunOptions& options, const LanguageModel& model, TrainSink& sink) {
  const SplitSettings settings = split_settings(options, torch::kCPU);
  for (const std::string split : {"valid", "test"}) {
    const auto found = data.splits.find(split);
    if (found == data.splits.end()) continue;
    TokenSource source(found->second, {});
    source.set_vocabulary(data.vocabulary);
    scheme_of(model).check_split(source, settings, fmt::format("the split '{}' of {}", split, data.path.string()));
  }
  if (data.splits.contains("valid")) return;
  const std::int64_t evaluated = options.train.eval_every;
  if (evaluated > 0 && (options.train.has_budget() || evaluated < options.train.steps)) {
    throw DataError(fmt::format(
        "{} has no split 'valid', which train.eval_every={} needs\nuse train.eval_every=0, or make the split with "
        "xlm prepare-data --split",
        data.path.string(), evaluated));
  }
  if (options.eval.select == EvalOptions::Select::kBest) {
    sink.message(
        fmt::format("warning: {} has no split 'valid', which eval.select=best needs: the last weights become the model",
                    data.path.string()));
  }
}

}  // namespace xlm
