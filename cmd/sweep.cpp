// xlm sweep: trains all unfinished runs of a sweep.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/stop.h"
#include "base/text.h"
#include "cmd/best_settings.h"
#include "cmd/command.h"
#include "cmd/results_store.h"
#include "cmd/run_results.h"
#include "cmd/search_view.h"
#include "cmd/sweep_check.h"
#include "cmd/sweep_launch.h"
#include "experiments/configuration/configuration.h"
#include "experiments/launchers/launcher.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/process_identity.h"
#include "experiments/runs/runs_in_use.h"
#include "experiments/sweeps/cost_estimate.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/sweep_conditions.h"
#include "experiments/worker/core_library.h"
#include "experiments/worker/environment.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

struct SweepCommand {
  fs::path file;
  std::vector<std::string> overrides;
  std::string profile;
  std::string launcher = "local";
  std::int64_t jobs = 0;
  bool dry_run = false;
  bool check = false;
  bool retry = false;
  bool anyway = false;
  bool shuffle = false;
  bool wait = false;
  bool print_site = false;
  fs::path site;
};

bool has_work(const std::vector<SweepRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const SweepRun& run) {
    return run.action == SweepAction::kRun || run.action == SweepAction::kWait;
  });
}

std::string dry_run_json(const std::vector<SweepRun>& runs, const std::vector<CostEstimate>& costs) {
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Json entry = {{"run_id", runs[i].id()}, {"status", runs[i].status}, {"reason", runs[i].reason}};
    const bool known = !costs.empty() && !runs[i].planned.options.program;
    entry["params"] = known ? Json(costs[i].params) : Json();
    const TrainOptions& train = runs[i].planned.options.train;
    const bool has_steps = known && costs[i].steps.count > 0;
    entry["steps"] = has_steps ? Json(costs[i].steps.count) : Json(train.steps);
    if (has_steps && !costs[i].steps.is_exact) entry["steps_are_exact"] = false;
    entry["flops"] = known ? Json(costs[i].flops) : Json();
    entry["evaluation_flops"] = known ? Json(costs[i].evaluation_flops) : Json();
    entry["seconds"] = known && costs[i].seconds ? Json(*costs[i].seconds) : Json();
    entry["evaluation_seconds"] = known && costs[i].evaluation_seconds ? Json(*costs[i].evaluation_seconds) : Json();
    if (runs[i].trial > 0) entry["trial"] = runs[i].trial;
    if (!runs[i].evaluations.empty()) entry["evaluations_left"] = runs[i].evaluations_left;
    Json values = Json::object();
    for (const auto& [key, value] : runs[i].point) values[key] = to_json(value);
    entry["values"] = std::move(values);
    list.push_back(std::move(entry));
  }
  return json_text(list);
}

/// A row for each run: its id and swept values, then the cells of `more` under the titles of `columns`. If the terminal
/// is too narrow, ids are shortened to their ends, which distinguish them.
template <class More>
std::string runs_table(const std::vector<SweepRun>& runs, const std::vector<TextTable::Column>& columns, More more,
                       const Terminal& terminal) {
  const std::vector<std::string> keys = varied_keys(runs);
  std::vector<TextTable::Column> all{{"run"}};
  for (const std::string& key : keys) all.push_back({short_title(key, keys)});
  all.insert(all.end(), columns.begin(), columns.end());
  std::vector<std::string> ids;
  for (const SweepRun& run : runs) ids.push_back(run.id());
  const auto table_with = [&](const std::vector<std::string>& names) {
    TextTable table(all);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::vector<std::string> cells{names[i]};
      for (const std::string& key : keys) cells.push_back(shown_value(runs[i].point, key));
      for (std::string& cell : more(i)) cells.push_back(std::move(cell));
      table.add(std::move(cells));
    }
    return table;
  };
  std::string whole = table_with(ids).render(TextTable::Format::kText);
  const std::size_t line = display_width(first_line(whole.substr(whole.find('\n') + 1)));  // the rule is the widest
  if (!terminal.is_terminal || line <= static_cast<std::size_t>(terminal.width)) return whole;
  return table_with(short_ids(ids)).render(TextTable::Format::kText, terminal.width);
}

bool is_program(const SweepRun& run) { return run.planned.options.program.has_value(); }

/// Empty, with a warning, if the costs cannot be computed; also if all runs are programs, whose costs are not known.
std::vector<CostEstimate> estimate_costs(const std::vector<SweepRun>& runs, const fs::path& folder) {
  std::vector<CostEstimate> costs;
  if (std::all_of(runs.begin(), runs.end(), is_program)) return costs;
  try {
    const MachineSpeed speed(folder, this_process().host);
    CostEstimator estimator(core, &speed);
    for (const SweepRun& run : runs) costs.push_back(estimator.of(run));
  } catch (const Error& error) {
    spdlog::warn("no costs: {}", error.what());
    costs.clear();
  }
  return costs;
}

