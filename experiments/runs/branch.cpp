// A run that goes on from a checkpoint of another one.
#include "experiments/runs/branch.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "core/api/arithmetic.h"
#include "core/api/learning_rate.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/run_checkpoints.h"
#include "experiments/runs/run_lock.h"

namespace xlm {
namespace {

constexpr std::int64_t kComparedSteps = 1'000'000;  // of a schedule; of a longer past as many, evenly spaced

[[noreturn]] void throw_no_checkpoint(const std::string& id, const std::vector<std::int64_t>& steps,
                                      std::int64_t wanted) {
  const std::string which = wanted > 0 ? fmt::format("no checkpoint of step {}", wanted) : "no checkpoint";
  if (steps.empty()) {
    throw DataError(
        fmt::format("continue.run: {} has {} here\n"
                    "train it until it has saved one, or bring its checkpoints: xlm runs pack {} --checkpoints --out "
                    "FILE.tar.zst, then xlm runs merge FILE.tar.zst",
                    id, which, id));
  }
  throw DataError(
      fmt::format("continue.at: {} has {}; it has: {}\n"
                  "name one of them with --at STEP; train.keep_every of a run keeps more than its newest two",
                  id, which, fmt::join(steps, ", ")));
}

/// The newest step that a program's run has saved at.
std::int64_t newest_of_program(const Run& run) {
  if (!has_saved_files(run.folder)) throw_no_checkpoint(run.id, {}, 0);
  if (has_live_worker(run.folder)) {
    throw DataError(
        fmt::format("continue.run: {} is running, and its program may be saving just now\n"
                    "wait until it is done, or stop it: xlm runs stop {}",
                    run.id, run.id));
  }
  return std::max<std::int64_t>(checkpoint_step(run), 1);
}

/// The learning rate of a step whose number of steps is known.
double rate_of(const RunOptions& options, std::int64_t step) {
  return learning_rate(options.optimizer, step, static_cast<double>(options.train.steps));
}

/// The first step up to `last` whose learning rate is another one by the two configurations; 0 if there is none.
std::int64_t first_other_rate(const RunOptions& before, const RunOptions& now, std::int64_t last) {
  const std::int64_t stride = std::max<std::int64_t>(1, last / kComparedSteps);
  for (std::int64_t step = 1; step <= last; step = step < last ? std::min(step + stride, last) : last + 1) {
    if (rate_of(before, step) != rate_of(now, step)) return step;
  }
  return 0;
}

/// What is said of a schedule by which the steps before the checkpoint would have been done with other rates.
std::string schedule_note(const RunOptions& before, const RunOptions& now, const std::string& id, std::int64_t step) {
  const auto schedule = OptimizerOptions::kScheduleNames.at(static_cast<std::size_t>(now.optimizer.schedule));
  if (before.train.has_budget() || now.train.has_budget()) {
    if (now.optimizer.schedule == OptimizerOptions::Schedule::kConstant) return "";
    return fmt::format(
        "warning: the schedule {} follows the share of a budget that is spent: steps before the checkpoint of {} may "
        "have had other learning rates than in a run with this budget from the start",
        schedule, id);
  }
  const std::int64_t first = first_other_rate(before, now, step);
  if (first == 0) return "";
  return fmt::format(
      "warning: the schedule {} over {} steps gives step {} the learning rate {:.4g}, and {} had {:.4g}: this is not "
      "the run that was so long from the start; the rate goes from {:.4g} (step {}) to {:.4g} (step {})",
      schedule, now.train.steps, first, rate_of(now, first), id, rate_of(before, first), rate_of(before, step), step,
      rate_of(now, step + 1), step + 1);
}

/// They sum up the same, and go on from each other's state.
bool is_of_adam(const std::string& optimizer) { return optimizer == "adam" || optimizer == "adamw"; }

/// Compares the options of a run with those of its parent.
class OptionComparison {
 public:
  OptionComparison(const RunConfiguration& before, const RunConfiguration& now, std::string id)
      : now_(now), id_(std::move(id)) {
    for (const OptionEntry& entry : option_entries(before)) before_[entry.key] = entry.value;
    for (OptionEntry& entry : option_entries(now)) {
      if (!entry.affects_result || entry.key.starts_with("continue.")) continue;
      const Json* const found = find_in(before_, entry.key);
      if (found == nullptr || *found != entry.value) different_.push_back(std::move(entry));
    }
  }

