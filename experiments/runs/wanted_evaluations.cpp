// The evaluations that a sweep wants of a run.
#include "experiments/runs/wanted_evaluations.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/foreign_error.h"
#include "experiments/runs/journal_sink.h"
#include "experiments/runs/model_card.h"

namespace xlm {
namespace {

/// Ends an evaluation from within: nothing of it is kept, so that it can be left at any moment.
struct EvaluationStopped {};

bool is_there(const Run& run, const WantedEvaluation& wanted) {
  try {
    return find_evaluation(request_of(run, wanted), run).has_value();
  } catch (const Error&) {
    return false;
  }
}

void make_evaluation(Core& core, const Run& run, const RunOptions& options, const WantedEvaluation& wanted,
                     const EvaluationWatch& watch) {
  EvaluationRequest request = request_of(run, wanted);
  request.options.device = options.device;
  request.options.train.threads = options.train.threads;
  Evaluation evaluation = core.evaluate(
      {.model = request.place.model, .options = request.options, .split = request.split}, [&](double, double) {
        if (watch.should_stop && watch.should_stop()) throw EvaluationStopped();
      });
  evaluation.split = request.split;
  watch.check_owner();
  // The card comes first: an evaluation that is there is not made again, nor is the card then.
  record_evaluation(request, evaluation, run.folder.parent_path(), describe_model);
  watch.log(fmt::format("{}  {}", shown(wanted), evaluation_text(evaluation)));
}

}  // namespace

std::string shown(const WantedEvaluation& wanted) {
  return wanted.changes.empty() ? wanted.split : wanted.split + "@" + at_text(wanted.changes);
}

void want(const RunPaths& run, const std::vector<WantedEvaluation>& wanted) {
  if (wanted.empty()) return;
  const std::vector<WantedEvaluation> known = read_run(run.folder).wanted;
  Journal journal(run.journal());
  for (const WantedEvaluation& one : wanted) {
    if (std::find(known.begin(), known.end(), one) != known.end()) continue;
    Json changes = Json::object();
    for (const auto& [key, value] : one.changes) changes[key] = value;
    journal.append("wanted", {{"split", one.split}, {"changes", changes}}, true);
  }
}

EvaluationRequest request_of(const Run& run, const WantedEvaluation& wanted) {
  const RunPaths paths{run.folder};
  const Json* own_data = run.param("data.path");
  std::string data = own_data != nullptr && own_data->is_string() ? own_data->get<std::string>() : "";
  std::vector<std::string> overrides;
  for (const auto& [key, value] : wanted.changes) {
    if (key == "data.path") {
      data = value.get<std::string>();
    } else {
      overrides.push_back(fmt::format("{}={}", key, value.dump()));
    }
  }
  const LocatedModel place{.model = paths.model(), .run = run.folder, .name = run.id};
  EvaluationRequest request{
      .place = place, .options = evaluation_options(place, overrides), .split = wanted.split, .experiment = ""};
  request.options.data.path = data;
  return request;
}

std::vector<WantedEvaluation> missing_evaluations(const Run& run, const std::vector<WantedEvaluation>& wanted) {
  std::vector<WantedEvaluation> missing;
  std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(missing),
               [&](const WantedEvaluation& one) { return !is_there(run, one); });
  return missing;
}

EvaluationsReport make_missing_evaluations(Core& core, const Run& run, const RunOptions& options,
                                           const EvaluationWatch& watch) {
  EvaluationsReport report;
  for (const WantedEvaluation& wanted : missing_evaluations(run, run.wanted)) {
    if (watch.should_stop && watch.should_stop()) report.stopped = true;
    if (report.stopped) break;
    const auto failed = [&](const std::string& why, ExitCode code) {
      const std::string message = fmt::format("the evaluation {} failed: {}", shown(wanted), why);
      watch.log(message);
      if (report.code == kDone) report = {.stopped = false, .code = code, .message = message};
    };
    try {
      make_evaluation(core, run, options, wanted, watch);
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

}  // namespace xlm