/// "~1200" if the number is not exact.
std::string steps_cell(const SweepRun& run, const ExpectedSteps& expected) {
  const std::int64_t steps = run.planned.options.train.steps;
  if (steps > 0) return fmt::to_string(steps);
  return expected.count > 0 ? fmt::format("{}{:.0f}", expected.is_exact ? "" : "~", expected.count) : "?";
}

void print_dry_run(const std::vector<SweepRun>& runs, const std::optional<Search>& search,
                   const LauncherEntry& launcher, SweepLaunch& launch, const GlobalOptions& global) {
  const std::vector<CostEstimate> costs = estimate_costs(runs, global.runs);
  if (global.json) return print(dry_run_json(runs, costs));
  const auto cells = [&](std::size_t i) {
    const bool known = !costs.empty() && !is_program(runs[i]);
    return std::vector<std::string>{known ? human_count(costs[i].params) : "?",
                                    steps_cell(runs[i], known ? costs[i].steps : ExpectedSteps()),
                                    known ? human_count(costs[i].flops) : "?", runs[i].reason};
  };
  std::string text = runs_table(runs, {{"parameters", true}, {"steps", true}, {"FLOPs left", true}, {"status"}}, cells,
                                global.standard_output);
  std::size_t to_do = 0;
  std::size_t evaluations = 0;
  double flops = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].action == SweepAction::kRun && runs[i].status != name_of(RunStatus::kDone)) ++to_do;
    evaluations += runs[i].evaluations_left;
    if (!costs.empty()) flops += costs[i].flops;
  }
  text += fmt::format("\n{} of {} runs to do", to_do, runs.size());
  if (evaluations > 0) text += fmt::format(", {} evaluations", evaluations);
  if (!costs.empty())
    text += fmt::format(", about {} FLOPs (a step counted as three forward passes)", human_count(flops));
  if (search) {
    double largest = 0;
    for (const CostEstimate& cost : costs) largest = std::max(largest, cost.flops);
    text += search_rest(*search, runs, largest);
  }
  if (launcher.waits) return print(text + "; nothing was written\n" + cost_lines(costs));
  if (has_work(runs)) text = fmt::format("{}\n\n{}", text, trim(launch.preview()));
  print(text + "\nnothing was written or submitted\n" + cost_lines(costs));
}

std::string last_line(const fs::path& log) {
  try {
    const MappedFile file(log);
    const std::string_view text = trim(file.text());
    return std::string(text.substr(text.rfind('\n') + 1));  // npos + 1 is the beginning
  } catch (const Error&) {
    return "";
  }
}

/// A run as it is now. A run that was removed or damaged in the meantime has failed.
Run run_as_it_is(const fs::path& folder) {
  try {
    return read_live_run(folder);
  } catch (const DataError& error) {
    Run lost;
    lost.folder = folder;
    lost.id = folder.filename().string();
    lost.status = RunStatus::kFailed;
    lost.reason = fs::exists(folder) ? error.what() : "its folder was moved or removed";
    return lost;
  }
}

/// The result of a sweep: the state of every run.
class Summary {
 public:
  Summary(std::vector<SweepRun> runs, std::optional<Search> search, const LaunchReport& report,
          const SweepCommand& command, const GlobalOptions& global, bool has_tables)
      : planned_(std::move(runs)),
        search_(std::move(search)),
        report_(report),
        command_(command),
        context_(global),
        has_tables_(has_tables) {
    for (SweepRun& run : planned_) {
      look_at(run, false);
      runs_.push_back(run_as_it_is(run.planned.paths.folder));
      const RunStatus status = runs_.back().status;
      if (status == RunStatus::kDone) ++done_;
      if (status == RunStatus::kPruned) ++pruned_;
      if (is_failure(runs_.back())) ++failed_;
      if (status == RunStatus::kPruned) continue;  // its requested evaluations are dropped
      evaluations_ += run.evaluations.size();
      evaluations_left_ += run.evaluations_left;
    }
    measure_ = find_measure();
  }

  int code() const {
    if (report_.interrupted) return kStopped;
    if (failed_ > 0) return kFailed;
    return done_ + pruned_ == runs_.size() && evaluations_left_ == 0 ? kDone : kStopped;
  }

