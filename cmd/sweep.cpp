// xlm sweep: trains all unfinished runs of a sweep.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/command.h"
#include "base/error.h"
#include "base/files.h"
#include "base/first_file.h"
#include "base/json.h"
#include "base/staged_folder.h"
#include "base/stop.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cmd/claims_power.h"
#include "cmd/command.h"
#include "cmd/results_store.h"
#include "cmd/sweep_dry_run.h"
#include "cmd/sweep_launch.h"
#include "cmd/sweep_summary.h"
#include "cmd/trust.h"
#include "experiments/checks/recipe_check.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/launcher.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/own_submissions.h"
#include "experiments/runs/run_plan.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/sweeps/recipe.h"
#include "experiments/sweeps/sweep_conditions.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "results/claims/judged_claim.h"
#include "results/run_folder/remark.h"

namespace xlm {
namespace {

/// "24 runs, 8 evaluations, 2 tables, 1 figure".
std::string seen_in(const RecipeCheck& check) {
  std::string text = fmt::format("{}, {}, {}, {}", counted(check.sweep.runs.size(), "run"),
                                 counted(check.sweep.evaluations, "evaluation"), counted(check.tables, "table"),
                                 counted(check.figures, "figure"));
  if (check.continuations > 0) text += ", " + counted(check.continuations, "continuation");
  if (check.claims > 0) text += ", " + counted(check.claims, "claim");
  return check.fits == 0 ? text : text + ", " + counted(check.fits, "fit");
}

std::string check_as_json(const RecipeCheck& check) {
  Json findings = Json::array();
  for (const RecipeFinding& finding : check.findings) {
    findings.push_back({{"place", finding.place}, {"message", finding.message}, {"advice", finding.advice}});
  }
  const Json result = {{"runs", check.sweep.runs.size()},
                       {"evaluations", check.sweep.evaluations},
                       {"tables", check.tables},
                       {"figures", check.figures},
                       {"continuations", check.continuations},
                       {"claims", check.claims},
                       {"fits", check.fits},
                       {"findings", std::move(findings)}};
  return json_text(result);
}

/// Prints what the check of a recipe found; kDone if it found nothing, otherwise kUsage.
int report_check(const fs::path& file, const std::string& profile, const RecipeCheck& check,
                 const GlobalOptions& global) {
  const bool good = check.findings.empty();
  if (global.json) {
    print(check_as_json(check));
    return good ? kDone : kUsage;
  }
  std::string text;
  for (const RecipeFinding& finding : check.findings) {
    text += fmt::format("{}: {}\n", finding.place, finding.message);
    if (!finding.advice.empty()) text += fmt::format("  {}\n", finding.advice);
  }
  const std::string name = file.string() + (profile.empty() ? "" : ", profile " + profile);
  text += fmt::format("{}: {}: {}\n", name, seen_in(check),
                      good ? "every row, column and figure has its runs"
                           : fmt::format("{} to correct", counted(check.findings.size(), "finding")));
  print(text);
  return good ? kDone : kUsage;
}

/// The user's command without --wait.
std::string command_text() {
  std::vector<std::string> words = command_line();
  std::erase(words, "--wait");
  if (!words.empty()) words.front() = "xlm";
  for (std::string& word : words) word = shell_word(word);
  return join(words, " ");
}

/// A GPU that runs ask for must be usable before anything is queued. "auto" on a machine without a GPU is the CPU.
void check_devices(const std::vector<SweepRun>& runs) {
  std::set<std::string> asked;
  for (const SweepRun& run : runs) {
    const std::string& device = run.planned.options.device;
    if (run.action == SweepAction::kRun && device != "cpu") asked.insert(device);
  }
  if (visible_gpus().empty()) asked.erase("auto");
  for (const std::string& device : asked) core().environment(device);
}

/// Whether a program evaluates where its sweep judges shows in the runs that there are. Throws UsageError.
void check_rungs_of_runs(const Recipe& recipe, const GlobalOptions& global) {
  if (!recipe.early_stopping || !fs::exists(global.runs)) return;
  try {
    plan_sweep(recipe, global.runs, false, {.choose = choose_in_store(global)});
  } catch (const DataError&) {
    // Data need not be here to check a recipe.
  }
}

/// The site file's command at the end of a sweep. Every end of the sweep has one: of the commands that see it, the one
/// that makes the mark runs it, and who gives the sweep new work removes the mark.
class SweepEnd {
 public:
  SweepEnd(const SweepCommand& command, std::string experiment, const WorkList& list)
      : command_(read_site(find_site(command.site)).finally),
        experiment_(std::move(experiment)),
        mark_(list.folder() / "ended") {}