  bool differs(const std::string& key) const {
    return std::ranges::any_of(different_, [&](const auto& entry) { return entry.key == key; });
  }
  bool any_differs(const std::string& group) const {
    return std::ranges::any_of(different_, [&](const auto& entry) { return entry.key.starts_with(group); });
  }

  /// "optimizer.lr 0.01 (before: 0.1)"
  std::vector<std::string> texts() const {
    return mapped(different_, [this](const OptionEntry& entry) { return text_of(entry); });
  }

  /// A checkpoint has the weights of one model, and what one optimiser has summed up.
  void check_fixed() const {
    for (const OptionEntry& entry : different_) {
      const bool of_model = entry.key.starts_with("model.") && !entry.of_learning && entry.key != "model.init_from";
      if (!of_model) continue;
      throw UsageError(
          fmt::format("continue.run: {} cannot change in a run that goes on: {}\n"
                      "leave it as it was; a new run may begin from the weights: model.init_from={}",
                      entry.key, text_of(entry), id_));
    }
    if (differs("optimizer.type") && !(is_of_adam(before_type()) && is_of_adam(now_type()))) {
      throw UsageError(fmt::format(
          "continue.run: optimizer.type cannot change from {} to {} in a run that goes on: the checkpoint of "
          "{} has the state of {}\nleave it as it was, or begin a new run with model.init_from={}",
          before_type(), now_type(), id_, before_type(), id_));
    }
    if (!now_.init_from.empty() && differs("model.init_from")) {
      throw UsageError(
          fmt::format("model.init_from and continue.run both say which weights training begins with\n"
                      "leave one out: {} continues with its own",
                      id_));
    }
  }

 private:
  std::string before_type() const { return before_.at("optimizer.type").get<std::string>(); }
  std::string now_type() const {
    return std::string(OptimizerOptions::kTypeNames.at(static_cast<std::size_t>(now_.optimizer.type)));
  }

  std::string text_of(const OptionEntry& entry) const {
    const Json* const found = find_in(before_, entry.key);
    const auto word = [](const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); };
    return fmt::format("{} is {} (before: {})", entry.key, word(entry.value),
                       found == nullptr ? "not set" : word(*found));
  }

