// xlm train: one run, from its configuration to its results.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/docs_pages.h"
#include "cmd/results_store.h"
#include "cmd/run_results.h"
#include "cmd/trust.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/model_locator.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/store_update.h"
#include "experiments/runs/submission.h"
#include "experiments/sweeps/cost_estimate.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/runner.h"

namespace xlm {
namespace {

struct TrainCommand {
  fs::path config;
  fs::path trusted;  // folder of runs of others
  std::vector<std::string> overrides;
  std::string profile;
  std::string parent;   // goes on from this run
  std::int64_t at = 0;  // from its checkpoint of this step; 0: the newest
  bool print_config = false;
  bool print_reference = false;
  bool retry = false;
  bool anyway = false;
  bool debug = false;
};

/// Submits the run and trains it in this process.
RunReport train(const PlannedRun& planned, const TrainCommand& command, const GlobalOptions& global) {
  remove_unfinished_submissions(global.runs);
  submit(planned);
  WorkSettings settings{.threads = 0,
                        .retry = command.retry,
                        .anyway = command.anyway,
                        .command = command_line(),
                        .sink = {.screen = {}, .should_stop = stop_requested},
                        .lock = {}};
  if (!global.quiet) settings.sink.screen = {stderr, global.standard_error};
  RunReport report = execute(planned.paths.folder, core, settings);
  update_store(global.runs, global.store_file());
  return report;
}

int show_outcome(const PlannedRun& planned, const RunReport& report, const GlobalOptions& global) {
  const Run run = read_live_run(planned.paths.folder);
  if (global.json) {
    print(json_text(run_json(run)));
  } else if (report.code == kDone) {
    print(results_table(run, global.width()));
    const bool has_model = fs::is_directory(planned.paths.model());
    if (!global.quiet && has_model) say(fmt::format("the model is in {}\n", planned.paths.model().string()));
  }
  if (!global.quiet && is_warning(run.reason)) say(run.reason + "\n");
  if (report.code == kStopped && report.status == RunStatus::kDone) {
    if (!global.quiet) say("done; run the same command again for the remaining evaluations\n");
  } else if (report.code == kStopped) {
    const std::string where = run.checkpoints.empty()
                                  ? "stopped without a checkpoint"
                                  : fmt::format("stopped at step {} with a checkpoint", checkpoint_step(run));
    if (!global.quiet) say(where + ": run the same command again to resume\n");
  } else if (report.code != kDone) {
    throw Error(report.message, report.code);
  }
  return report.code;
}

bool is_assignment(const fs::path& config) {
  return config.string().find('=') != std::string::npos && !fs::exists(config);
}

/// The configuration of a run, with its experiment renamed: a longer run in the same one would change the tables of the
/// first.
Yaml configuration_of_parent(const fs::path& folder, const std::vector<std::string>& overrides) {
  Yaml tree = read_yaml(RunPaths{folder}.config());
  const std::string source = RunPaths{folder}.config().string();
  if (const Yaml* experiment = tree.find("experiment"); experiment != nullptr && !experiment->scalar.empty()) {
    constexpr std::string_view kContinued = "-continued";
    std::string name = experiment->scalar;
    if (!name.ends_with(kContinued)) name += kContinued;
    tree.set("experiment", make_scalar(name, source));
  }
  // A length that is asked for takes the place of the length that the run had.
  constexpr std::array<std::string_view, 5> kLengths{"train.steps", "train.epochs", "train.tokens", "train.flops",
                                                     "train.seconds"};
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (std::ranges::find(kLengths, key) != kLengths.end()) {
      for (const std::string_view length : kLengths) {
        if (length != key) tree.set(std::string(length), make_scalar("0", source));
      }
    }
    if (key == "train.eval_every_tokens") tree.set("train.eval_every", make_scalar("0", source));
  }
  return tree;
}

/// The configuration that the command names: a file, or that of the run to go on from, with its overrides.
Yaml configuration_of_command(const TrainCommand& command, const GlobalOptions& global) {
  std::vector<std::string> overrides = command.overrides;
  if (command.debug) overrides.emplace_back("train.debug=true");
  fs::path config = command.config;
  if (command.parent.empty()) {
    if (config.empty()) throw UsageError("a configuration file is needed: xlm train CONFIG.yaml");
    if (command.at > 0)
      throw UsageError("--at names a step of the run that --continue goes on from: add --continue RUN");
    return read_configuration(config, command.profile, overrides);
  }
  if (is_assignment(config)) {
    overrides.insert(overrides.begin(), config.string());
    config.clear();
  }
  Yaml tree;
  if (config.empty()) {
    if (!command.profile.empty()) throw UsageError("--profile is one of a file: give CONFIG.yaml, too");
    const std::optional<fs::path> folder = run_folder_of(command.parent, global.runs);
    if (!folder) throw DataError(fmt::format("--continue: {} is a model alone, not a run", command.parent));
    config = RunPaths{*folder}.config();
    tree = configuration_of(configuration_of_parent(*folder, overrides), config, "", overrides);
  } else {
    tree = read_configuration(config, command.profile, overrides);
  }
  const std::string source = "--continue";
  tree.set("continue.run", make_scalar(command.parent, source));
  tree.set("continue.at", make_scalar(std::to_string(command.at), source));
  return tree;
}

int run_train(const TrainCommand& command, const GlobalOptions& global) {
  if (command.print_reference) {
    print(configuration_reference(docs_pages().at("configuration")));
    return kDone;
  }
  const Yaml tree = configuration_of_command(command, global);
  if (!command.trusted.empty()) trust_runs(command.trusted);
  if (command.parent.empty()) check_file_of_run(command.config, tree);
  const ChooseValue choose = choose_in_store(global);
  Yaml configuration = run_part(tree);
  std::vector<RecordedChoice> choices = choose_values(configuration, choose);
  const RunConfiguration options = read_run_options(configuration);
  if (command.print_config) {
    print(to_text(resolved(options)));
    return kDone;
  }
  if (tree.find("sweep") != nullptr && !global.quiet) {
    say(fmt::format(
        "note: {} contains a sweep; this trains only its base configuration ('xlm sweep' trains all)\n"
        "note: the run belongs to the experiment {} and shows in its tables; experiment=NAME separates it\n",
        command.config.string(), options.experiment));
  }
  install_stop_handlers();
  PlannedRun planned = Planner(global.runs).plan(options);
  planned.choices = std::move(choices);
  const std::vector<SweepRun> alone{SweepRun{.point = {}, .planned = planned}};
  if (!global.quiet) {
    for (const std::string& line : choices_in_words(alone)) say(line + "\n");
  }
  for (const std::string& warning : warmup_warnings(alone, core)) spdlog::warn("{}", warning);
  if (!global.quiet) {
    say(fmt::format("run {} in {}\n", planned.id(), planned.paths.folder.string()));
    if (!planned.options.continues.run.empty()) {
      const auto& from = planned.options.continues;
      say(fmt::format("it goes on from {} of {}\n", checkpoint_words(from.at, planned.options.program.has_value()),
                      from.run));
    }
  }
  if (planned.branch) {
    for (const std::string& note : planned.branch->notes) say(note + "\n");
  }
  const RunReport report = train(planned, command, global);
  if (report.code == kDone && !report.message.empty() && !global.quiet) say(report.message + "\n");
  return show_outcome(planned, report, global);
}

}  // namespace