  void begin() const {
    std::error_code ignored;
    fs::remove(mark_, ignored);
  }

  void end(int code) const {
    if (command_.parts.empty() || code == kStopped) return;
    create_folders(mark_.parent_path());
    if (!write_first(mark_, "")) return;
    const CommandResult result =
        run_command(site_words(command_, {{"experiment", experiment_}, {"code", std::to_string(code)}}));
    if (result.code != 0) spdlog::warn("finally, of the site file, failed: {}", complaint(result));
  }

 private:
  SiteCommand command_;
  std::string experiment_;
  fs::path mark_;
};

constexpr std::int64_t kCanarySteps = 10;

/// Of a folder of runs among those of the sweep, so that workers elsewhere see it. No other command looks into it.
constexpr const char* kCanaryPrefix = ".canary";

/// The first run to be done, and the one that costs most. Runs that begin from runs of the sweep cannot begin yet.
std::vector<SweepRun> canaries_of(const std::vector<SweepRun>& runs, const fs::path& folder, bool is_said) {
  std::vector<SweepRun> open;
  for (const SweepRun& run : runs) {
    if (run.planned.options.program && !is_said)
      throw UsageError(
          "--canary: which option makes a program's run short is not known\n"
          "say it, such as --canary-with options.steps=20");
    if (run.action == SweepAction::kRun && run.source.empty()) open.push_back(run);
  }
  if (open.size() < 2) return open;
  const std::vector<CostEstimate> costs = estimate_costs(open, folder);
  const auto dearest = std::ranges::max_element(costs, [](const CostEstimate& a, const CostEstimate& b) {
    return a.flops + a.evaluation_flops < b.flops + b.evaluation_flops;
  });
  std::vector<SweepRun> canaries{open.front()};
  if (dearest != costs.begin()) canaries.push_back(open.at(static_cast<std::size_t>(dearest - costs.begin())));
  return canaries;
}

std::string words_of_point(const SweepRun& run) {
  std::vector<std::string> words;
  for (const auto& [key, value] : run.point) words.push_back(fmt::format("{}={}", key, trim(to_text(value))));
  return words.empty() ? "of the file" : join(words, " ");
}

/// The run with few steps, in another folder of runs.
SweepRun of_few_steps(SweepRun run, Planner& planner) {
  TrainOptions& train = run.planned.options.train;
  train.steps = train.steps > 0 ? std::min(train.steps, kCanarySteps) : kCanarySteps;
  train.epochs = train.flops = train.seconds = 0;
  train.tokens = train.eval_every_tokens = train.keep_every = 0;
  train.eval_every = train.checkpoint_every = train.steps;
  run.planned = planner.plan(run.planned.options);
  run.status = {};
  run.checkpoint = 0;
  return run;
}

/// The run as the user makes it short, in another folder of runs.
SweepRun short_run(const SweepRun& run, Recipe recipe, const std::vector<std::string>& with, const fs::path& folder,
                   const ChooseValue& choose) {
  recipe.run = at_point(recipe.run, run.point);
  for (const std::string& assignment : with) apply_override(recipe.run, assignment);
  recipe.points = {SweepPoint()};
  SweepRun made = plan_sweep(recipe, folder, false, {.choose = choose}).front();
  made.point = run.point;
  return made;
}

/// Does a few steps of the first run to be done and of the one that costs most, with their evaluations, as the launcher
/// would do the sweep, in a folder of runs that is removed. Throws Error if one fails. Returns kStopped if the user
/// stopped it.
ExitCode try_canary(const LauncherEntry& launcher, Recipe recipe, const std::vector<SweepRun>& runs,
                    SweepLaunchOptions options, const std::vector<std::string>& with, const GlobalOptions& global) {
  options.warns = false;
  std::vector<SweepRun> canaries = canaries_of(runs, global.runs, !with.empty());
  if (canaries.empty()) return kDone;
  const fs::path runs_folder = fs::absolute(global.runs);
  create_folders(runs_folder);
  remove_left_folders(runs_folder, kCanaryPrefix);
  const StagedFolder folder(runs_folder / "canary", kCanaryPrefix);
  GlobalOptions there = global;
  there.runs = folder.path();
  there.store = "";
  recipe.search.reset();
  recipe.early_stopping.reset();
  Planner planner(folder.path());
  for (SweepRun& run : canaries) {
    run = with.empty() ? of_few_steps(std::move(run), planner)
                       : short_run(run, recipe, with, folder.path(), choose_in_store(global));
  }
  LaunchReport report;
  {
    SweepLaunch launch(launcher, recipe, canaries, options, there);
    launch.start();
    report = launch.wait();
  }
  if (report.interrupted) return kStopped;
  for (SweepRun& run : canaries) {
    look_at(run, false);
    const auto how = report.ended.find(run.id());
    if (run.action == SweepAction::kSkip && how == report.ended.end()) continue;
    const Run ended = read_live_run(run.planned.paths.folder);
    throw Error(fmt::format("a canary ended as {}: {}\nit was the point {}; nothing of the sweep was begun",
                            name_of(ended.status), how == report.ended.end() ? ended.reason : how->second,
                            words_of_point(run)));
  }
  if (!global.quiet)
    say(fmt::format("canary: {} with their evaluations, at {}\n",
                    with.empty() ? counted(kCanarySteps, "step") : "short runs", counted(canaries.size(), "point")));
  return kDone;
}

/// Leaves out all runs but those of --only. Throws UsageError for one that the sweep does not have.
void choose_runs(std::vector<SweepRun>& runs, const std::vector<std::string>& only) {
  for (const std::string& id : only) {
    if (std::ranges::any_of(runs, [&](const SweepRun& run) { return run.id() == id; })) continue;
    throw UsageError(
        fmt::format("--only {}: the sweep has no such run here\nif it has one elsewhere, its data or its program's "
                    "code are others here: to compare, xlm sweep FILE --dry-run",
                    id));
  }
  if (only.empty()) return;
  std::erase_if(runs, [&](const SweepRun& run) { return std::ranges::find(only, run.id()) == only.end(); });
}

/// Runs that xlm decide has made for later looks are the sweep's own once its file asks for them.
void take_runs_of_looks(const std::vector<SweepRun>& runs, const GlobalOptions& global) {
  if (std::ranges::all_of(runs, [](const SweepRun& run) { return run.status.is_absent(); })) return;
  std::size_t taken = 0;
  try {
    RunTable table = open_runs(global);
    const std::vector<Value>& tags = table.column("tag");
    for (const SweepRun& run : runs) {
      const std::optional<std::size_t> row = table.row_of(run.id());
      if (!row || to_text(tags[*row]).find(kLookTag) == std::string::npos) continue;
      bool is_taken = false;
      for (const std::string& tag : read_run(run.planned.paths.folder).tags) {
        if (!tag.starts_with(kLookTag)) continue;
        append_remark(run.planned.paths.folder, {{"tag", tag}, {"given", false}});
        is_taken = true;
      }
      taken += is_taken ? 1 : 0;
    }
  } catch (const Error&) {  // tables say what is wrong with the store
  }
  if (taken > 0) {
    spdlog::warn("{} of this sweep {} made by xlm decide for later looks: claims count {} as planned now",
                 counted(taken, "run"), taken == 1 ? "was" : "were", taken == 1 ? "it" : "them");
  }
}

/// What follows `xlm sweep` where another machine is to plan the same runs.
std::vector<std::string> words_for_others(const SweepCommand& command) {
  std::vector<std::string> words{fs::absolute(command.file).lexically_proximate(fs::current_path()).string()};
  words.insert(words.end(), command.overrides.begin(), command.overrides.end());
  if (!command.profile.empty()) words.insert(words.end(), {"--profile", command.profile});
  if (command.retry) words.emplace_back("--retry");
  if (command.anyway) words.emplace_back("--anyway");
  return words;
}

int run_sweep(const SweepCommand& command, const GlobalOptions& global) {
  const Yaml file = read_yaml_argument(command.file);
  const Yaml tree = configuration_of(file, command.file, command.profile, command.overrides);
  if (!command.trusted.empty()) trust_runs(command.trusted);
  check_file_of_run(command.file, tree);
  check_condition_values(file, tree);
  const Recipe recipe = recipe_of(tree, command.overrides);
  if (command.check) {
    check_rungs_of_runs(recipe, global);
    const bool of_paper = is_paper_profile(file, command.profile);
    const RecipeCheck checked = check_recipe(recipe, read_exhibits(tree), of_paper, measured_columns(global));
    return report_check(command.file, command.profile, checked, global);
  }
  const LauncherEntry& launcher = find_launcher(command.launcher);  // complains before anything is written
  if (command.wait && launcher.waits)
    throw UsageError(fmt::format("--wait is for launchers that submit: {} always waits", launcher.name));
  const bool has_canary = command.canary || !command.canary_with.empty();
  if (has_canary && launcher.waits && !launcher.here)
    throw UsageError("--canary: other machines plan the sweep's own runs alone: do it here first, without --launcher");
  std::optional<RunsInUse> in_use(std::in_place, global.runs,
                                  RunsInUse::By::kSweep);  // until the result is printed
  std::vector<SweepRun> runs =
      plan_sweep(recipe, global.runs, command.retry, {.records = !command.dry_run, .choose = choose_in_store(global)});
  if (!global.quiet) {
    for (const std::string& line : choices_in_words(runs)) say(line + "\n");
  }
  choose_runs(runs, command.only);
  if (command.shuffle) shuffle_runs(runs);
  const SweepLaunchOptions options{.jobs = command.jobs,
                                   .site = command.site,
                                   .words = words_for_others(command),
                                   .retry = command.retry,
                                   .anyway = command.anyway};
  SweepLaunch launch(launcher, recipe, runs, options, global);
  if (command.dry_run) {
    print_dry_run(runs, recipe.search, launcher, launch, global);
    if (!global.json) print(power_before_a_sweep(tree, command.file, global));
    return kDone;
  }
  take_runs_of_looks(runs, global);
  install_stop_handlers();
  if (launcher.here) check_devices(runs);
  if (launcher.waits) {
    launch.preview();  // complains before anything is written
    create_folders(global.runs);
    if (!in_use->held()) in_use.emplace(global.runs, RunsInUse::By::kSweep);
  }
  if (has_canary) {
    const ExitCode code = try_canary(launcher, recipe, runs, options, command.canary_with, global);
    if (code != kDone) return code;
  }
  const SweepEnd finally(command, recipe.experiment, launch.list());
  LaunchReport report;
  if (has_work(runs)) finally.begin();
  if (launcher.waits || has_work(runs)) {
    launch.start();
    if (!launcher.waits && !command.wait) {
      launch.report(command_text());
      return kDone;
    }
    report = launch.wait();
  }
  if (recipe.search) {
    runs = plan_sweep(recipe, global.runs, false);  // it has grown
    // Runs that no worker has submitted yet are left to the next command.
    const std::size_t left = std::erase_if(runs, [](const SweepRun& run) { return run.status.is_absent(); });
    report.interrupted = report.interrupted || left > 0;
  }
  const bool has_tables = has_exhibits(tree, ExhibitKind::kTable);
  const int code = print_summary({std::move(runs), recipe.search, std::move(report), has_tables}, command, global);
  finally.end(code);
  return code;
}

}  // namespace

std::function<int()> declare_sweep(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<SweepCommand>();
  app.add_option("file", command->file, "Configuration with a sweep")->transform(recipe_file)->type_name("SWEEP.yaml");
  app.add_option("overrides", command->overrides, "Values that override it: train.steps=1000")->type_name("KEY=VALUE");
  app.add_option("--profile", command->profile, "Profile of the file to apply")->type_name("NAME");
  app.add_option("--jobs", command->jobs,
                 "Runs at once (default: one for each GPU, or as many as the cores suit; slurm: 8)")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  std::string names;
  for (const LauncherEntry& entry : launchers()) names += (names.empty() ? "" : "|") + std::string(entry.name);
  app.add_option("--launcher", command->launcher, "How to start workers")->capture_default_str()->type_name(names);
  app.add_flag("--wait", command->wait,
               "With a launcher that submits: wait until all is done; Ctrl-C does not stop the jobs");
  app.add_option("--site", command->site, "How to submit jobs here (default: ~/.config/xlm/site.yaml)")
      ->type_name("FILE");
  app.add_option("--print-site", command->print_site,
                 "Print a site file, to be completed: for the Slurm of this machine, or for another queue")
      ->expected(0, 1)
      ->type_name("[pbs|lsf|sge|ssh|apart]");
  app.add_option("--only", command->only, "Only this run of it, by its id")->allow_extra_args(false)->type_name("RUN");
  app.add_flag("--dry-run", command->dry_run, "List the runs with their reasons and costs; write nothing");
  app.add_flag("--check", command->check, "Check whether its tables and figures can be filled; needs no data")
      ->excludes("--dry-run");
  app.add_flag("--canary", command->canary,
               "First do ten steps of the first point and of the one that costs most, with their evaluations")
      ->excludes("--dry-run", "--check");
  app.add_option("--canary-with", command->canary_with, "The same, with runs that this makes short: options.steps=20")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE")
      ->excludes("--dry-run", "--check");
  app.add_flag("--shuffle", command->shuffle, "Shuffle the runs, so that half a sweep covers all of it");
  app.add_flag("--retry", command->retry, "Retry diverged runs");
  add_trust_option(app, command->trusted);
  app.add_flag("--anyway", command->anyway, "Resume even with another program or kind of device");
  app.footer(
      "Exit code: 0 all runs done (or submitted), 1 some failed or diverged, 75 stopped.\n"
      "A recipe of this program needs no folder: adaptive-span/span-limit.\nHow to write a sweep: docs/sweeps.md; "
      "clusters: docs/clusters.md\n\n"
      "Examples:\n"
      "  xlm sweep adaptive-span/span-limit --profile smoke --dry-run\n"
      "  xlm sweep experiments/recipes/adaptive-span/span-limit.yaml --profile small --jobs 2 data.path=data/text8\n"
      "  xlm sweep spans.yaml --launcher slurm --jobs 16\n"
      "  xlm sweep --print-site pbs > site.yaml; xlm sweep spans.yaml --launcher command --site site.yaml\n"
      "  xlm sweep search.yaml --shuffle 'sweep.grid.seed=[1, 2, 3]'");
  return [command, &global] {
    if (command->print_site) {
      print(site_file(*command->print_site));
      return static_cast<int>(kDone);
    }
    if (command->file.empty()) throw UsageError("file is required\nrun 'xlm sweep --help' for its options");
    return run_sweep(*command, global);
  };
}

}  // namespace xlm