  const RunConfiguration& now_;
  std::string id_;
  std::map<std::string, Json> before_;
  std::vector<OptionEntry> different_;
};

/// The place in a text means something for the same rows of the same text alone.
void check_place(const OptionComparison& compared, bool other_data, const std::string& id) {
  std::vector<std::string> reasons;
  if (other_data) reasons.emplace_back("the data");
  for (const char* key : {"train.batch", "train.block"}) {
    if (compared.differs(key)) reasons.emplace_back(key);
  }
  if (reasons.empty()) return;
  throw UsageError(
      fmt::format("continue.run: {} {} not as of {}, so its place in the text means nothing\n"
                  "add continue.text=restart to read the text from its beginning",
                  join(reasons, " and "),
                  reasons.size() > 1 ? "are"
                  : other_data       ? "are"
                                     : "is",
                  id));
}

void check_vocabulary_of_parent(const fs::path& parent, const RunConfiguration& options, const std::string& id) {
  if (vocabulary_of_run(parent) == open_prepared(options.data.path).vocabulary) return;
  throw UsageError(
      fmt::format("continue.run: the data in {} have another vocabulary than those of {}\n"
                  "a new run can begin from its weights, with the rows of common symbols: model.init_from={}",
                  options.data.path, id, id));
}

void check_length(const RunConfiguration& options, std::int64_t step, const std::string& id) {
  const std::int64_t steps = options.train.steps;
  if (steps == 0 || steps > step) return;
  throw UsageError(
      fmt::format("train.steps is {}, and the checkpoint of {} has done {} of them\n"
                  "train.steps counts from the very beginning: give more, such as train.steps={}",
                  steps, id, step, 2 * step));
}

/// What is left of a budget for the steps behind the checkpoint.
void check_budget(const TrainOptions& train, const SpentBudget& spent, const std::string& id) {
  const auto check = [&](const char* key, double budget, double before) {
    if (budget == 0 || before < budget * (1 - kBudgetRounding)) return;
    throw UsageError(
        fmt::format("{} is {:g}, and {:g} of them were spent up to the checkpoint of {}\n"
                    "{} counts from the very beginning: give more, such as {}={:g}",
                    key, budget, before, id, key, key, 2 * before));
  };
  check("train.flops", train.flops, spent.flops);
  check("train.seconds", train.seconds, spent.seconds);
}

/// Threads change the last bits, so the run keeps those of its parent unless its configuration says otherwise.
Json environment_of_branch(const Run& parent, const OptionComparison& compared, std::int64_t step) {
  Json environment = {{"parent", {{"run", parent.id}, {"step", step}}}};
  if (const std::vector<std::string> changes = compared.texts(); !changes.empty()) {
    environment["parent"]["changes"] = changes;
  }
  const Json* threads = parent.param("train.threads");
  const bool free = threads != nullptr && *threads == 0;
  if (free && parent.environment.contains("threads")) {
    environment["threads"] = parent.environment["threads"];
    environment["processes"] = parent.environment.value("processes", 1);
  }
  return environment;
}

}  // namespace

fs::path find_parent(RunConfiguration& options, const fs::path& runs, ModelTense tense) {
  ContinueOptions& continues = options.continues;
  std::optional<fs::path> folder;
  try {
    folder = run_folder_of(continues.run, runs);
  } catch (const DataError&) {
    if (continues.at == 0) throw;
    return {};  // the new run may have been made while it was here
  }
  if (!folder || !fs::is_regular_file(RunPaths{*folder}.config())) {
    throw DataError(
        fmt::format("continue.run: {} is no run: a model alone has no optimiser and no place in a text\n"
                    "begin a new run from its weights: model.init_from={}",
                    continues.run, continues.run));
  }
  const Run parent = read_live_run(*folder);
  continues.run = parent.id;
  if (parent.is_evaluation) throw DataError(fmt::format("continue.run: {} was only evaluated here", parent.id));
  if (continues.at > 0) return *folder;
  if (options.program) {
    continues.at = newest_of_program(parent);
    return *folder;
  }
  const std::vector<std::int64_t> steps = checkpoint_steps(*folder);
  if (steps.empty() || steps.back() == 0) throw_no_checkpoint(parent.id, {}, 0);
  if (tense == ModelTense::kFuture && parent.status != RunStatus::kDone) {
    throw UsageError(
        fmt::format("continue.at is missing, and {} is {}: its newest checkpoint changes, and the sweep with it\n"
                    "add the step: continue.at={}; it has: {}",
                    parent.id, name_of(parent.status), steps.back(), fmt::join(steps, ", ")));
  }
  continues.at = steps.back();
  return *folder;
}