std::function<int()> declare_train(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<TrainCommand>();
  app.add_option("config", command->config, "Configuration file")->transform(recipe_file)->type_name("CONFIG.yaml");
  app.add_option("overrides", command->overrides, "Values that override it: optimizer.lr=0.01")->type_name("KEY=VALUE");
  app.add_option("--profile", command->profile, "Profile of the file to apply")->type_name("NAME");
  app.add_option("--continue", command->parent,
                 "Go on from a checkpoint of this run, with its configuration unless CONFIG.yaml is given")
      ->type_name("RUN");
  app.add_option("--at", command->at, "With --continue: from its checkpoint of this step (default: the newest)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000'000}))
      ->type_name("STEP");
  app.add_flag("--print-config", command->print_config, "Print the configuration with every default, and exit");
  app.add_flag("--print-reference", command->print_reference, "Print docs/configuration.md")->group("");
  app.add_flag("--retry", command->retry, "Retry a diverged run from its last finite checkpoint");
  app.add_flag("--debug", command->debug,
               "Look at every activation, gradient and weight: if the run diverges, the error names the first that is "
               "not finite (train.debug)");
  add_trust_option(app, command->trusted);
  app.add_flag("--anyway", command->anyway, "Resume even with another program or kind of device");
  app.footer(
      "Resumes from the last checkpoint if the run was started before. All keys, and how to quote values: "
      "docs/configuration.md\n\n"
      "Examples:\n"
      "  xlm train experiments/recipes/adaptive-span/span-limit.yaml --profile smoke data.path=data/text8\n"
      "  xlm train --continue adaptive-span-text8-3fa9 train.steps=200000\n"
      "  xlm train --continue adaptive-span-text8-3fa9 --at 50000 train.steps=100000 optimizer.lr=0.01");
  return [command, &global] { return run_train(*command, global); };
}

}  // namespace xlm