  std::string json() const {
    Json list = Json::array();
    for (const Run& run : runs_) {
      Json entry = run_json(run);
      const auto ended = report_.ended.find(run.id);
      if (ended != report_.ended.end()) entry["reason"] = ended->second;
      if (evaluations_ > 0) entry["evaluations_left"] = planned_[list.size()].evaluations_left;
      list.push_back(std::move(entry));
    }
    return json_text(list);
  }

  std::string text(const Terminal& terminal) const {
    const auto cells = [&](std::size_t i) {
      return std::vector<std::string>{result(runs_[i], "valid"), result(runs_[i], "test"),
                                      std::string(name_of(runs_[i].status))};
    };
    const std::string& measure = measure_.label;
    std::string text =
        runs_table(planned_, {{"valid " + measure, true}, {"test " + measure, true}, {"status"}}, cells, terminal);
    text += fmt::format("\n{} of {} runs done", done_, runs_.size());
    if (evaluations_ > 0) {
      text += fmt::format(", {} of {} evaluations", evaluations_ - evaluations_left_, evaluations_);
    }
    if (pruned_ > 0) text += fmt::format(", {} pruned", pruned_);
    if (failed_ > 0) text += fmt::format(", {} failed", failed_);
    text += "\n" + failures();
    if (search_) text += search_result(*search_, planned_);
    return text + next_steps();
  }

 private:
  bool is_failure(const Run& run) const {
    return run.status == RunStatus::kFailed || run.status == RunStatus::kDiverged || report_.ended.count(run.id) > 0;
  }

  std::string result(const Run& run, const std::string& split) const {
    const RunEvaluation* evaluation = main_evaluation(run, split);
    if (evaluation == nullptr) return "";
    const auto value = evaluation->values.find(measure_.name);
    return value == evaluation->values.end() ? "" : list_number(measure_, value->second);
  }

  /// The headline of all runs together, as papers report such models.
  Quantity find_measure() const {
    const auto any_has = [&](const std::string& name) {
      return std::any_of(runs_.begin(), runs_.end(), [&](const Run& run) {
        const RunEvaluation* evaluation = main_evaluation(run, "valid");
        if (evaluation == nullptr) evaluation = main_evaluation(run, "test");
        return evaluation != nullptr && evaluation->values.contains(name);
      });
    };
    const Quantity* found = headline_of(any_has);
    return found != nullptr ? *found : *headlines().back();
  }

  std::string failures() const {
    std::string text;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      if (!is_failure(runs_[i])) continue;
      const auto ended = report_.ended.find(runs_[i].id);
      const fs::path log = planned_[i].planned.paths.log();
      const std::string last = last_line(log);
      std::string why = ended != report_.ended.end() ? ended->second : runs_[i].reason;
      if (ended != report_.ended.end() && !last.empty()) why += ": " + last;
      text += fmt::format("{} {}: {}\n", runs_[i].id, name_of(runs_[i].status), why);
      if (!last.empty()) text += fmt::format("  see {}\n", log.string());
    }
    return text;
  }

  std::string next_steps() const {
    if (report_.interrupted && command_.wait)
      return "the workers continue; run the same command again to wait for them\n";
    if (code() == kStopped) return "stopped; run the same command again to resume\n";
    if (failed_ > 0) {
      return search_ ? "run the same command again to retry the failed runs of the last round\n"
                     : "run the same command again to retry the failed runs (diverged ones only with --retry)\n";
    }
    std::string text = search_ ? "" : best_settings(planned_, varied_keys(planned_), runs_, measure_);
    if (!has_tables_ || !fs::is_regular_file(command_.file)) return text;  // a pipe cannot be read again
    text += "next: xlm table " + shell_word(command_.file.string());
    if (!command_.profile.empty()) text += " --profile " + shell_word(command_.profile);
    for (const std::string& assignment : command_.overrides) {
      if (assignment.starts_with("experiment=")) text += " " + shell_word("--" + assignment);
    }
    if (context_.runs != GlobalOptions().runs) text += " --runs " + shell_word(context_.runs.string());
    return text + "\n";
  }

  std::vector<SweepRun> planned_;
  std::optional<Search> search_;
  const LaunchReport& report_;
  const SweepCommand& command_;
  const GlobalOptions& context_;
  Quantity measure_;
  bool has_tables_;
  std::vector<Run> runs_;
  std::size_t done_ = 0;
  std::size_t pruned_ = 0;
  std::size_t failed_ = 0;
  std::size_t evaluations_ = 0;
  std::size_t evaluations_left_ = 0;
};

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

