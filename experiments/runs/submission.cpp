// Submits a run.
#include "experiments/runs/submission.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/staged_folder.h"
#include "base/version.h"
#include "datasets/prepared/text_hash.h"
#include "experiments/configuration/evaluation_command.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/run_checkpoints.h"
#include "experiments/runs/stop_request.h"
#include "experiments/runs/wanted_evaluations.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr const char* kSubmissionStage = ".new";

Json submitted_environment(const PlannedRun& run) {
  const PreparedSummary& data = run.inputs.data;
  Json environment = {{"xlm", kVersion},
                      {"commit", kCommit},
                      {"dataset", data.dataset},
                      {"language", data.language},
                      {"fingerprint", data.fingerprint},
                      {"symbols", data.symbols}};
  if (data.train_tokens > 0) environment["train_tokens"] = data.train_tokens;
  if (const fs::path folder = run.options.data.path; fs::is_regular_file(folder / "meta.json")) {
    environment["texts"] = text_hashes(folder);
  }
  if (!run.inputs.git.empty()) environment["git"] = run.inputs.git;
  for (const auto& [key, hash] : run.inputs.contents) environment["contents"][key] = hash;
  if (!run.source_setting.empty()) environment["source_setting"] = run.source_setting;
  if (run.branch) environment.update(run.branch->environment);
  return environment;
}

/// What a run begins with is in its folder from the first moment: the run that has saved it may save on, or go.
void bring_start_of(const PlannedRun& planned, const fs::path& folder) {
  if (planned.branch) bring_branch(*planned.branch, folder);
  const fs::path weights = planned.options.init_from;
  if (step_of_checkpoint(weights) < 0) return;
  bring_start(weights, folder);
  write_file(RunPaths{folder}.checkpoints() / kStartVocabulary,
             vocabulary_json(vocabulary_of_run(weights.parent_path().parent_path())));
}

/// A program is run from a copy of its code, whatever is edited meanwhile.
void freeze_program(const PlannedRun& planned) {
  if (!planned.options.program) return;
  freeze_code(*planned.inputs.code, frozen_programs(planned.paths.folder.parent_path()));
}

