// Records of claims.
#include "cmd/claims_record.h"

#include <algorithm>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/version.h"
#include "cmd/claims_view.h"
#include "cmd/evaluation_target.h"
#include "cmd/results_store.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/sealed_test.h"
#include "experiments/runs/store_update.h"
#include "experiments/sweeps/sweep_plan.h"
#include "results/claims/claim_description.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/registration.h"

namespace xlm {
namespace {

/// A planned run: what its point sets, its data and its code.
Json planned_form(const SweepRun& run) {
  const RunInputs& inputs = run.planned.inputs;
  const auto code = inputs.contents.find("program.folder");
  return {{"point", planned_point(run.point)},
          {"data", inputs.data.fingerprint},
          {"code", code == inputs.contents.end() ? "" : code->second}};
}

struct ClaimedRuns {
  Json record;  // of the chain, but for the hash before it
  std::vector<SweepRun> runs;
};

ClaimedRuns claimed_runs(const ClaimsOptions& options, const GlobalOptions& global) {
  const Yaml tree =
      configuration_of(read_yaml_argument(options.file), options.file, options.profile, options.overrides);
  Json claims = Json::object();
  for (const Yaml& node : find_exhibits(tree, ExhibitKind::kClaim))
    claims[read_claim_description(node).name] = to_json(node);
  std::vector<SweepRun> planned =
      plan_sweep(recipe_of(tree, options.overrides), global.runs, false, {.choose = choose_in_store(global)});
  Json runs = Json::object();
  for (const SweepRun& run : planned) runs[run.id()] = planned_form(run);
  Json record = {{"time", wall_seconds()},     {"version", kVersion},         {"file", options.file.string()},
                 {"profile", options.profile}, {"claims", std::move(claims)}, {"runs", std::move(runs)}};
  return {std::move(record), std::move(planned)};
}

/// Throws if the test of a sweep cannot be opened for all of its runs at once.
void check_can_be_opened(const std::vector<SweepRun>& runs) {
  std::size_t open = 0;
  std::size_t undone = 0;
  for (const SweepRun& run : runs) {
    if (!run.planned.options.eval.seals("test")) ++open;
    if (run.status != RunStatus::kDone && run.status != RunStatus::kDiverged) ++undone;
  }
  if (open > 0) {
    throw UsageError(fmt::format("{} of {} seal no test\nset eval.sealed: test before they begin", open,
                                 counted(runs.size(), "run")));
  }
  if (undone == 0) return;
  throw DataError(
      fmt::format("{} of {} are not done: their numbers could follow from what the test says\n"
                  "open it when the sweep is done",
                  undone, counted(runs.size(), "run")));
}

}  // namespace

int register_claims(const ClaimsOptions& options, const GlobalOptions& global) {
  auto [record, runs] = claimed_runs(options, global);
  if (!options.page.empty()) record["page"] = sha256_file(options.page);
  const Registration made = register_record(global.runs, std::move(record));
  print(fmt::format("xlm claims {}\n", made.hash));
  say(fmt::format("registered: {} on {}\n", counted(made.record["claims"].size(), "claim"),
                  counted(runs.size(), "run")));
  const auto begun = std::ranges::count_if(runs, [](const SweepRun& run) { return !run.status.is_absent(); });
  say(begun == 0
          ? "commit this line, or send it to others, before the runs begin\n"
          : fmt::format("{} of them are there already: claims on those that had begun are registered late\n", begun));
  return kDone;
}

void open_test_of(const std::vector<Run>& runs, Json of, const GlobalOptions& global) {
  if (std::ranges::any_of(runs, [](const Run& run) { return is_sealed(run, "test"); })) {
    of[kOpened] = "test";
    for (const char* part : {"claims", "runs"}) {
      if (!of.contains(part)) of[part] = Json::object();
    }
    for (const Run& run : runs) {
      if (!of["runs"].contains(run.id)) of["runs"][run.id] = Json::object();
    }
    const Registration made = register_record(global.runs, std::move(of));
    say(fmt::format("the test of {} is open: xlm claims {}\n", counted(runs.size(), "run"), made.hash));
  }
  std::size_t number = 0;
  for (const Run& run : runs) {
    ++number;
    if (!fs::is_directory(RunPaths{run.folder}.model())) continue;
    const LocatedModel place{.model = RunPaths{run.folder}.model(), .run = run.folder, .name = run.id};
    EvaluationRequest request{
        .place = place, .options = evaluation_options(place, {}), .split = "test", .experiment = ""};
    request.options.data.path = evaluation_data("", place);
    if (find_evaluation(request, run)) continue;
    evaluate_and_record(request, fmt::format("test of run {} of {}", number, runs.size()), global);
  }
  update_store(global.runs, global.store_file());
}

void open_test(const ClaimsOptions& options, const GlobalOptions& global) {
  ClaimedRuns claimed = claimed_runs(options, global);
  check_can_be_opened(claimed.runs);
  std::vector<Run> done;
  for (const SweepRun& planned : claimed.runs) {
    if (planned.status == RunStatus::kDone) done.push_back(read_run(planned.planned.paths.folder));
  }
  open_test_of(done, std::move(claimed.record), global);
}

}  // namespace xlm