int run_sweep(const SweepCommand& command, const GlobalOptions& global) {
  const Yaml file = read_yaml_argument(command.file);
  Yaml tree = configuration_of(file, command.file, command.profile, command.overrides);
  fix_axes(tree, command.overrides);
  check_condition_values(file, tree);
  read_resources(tree.find("resources"));  // a slip is one for every launcher, and nothing is written yet
  read_early_stopping(tree);               // likewise
  if (command.check) {
    const RecipeCheck checked = check_recipe(tree, is_paper_profile(file, command.profile), measured_columns(global));
    return report_check(command.file, command.profile, checked, global);
  }
  const LauncherEntry& launcher = find_launcher(command.launcher);  // complains before anything is written
  if (command.wait && launcher.waits)
    throw UsageError("--wait is for launchers that submit: the local one always waits");
  std::optional<RunsInUse> in_use(std::in_place, global.runs,
                                  RunsInUse::By::kSweep);  // until the result is printed
  const std::optional<Search> search = read_search(tree);
  std::vector<SweepRun> runs =
      plan_sweep(tree, global.runs, command.retry, {.records = !command.dry_run, .choose = choose_in_store(global)});
  if (!global.quiet) {
    for (const std::string& line : choices_in_words(runs)) say(line + "\n");
  }
  if (command.shuffle) shuffle_runs(runs);
  SweepLaunch launch(launcher, tree, runs,
                     {.jobs = command.jobs, .site = command.site, .retry = command.retry, .anyway = command.anyway},
                     global);
  if (command.dry_run) {
    print_dry_run(runs, search, launcher, launch, global);
    return kDone;
  }
  install_stop_handlers();
  if (launcher.waits) {
    check_devices(runs);
    create_folders(global.runs);
    if (!in_use->held()) in_use.emplace(global.runs, RunsInUse::By::kSweep);
  }
  LaunchReport report;
  if (launcher.waits || has_work(runs)) {
    launch.start();
    if (!launcher.waits && !command.wait) {
      launch.report(command_text());
      return kDone;
    }
    report = launch.wait();
  }
  const bool has_tables = tree.find("table") != nullptr || tree.find("tables") != nullptr;
  if (search) {
    runs = plan_sweep(tree, global.runs, false);  // it has grown
    // Runs that no worker has submitted yet are left to the next command.
    const std::size_t left = std::erase_if(runs, [](const SweepRun& run) { return run.status == "new"; });
    report.interrupted = report.interrupted || left > 0;
  }
  const Summary summary(runs, search, report, command, global, has_tables);
  try {
    print(global.json ? summary.json() : summary.text(global.standard_output));
  } catch (const Error&) {
    if (!report.interrupted) throw;  // a terminal that closed was the request to stop, and gets no answer
  }
  return summary.code();
}

}  // namespace

std::function<int()> declare_sweep(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<SweepCommand>();
  app.add_option("file", command->file, "Configuration with a sweep")->type_name("SWEEP.yaml");
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
  app.add_option("--site", command->site, "How to submit jobs on this cluster (default: ~/.config/xlm/site.yaml)")
      ->type_name("FILE");
  app.add_flag("--print-site", command->print_site, "Print a site file for this cluster, to be completed");
  app.add_flag("--dry-run", command->dry_run, "List the runs with their reasons and costs; write nothing");
  app.add_flag("--check", command->check, "Check whether its tables and figures can be filled; needs no data")
      ->excludes("--dry-run");
  app.add_flag("--shuffle", command->shuffle, "Shuffle the runs, so that half a sweep covers all of it");
  app.add_flag("--retry", command->retry, "Retry diverged runs");
  app.add_flag("--anyway", command->anyway, "Resume even with another program or kind of device");
  app.footer(
      "Exit code: 0 all runs done (or submitted), 1 some failed or diverged, 75 stopped.\n"
      "How to write a sweep: docs/sweeps.md; clusters: docs/clusters.md\n\n"
      "Examples:\n"
      "  xlm sweep experiments/recipes/adaptive-span/span-limit.yaml --profile smoke --dry-run\n"
      "  xlm sweep experiments/recipes/adaptive-span/span-limit.yaml --profile small --jobs 2 data.path=data/text8\n"
      "  xlm sweep spans.yaml --launcher slurm --jobs 16\n"
      "  xlm sweep search.yaml --shuffle 'sweep.grid.seed=[1, 2, 3]'");
  return [command, &global] {
    if (command->print_site) {
      print(site_file());
      return static_cast<int>(kDone);
    }
    if (command->file.empty()) throw UsageError("file is required\nrun 'xlm sweep --help' for its options");
    return run_sweep(*command, global);
  };
}

}  // namespace xlm