/// Writes files again that the folder has lost. Their content is known: the folder's name says what work it holds.
void restore(const PlannedRun& planned, const NewRun& content) {
  if (holds_run(planned.paths.folder, planned.options, planned.inputs).has_value()) return;
  const auto is_readable = [](const auto& read) {
    try {
      read();
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  const RunPaths& paths = planned.paths;
  if (!is_readable([&] { read_run_options(read_yaml(paths.config())); })) write_file(paths.config(), content.config);
  if (!is_readable([&] { read_json_object(paths.environment()); })) {
    write_file(paths.environment(), json_text(content.environment));
  }
}

/// A value that another sweep chose, as a record of the journal.
Json choice_record(const RecordedChoice& choice) {
  return {
      {"key", choice.key}, {"value", choice.value}, {"file", choice.file}, {"by", choice.by}, {"runs", choice.runs}};
}

/// Another sweep may have chosen a value since the run was made with it.
void record_choices(const PlannedRun& planned, const Run& run) {
  for (const RecordedChoice& choice : planned.choices) {
    const Json* known = run.param(std::string(kChosenPrefix) + choice.key);
    if (known != nullptr && *known == chosen_by(choice.runs)) continue;
    Journal(planned.paths.journal()).append("choice", choice_record(choice), true);
  }
}

/// A run that is done keeps its config.yaml, and a direction may be declared or corrected later.
void record_directions(const PlannedRun& planned, const Run& run) {
  if (!planned.options.program) return;
  Json news = Json::object();
  for (const auto& [name, better] : planned.options.program->better) {
    const Json* known = run.param(std::string(kDirectionPrefix) + name);
    if (known != nullptr && *known == better) continue;
    news[name] = better;
  }
  if (!news.empty()) Journal(planned.paths.journal()).append("better", {{"values", std::move(news)}}, true);
}

/// Vouches for what this user submits to a program's run: its configuration, and its code unless that also has files
/// which the user's code does not have.
void vouch(const PlannedRun& planned, const fs::path& folder, const std::string& config) {
  if (!planned.options.program) return;
  const std::string& code = planned.inputs.contents.at("program.folder");
  std::vector<std::string> texts{submitted_config(config)};
  if (code == planned.inputs.read_code) texts.push_back(submitted_code(code));
  note_submitted(folder, texts, planned.id());
}

/// Device, processes and other settings that do not change the result may change between two attempts.
void refresh(const PlannedRun& planned) {
  const Run run = read_live_run(planned.paths.folder);
  const std::string& experiment = planned.options.experiment;
  if (!contains(run.experiments, experiment)) {
    Journal(planned.paths.journal()).append("experiment", {{"name", experiment}}, true);
  }
  record_choices(planned, run);
  record_directions(planned, run);
  if (run.status == RunStatus::kDone || run.status == RunStatus::kRunning) {
    if (!planned.options.program) return;
    const std::string config = read_file(planned.paths.config());
    const bool is_ours = holds_run(planned.paths.folder, config, planned.options, planned.inputs).value_or(false);
    if (is_ours) vouch(planned, planned.paths.folder, config);
    return;
  }
  RunConfiguration options = planned.options;
  options.experiment = run.experiment;
  const std::string text = to_text(resolved(options));
  if (read_file(planned.paths.config()) != text) write_file(planned.paths.config(), text);
  vouch(planned, planned.paths.folder, text);
}

}  // namespace

bool create_run_folder(const fs::path& folder, const NewRun& content) {
  if (fs::exists(folder)) return false;
  const StagedFolder made(folder, kSubmissionStage);
  const RunPaths paths{made.path()};
  write_file(paths.config(), content.config);
  write_file(paths.environment(), json_text(content.environment));
  if (content.bring) content.bring(made.path());
  {
    Journal journal(paths.journal());
    for (const auto& [type, fields] : content.records) journal.append(type, fields, true);
  }
  return made.move_into_place();
}

void remove_unfinished_submissions(const fs::path& runs) { remove_left_folders(runs, kSubmissionStage); }

void submit(const PlannedRun& run) {
  const std::string& experiment = run.options.experiment;
  NewRun content{
      .config = to_text(resolved(run.options)),
      .environment = submitted_environment(run),
      .records = {{"experiment", {{"name", experiment}}}, {"state", {{"state", "queued"}, {"experiment", experiment}}}},
      .bring = [&](const fs::path& folder) {
        bring_start_of(run, folder);
        vouch(run, folder, content.config);
      }};
  if (run.branch) {
    for (const std::string& note : run.branch->notes) content.records.emplace_back("message", Json{{"text", note}});
  }
  for (const RecordedChoice& choice : run.choices) content.records.emplace_back("choice", choice_record(choice));
  freeze_program(run);
  const fs::path& folder = run.paths.folder;
  if (create_run_folder(folder, content)) return;
  if (!fs::is_directory(folder)) {
    throw DataError(
        fmt::format("{} is in the way of a run folder\nremove it, or choose another --runs", folder.string()));
  }
  withdraw_stop(folder);
  restore(run, content);
  refresh(run);
}

std::set<std::string> frozen_code_of(const Run& run) {
  const std::string* const code = find_in(run.contents, "program.folder");
  if (code == nullptr) return {};
  std::set<std::string> hashes{*code};
  for (const WantedEvaluation& wanted : missing_evaluations(run, run.wanted)) {
    if (!wanted.program.is_null()) hashes.insert(evaluation_code(wanted.program));
  }
  hashes.erase("");
  return hashes;
}

void restore_unpacked_programs(const fs::path& runs) { restore_unpacked_code(frozen_programs(runs)); }

void copy_program_code(const Run& run, const fs::path& runs) {
  const fs::path there = frozen_programs(run.folder.parent_path());
  const fs::path here = frozen_programs(runs);
  for (const std::string& hash : frozen_code_of(run)) {
    if (!fs::is_directory(code_folder(there, hash))) continue;
    // Many runs have one copy; only those that will be run from it look whether it is whole.
    if (run.status == RunStatus::kDone && fs::is_directory(code_folder(here, hash))) continue;
    try {
      copy_frozen_code(there, here, hash);
    } catch (const Error&) {
      // A damaged copy is of no use there either.
    }
  }
}

}  // namespace xlm
