// xlm train: one run, from its configuration to its results.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/stop.h"
#include "cmd/command.h"
#include "cmd/results_store.h"
#include "cmd/run_results.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/store_update.h"
#include "experiments/runs/submission.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "experiments/worker/runner.h"

namespace xlm {
namespace {

struct TrainCommand {
  fs::path config;
  std::vector<std::string> overrides;
  std::string profile;
  bool print_config = false;
  bool print_reference = false;
  bool retry = false;
  bool anyway = false;
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
    const Terminal& terminal = global.standard_output;
    print(results_table(run, terminal.is_terminal ? terminal.width : 0));
    const bool has_model = fs::is_directory(planned.paths.model());
    if (!global.quiet && has_model) say(fmt::format("the model is in {}\n", planned.paths.model().string()));
  }
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

int run_train(const TrainCommand& command, const GlobalOptions& global) {
  if (command.print_reference) {
    print(configuration_reference());
    return kDone;
  }
  if (command.config.empty()) throw UsageError("a configuration file is needed: xlm train CONFIG.yaml");
  const Yaml tree = read_configuration(command.config, command.profile, command.overrides);
  Yaml configuration = run_part(tree);
  std::vector<Choice> choices = choose_values(configuration, choose_in_store(global));
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
  if (!global.quiet) say(fmt::format("run {} in {}\n", planned.id(), planned.paths.folder.string()));
  const RunReport report = train(planned, command, global);
  if (report.code == kDone && !report.message.empty() && !global.quiet) say(report.message + "\n");
  return show_outcome(planned, report, global);
}

}  // namespace

std::function<int()> declare_train(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<TrainCommand>();
  app.add_option("config", command->config, "Configuration file")->type_name("CONFIG.yaml");
  app.add_option("overrides", command->overrides, "Values that override it: optimizer.lr=0.01")->type_name("KEY=VALUE");
  app.add_option("--profile", command->profile, "Profile of the file to apply")->type_name("NAME");
  app.add_flag("--print-config", command->print_config, "Print the configuration with every default, and exit");
  app.add_flag("--print-reference", command->print_reference, "Print docs/configuration.md")->group("");
  app.add_flag("--retry", command->retry, "Retry a diverged run from its last finite checkpoint");
  app.add_flag("--anyway", command->anyway, "Resume even with another program or kind of device");
  app.footer(
      "Resumes from the last checkpoint if the run was started before. All keys, and how to quote values: "
      "docs/configuration.md\n\n"
      "Example:\n"
      "  xlm train experiments/recipes/adaptive-span/span-limit.yaml --profile smoke data.path=data/text8");
  return [command, &global] { return run_train(*command, global); };
}

}  // namespace xlm