Branch make_branch(const RunConfiguration& options, const RunInputs& inputs, const fs::path& parent_folder) {
  const Run parent = read_live_run(parent_folder);
  const RunConfiguration before = read_run_options(read_yaml(RunPaths{parent_folder}.config()));
  if (before.type() != options.type()) {
    throw UsageError(
        fmt::format("continue.run: {} is of type {}, and this run of {}", parent.id, before.type(), options.type()));
  }
  const std::int64_t step = options.continues.at;
  const OptionComparison compared(before, options, parent.id);
  Branch branch{.parent = parent_folder, .step = step, .is_program = options.program.has_value()};
  branch.environment = environment_of_branch(parent, compared, step);
  if (options.program) {
    const bool restarts = options.program->resume == ProgramOptions::Resume::kRestart;
    if (restarts) {
      throw UsageError(
          "continue.run: a program with resume: restart begins again each time\n"
          "let it resume from {checkpoints}, and use resume: checkpoint");
    }
    if (const std::int64_t newest = newest_of_program(parent); newest != step) {
      throw DataError(
          fmt::format("continue.at: {} has saved at step {}, and which of its files are of which step only "
                      "its program knows\nleave --at out",
                      parent.id, newest));
    }
    check_length(options, step, parent.id);
    return branch;
  }
  compared.check_fixed();
  const std::vector<std::int64_t> steps = checkpoint_steps(parent_folder);
  if (!contains(steps, step)) throw_no_checkpoint(parent.id, steps, step);
  check_length(options, step, parent.id);
  if (const auto spent = spent_up_to(checkpoint_file(parent_folder, step))) {
    check_budget(options.train, *spent, parent.id);
  }
  const bool other_data = inputs.data.fingerprint != parent.environment.value("fingerprint", "");
  const bool restarts = options.continues.text == ContinueOptions::Text::kRestart;
  if (!restarts) check_place(compared, other_data, parent.id);
  if (other_data) check_vocabulary_of_parent(parent_folder, options, parent.id);
  branch.keeps_best = !other_data && !compared.any_differs("eval.");
  if (parent.status != RunStatus::kDone) {
    branch.notes.push_back(
        fmt::format("note: {} is {}; this run goes on from its checkpoint of step {}: --at {} names it", parent.id,
                    name_of(parent.status), step, step));
  }
  if (std::string note = schedule_note(before, options, parent.id, step); !note.empty()) {
    branch.notes.push_back(std::move(note));
  }
  if (restarts) branch.notes.emplace_back("note: the text is read from its beginning (continue.text=restart)");
  return branch;
}

void bring_branch(const Branch& branch, const fs::path& run) {
  if (branch.is_program) return copy_checkpoints(branch.parent, run);
  bring_start(checkpoint_file(branch.parent, branch.step), run);
  if (branch.keeps_best) bring_best_weights(branch.parent, branch.step, run);
}

void require_start(const Run& run, const RunOptions& options) {
  const fs::path source = options.init_from;
  const bool from_weights = step_of_checkpoint(source) >= 0;
  if (options.continues.run.empty() && !from_weights) return;
  if (has_start(run.folder)) return;
  const fs::path neighbour = run.folder.parent_path() / options.continues.run;
  const fs::path file = from_weights ? source : checkpoint_file(neighbour, options.continues.at);
  if (fs::is_regular_file(file)) {
    bring_start(file, run.folder);
    if (from_weights) {
      write_file(RunPaths{run.folder}.checkpoints() / kStartVocabulary,
                 vocabulary_json(vocabulary_of_run(source.parent_path().parent_path())));
    }
    return;
  }
  throw DataError(fmt::format(
      "the checkpoint that {} begins with is neither in its folder nor at {}\n"
      "bring the checkpoints of either run: xlm runs pack RUN --checkpoints --out FILE.tar.zst, then xlm runs "
      "merge FILE.tar.zst",
      run.id, file.string()));
}

Vocabulary vocabulary_of_run(const fs::path& run) {
  const Run known = read_run(run);
  const Json* data = known.param("data.path");
  const fs::path prepared = data != nullptr && data->is_string() ? data->get<std::string>() : "";
  if (fs::is_directory(prepared)) {
    PreparedData found = open_prepared(prepared);
    if (found.fingerprint == known.environment.value("fingerprint", "")) return found.vocabulary;
  }
  throw DataError(
      fmt::format("the symbols of {} are not known here: its data are not in {} any more\n"
                  "put the prepared data back there, or prepare them again",
                  known.id, prepared.string()));
}

}  // namespace xlm
