// Makes the evaluations that a run's journal wants and does not have.
#include "experiments/worker/missing_evaluations.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/foreign_error.h"
#include "experiments/runs/model_card.h"
#include "experiments/runs/wanted_evaluations.h"

namespace xlm {
namespace {

void make_evaluation(Core& core, const Run& run, const RunOptions& options, const WantedEvaluation& wanted,
                     JournalSink& sink) {
  EvaluationRequest request = request_of(run, wanted);
  request.options.device = options.device;
  request.options.train.threads = options.train.threads;
  Evaluation evaluation = core.evaluate(
      {.model = request.place.model, .options = request.options, .split = request.split}, [&](double, double) {
        if (sink.should_stop()) throw EvaluationStopped();
      });
  evaluation.split = request.split;
  sink.check_owner();
  // The card comes first: an evaluation that is there is not made again, nor is the card then.
  record_evaluation(request, evaluation, run.folder.parent_path(), describe_model);
  sink.log(fmt::format("{}  {}", shown(wanted), evaluation_text(evaluation)));
}

}  // namespace

EvaluationsReport make_missing_evaluations(const Run& run, JournalSink& sink,
                                           const std::function<void(const WantedEvaluation&)>& make) {
  EvaluationsReport report;
  for (const WantedEvaluation& wanted : evaluations_to_make(run)) {
    if (sink.should_stop()) report.stopped = true;
    if (report.stopped) break;
    const auto failed = [&](const std::string& why, ExitCode code) {
      const std::string message = fmt::format("the evaluation {} failed: {}", shown(wanted), why);
      sink.log(message);
      if (report.code == kDone) report = {.stopped = false, .code = code, .message = message};
    };
    try {
      make(wanted);
    } catch (const EvaluationStopped&) {
      report.stopped = true;
    } catch (const LostRunError&) {
      throw;
    } catch (const std::exception& error) {
      const Error in_words = as_error(error);
      failed(in_words.what(), in_words.code());
    }
  }
  return report;
}

EvaluationsReport make_missing_evaluations(Core& core, const Run& run, const RunOptions& options, JournalSink& sink) {
  return make_missing_evaluations(
      run, sink, [&](const WantedEvaluation& wanted) { make_evaluation(core, run, options, wanted, sink); });
}

}  // namespace xlm
