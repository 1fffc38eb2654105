// The evaluations that a sweep wants of a run.
#include "experiments/runs/wanted_evaluations.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "experiments/configuration/evaluation_command.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/sealed_test.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

bool has_evaluation(const Run& run, const WantedEvaluation& wanted) {
  if (!wanted.program.is_null()) {
    const Json settings = settings_by_program(wanted);
    return std::ranges::any_of(run.evaluations, [&](const RunEvaluation& known) {
      return known.split == wanted.split && known.settings == settings;
    });
  }
  try {
    return find_evaluation(request_of(run, wanted), run).has_value();
  } catch (const Error&) {
    return false;
  }
}

Json changes_of(const WantedEvaluation& wanted) {
  Json changes = Json::object();
  for (const auto& [key, value] : wanted.changes) changes[key] = value;
  return changes;
}

std::string submitted(const WantedEvaluation& wanted) {
  return submitted_evaluation({wanted.split, changes_of(wanted), wanted.program});
}

}  // namespace

std::string shown(const WantedEvaluation& wanted) {
  SettingList changes = wanted.changes;
  if (!wanted.program.is_null()) {
    std::erase_if(changes,
                  [](const auto& change) { return change.first.starts_with("data.") && change.first != "data.path"; });
    const auto name = wanted.program.find("name");
    if (name != wanted.program.end()) changes.emplace_back(kEvaluationName, *name);
  }
  return changes.empty() ? wanted.split : wanted.split + "@" + at_text(changes);
}

Json settings_by_program(const WantedEvaluation& wanted) {
  constexpr std::size_t kDigits = 12;
  const Json& program = wanted.program;
  Json how = {program.at("command"), program.value("metrics", Json())};
  if (const std::string code = evaluation_code(program); !code.empty()) how.push_back(code);
  Json settings = {{kEvaluationCommand, sha256(how.dump()).substr(0, kDigits)}};
  if (program.contains("name")) settings[kEvaluationName] = program["name"];
  for (const auto& [key, value] : wanted.changes) {
    if (key != "data.path") settings[key] = value;
  }
  return settings;
}

void want(const RunPaths& run, const std::vector<WantedEvaluation>& wanted) {
  if (wanted.empty()) return;
  for (const WantedEvaluation& one : wanted) {
    if (!one.program.is_null()) freeze_evaluation_code(one.program, run.folder.parent_path());
  }
  const std::vector<WantedEvaluation> known = read_run(run.folder).wanted;
  Journal journal(run.journal());
  for (const WantedEvaluation& one : wanted) {
    if (!one.program.is_null()) note_submitted(run.folder, {submitted(one)});
    if (contains(known, one)) continue;
    Json record = {{"split", one.split}, {"changes", changes_of(one)}};
    if (!one.program.is_null()) record["program"] = one.program;
    journal.append("wanted", record, true);
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
               [&](const WantedEvaluation& one) { return !is_sealed(run, one.split) && !has_evaluation(run, one); });
  return missing;
}

std::vector<WantedEvaluation> evaluations_to_make(const Run& run) {
  std::vector<WantedEvaluation> missing = missing_evaluations(run, run.wanted);
  std::erase_if(missing, [&](const WantedEvaluation& one) {
    return !one.program.is_null() && !is_submitted(run.folder, submitted(one));
  });
  return missing;
}

}  // namespace xlm
