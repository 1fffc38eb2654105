// Training of one run.
#include "core/train/trainer.h"

#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "core/api/arithmetic.h"
#include "core/api/checkpoint_files.h"
#include "core/api/learning_rate.h"
#include "core/eval/evaluation.h"
#include "core/eval/measure.h"
#include "core/eval/trace.h"
#include "core/kernels/packed_operands.h"
#include "core/models/language_model.h"
#include "core/models/model_folder.h"
#include "core/runtime/device.h"
#include "core/schemes/scheme.h"
#include "core/train/batch_gradients.h"
#include "core/train/best_weights.h"
#include "core/train/checkpoint.h"
#include "core/train/first_non_finite.h"
#include "core/train/inner_model.h"
#include "core/train/memory_check.h"
#include "core/train/optimizer.h"
#include "core/train/recorded_norms.h"
#include "core/train/split_checks.h"
#include "core/train/training_budget.h"
#include "core/train/training_costs.h"

namespace xlm {
namespace {

constexpr std::int64_t kRecordsOfARun = 1000;  // metrics written by default
constexpr double kStatisticsRefresh = 0.2;     // seconds between readings that are only shown

class Trainer {
 public:
  Trainer(const TrainJob& job, TrainSink& sink)
      : job_(&job),
        options_(&job.options),
        sink_(&sink),
        device_(prepare_device(job.options, job.processes)),
        group_(join(job.processes, device_)),
        data_(open_prepared(job.options.data.path)),
        checkpoints_(job.folder / kCheckpointFolder, job.options.train.keep_every),
        costs_(device_, group_.get()) {
    check_memory(*options_, data_.vocabulary.size(), device_,
                 memory_limit() / static_cast<std::uint64_t>(job.processes.count));
    torch::manual_seed(static_cast<std::uint64_t>(options_->seed));
    model_ = make_model(options_->model, data_.vocabulary);
    check_splits(data_, *options_, *model_, *sink_);
    batches_ =
        scheme_of(*model_).batches(source("train"), {options_->train.batch, options_->train.block}, options_->seed);
    begin_weights();
    std::optional<Checkpoint> checkpoint = checkpoints_.load_first(
        options_->continues.at, [this](const std::string& text) { sink_->message("warning: " + text); });
    if (!checkpoint && needs_inner_model(*model_)) {  // a checkpoint has what follows from it, too
      const char* split = data_.splits.contains("valid") ? "valid" : "train";
      sink_->message(take_inner_model(*model_, data_, source(split), options_->train.block));
    }
    model_->to(device_);
    optimizer_.emplace(options_->optimizer, model_->weights(), rate_multipliers(*model_), part_multipliers(*model_));
    gradients_.emplace(*options_, *model_, device_, group_.get());
    budget_.emplace(options_->train, *model_, group_.get());
    if (options_->train.log_norms) norms_.emplace(model_->weights());
    if (options_->train.debug) gradients_->watch(watch_.emplace(model_->weights()));
    if (options_->eval.select == EvalOptions::Select::kBest) {
      best_.emplace(job.folder / kCheckpointFolder / kBestWeights);
    }
    if (options_->train.precision == Precision::kBfloat16 && device_.is_cpu() && !has_bfloat16_products()) {
      sink_->message(
          "note: this processor multiplies no bfloat16: steps round as bfloat16 does but take longer than in float32");
    }
    if (checkpoint) restore(*checkpoint);
    checkpoint.reset();
    check_same_start();
    gradients_->start_recording(*sink_);
  }

  TrainOutcome run() {
    while (!budget_->is_spent(step_)) {
      // Before the step, so that a run that was killed during an evaluation repeats it.
      if (evaluation_due() && evaluate_while_training() == TrainOutcome::kStopped) return TrainOutcome::kStopped;
      record(step());
      const bool stop = in_any_process(sink_->should_stop());
      if (stop || checkpoint_due()) save();
      if (stop && !budget_->is_spent(step_)) return TrainOutcome::kStopped;
    }
    return finish();
  }

 private:
  /// Made once: segmenting a split takes long if the data folder has no segmentation.
  const TokenSource& source(const std::string& split) {
    const auto found = sources_.find(split);
    return found != sources_.end() ? found->second
                                   : sources_.emplace(split, token_source(data_, split, *model_)).first->second;
  }

  /// The weights of another run, if training starts from some.
  void begin_weights() {
    if (options_->init_from.empty()) return;
    const fs::path source = options_->init_from;
    const fs::path own = job_->folder / kCheckpointFolder;
    SourceWeights weights;
    if (step_of_checkpoint(source) >= 0) {  // of which the run has a copy
      weights = {.tensors = read_checkpoint_weights(own / kStartCheckpoint),
                 .vocabulary = read_vocabulary(own / kStartVocabulary),
                 .name = source.string()};
    } else {
      weights = source_weights(source, &data_.vocabulary);
    }
    const std::string note = initialize_from(*model_, weights, options_->model, data_.vocabulary);
    if (!note.empty()) sink_->message(note);
  }

  void restore(const Checkpoint& checkpoint) {
    const bool begins = checkpoint.of_other_run;
    const std::string source = fmt::format("the checkpoint of step {} in {}", checkpoint.step, job_->folder.string());
    load_weights(*model_, checkpoint.weights(), source);
    optimizer_->restore(checkpoint.tensors, source);
    if (!begins || options_->continues.text == ContinueOptions::Text::kContinue) {
      batches_->restore(checkpoint.state.at("stream"));
      gradients_->restore(checkpoint);
    }
    evaluated_step_ = checkpoint.state.at("evaluated_step").get<std::int64_t>();
    budget_->restore(checkpoint.state.value("budget", Json()));
    if (begins) {  // another run has paid for what led to its checkpoint
      budget_->inherit();
    } else if (checkpoint.state.contains("costs")) {
      costs_.restore(checkpoint.state.at("costs"));
    }
    if (writes() && checkpoint.state.contains("counts")) {  // of all processes: only one of them may continue them
      const Json& counts = checkpoint.state.at("counts");
      model_->set_counts({.sums = counts.at("sums").get<std::vector<double>>(),
                          .maxima = counts.at("maxima").get<std::vector<double>>()});
    }
    step_ = saved_step_ = checkpoint.step;
    if (best_) best_->recall();
    if (best_ && !best_->known() && checkpoint.state.value("has_best", false)) {
      sink_->message(
          fmt::format("warning: {} is missing or damaged: the best weights of the first {} steps are lost, and later "
                      "ones become the model",
                      best_->file().string(), step_));
    }
    sink_->message(begins ? fmt::format("going on from step {} of {}", step_, options_->continues.run)
                          : fmt::format("resuming from step {}", step_));
  }

  bool checkpoint_due() const {
    const TrainOptions& train = options_->train;
    return step_ % train.checkpoint_every == 0 || (train.keep_every > 0 && step_ % train.keep_every == 0);
  }

  /// Throws Error if the processes of a run found different checkpoints or best weights, as a slow file system may
  /// show.
  void check_same_start() {
    if (!group_) return;
    const auto step = static_cast<double>(step_);
    const auto evaluated = static_cast<double>(evaluated_step_);
    const double best = best_ && best_->known() ? static_cast<double>(best_->known()->step) : -1;
    std::array<double, 6> ends{step, -step, evaluated, -evaluated, best, -best};
    group_->max(ends.data(), ends.size());
    if (ends[0] == -ends[1] && ends[2] == -ends[3] && ends[4] == -ends[5]) return;
    throw Error(
        fmt::format("the processes of this run found different checkpoints or best weights, of steps {} to {}, in {}\n"
                    "check that all of them see the same files, and run it again",
                    -ends[1], ends[0], job_->folder.string()));
  }

  /// All processes call this; the first one writes the checkpoint.
  void save() {
    if (saved_step_ == step_) return;
    costs_.pause();
    budget_->pause();
    sink_->check_owner();
    sink_->saving();
    Checkpoint checkpoint{.step = step_, .tensors = {}, .state = Json::object()};
    for (const auto& [name, tensor] : model_->weights()) {
      if (!torch::isfinite(tensor).all().item<bool>()) {
        throw DivergedError(
            fmt::format("'{}' is not finite after step {}; the last finite checkpoint is kept", name, step_));
      }
      checkpoint.add_weight(name, tensor);
    }
    for (auto& entry : optimizer_->state()) checkpoint.tensors.push_back(std::move(entry));
    gradients_->save(checkpoint);
    const Json costs = costs_.state();
    const Counts counts = counts_of_all(*model_, group_.get());
    saved_step_ = step_;
    if (!writes()) return;
    checkpoint.state.update({{"stream", batches_->state()},
                             {"evaluated_step", evaluated_step_},
                             {"has_best", best_ && best_->known()},
                             {"budget", budget_->state()},
                             {"costs", costs},
                             {"counts", {{"sums", counts.sums}, {"maxima", counts.maxima}}}});
    sink_->checkpoint(step_, checkpoints_.save(checkpoint));
  }

  double step() {
    costs_.begin_step();
    budget_->begin_step();
    model_->train();
    optimizer_->zero_gradients();
    const Json place = watch_ ? batches_->state() : Json();
    const Batch batch = batches_->next();
    if (watch_) watch_->begin_step();
    const double loss = gradients_->add(batch, step_);
    if (watch_) watch_->check(step_ + 1, place);
    if (!std::isfinite(loss)) {
      throw DivergedError(
          fmt::format("the loss is {} at step {}; the last finite checkpoint is kept\n"
                      "a smaller optimizer.lr or a longer optimizer.warmup_steps may help; with train.debug=true this "
                      "error names the tensor that is the first not to be finite",
                      loss, step_ + 1));
    }
    budget_->spend(batch);
    const bool has_norms = norms_ && is_recorded(step_ + 1);
    if (has_norms) norms_->before_step();
    optimizer_->step(learning_rate(options_->optimizer, step_ + 1, budget_->steps(step_ + 1)), step_ + 1);
    model_->after_step();
    norms_of_step_ = has_norms ? norms_->after_step() : NamedValues();
    if (watch_) watch_->end_step();
    if (watch_) watch_->check(step_ + 1, place);
    ++step_;
    costs_.end_step(batch.targets.numel());
    return loss;
  }

  /// Whether the metrics of update `step`, whose arithmetic is spent, go into the journal.
  bool is_recorded(std::int64_t step) const {
    if (budget_->is_spent(step)) return true;
    const TrainOptions& train = options_->train;
    if (train.log_every > 0) return step % train.log_every == 0;
    if (train.has_budget()) return budget_->has_passed(kRecordsOfARun);
    return step % std::max<std::int64_t>(1, train.steps / kRecordsOfARun) == 0;
  }

  /// All processes call this.
  void record(double loss) {
    const bool kept = is_recorded(step_);
    if (kept && group_) unite_counts(*model_, *group_);
    // Reading the model's counts waits for its device, so they are not read at every step unless steps are slow.
    const double now = monotonic_seconds();
    if (kept || statistics_.empty() || now - statistics_read_ >= kStatisticsRefresh) {
      statistics_ = model_->statistics();
      statistics_read_ = now;
    }
    NamedValues values = statistics_;
    values.insert(norms_of_step_.begin(), norms_of_step_.end());
    values["loss"] = loss;
    if (data_.vocabulary.unit != Vocabulary::Unit::kBpe) values["bpc"] = loss / std::numbers::ln2;
    values["lr"] = learning_rate(options_->optimizer, step_, budget_->steps(step_));
    values.merge(budget_->values());
    if (const auto rate = costs_.tokens_per_second()) values["tokens_per_second"] = *rate;
    sink_->progress(step_, values);
    if (!kept) return;
    sink_->metrics(step_, values);
    model_->reset_statistics();
    budget_->counts_begin_again();
    if (!has_told_memory_ && costs_.is_warm()) {  // once: a sweep starts further runs if they fit
      has_told_memory_ = true;
      costs_.pause();
      sink_->costs(costs_.memory());
    }
  }

  bool evaluation_due() const {
    const std::int64_t every = options_->train.eval_every;
    return every > 0 && step_ > 0 && step_ % every == 0 && evaluated_step_ != step_;
  }

  /// Returns nullopt if it was stopped.
  std::optional<Evaluation> evaluate(const std::string& split_name, bool final) {
    RunOptions options = *options_;
    TokenSource source = this->source(split_name);
    if (!final) {
      options.eval = during_training(options.eval);
      source = source.first(tokens_during_training(options.eval, source.size()));
    }
    SplitSettings settings = split_settings(options, device_);
    costs_.evaluated();
    settings.group = group_.get();
    if (gradients_->holds_sizes()) settings.recorder = evaluation_recorder(*options_, device_);
    if (gradients_->was_refused()) settings.recorder = [] { return nullptr; };
    settings.by_part = settings.by_part && final;
    const auto go_on = [&](std::int64_t scored, std::int64_t total) {
      sink_->evaluating(split_name, static_cast<double>(scored), static_cast<double>(total));
      return !sink_->should_stop();
    };
    const MeasuredText text{split_name, data_.split(split_name), source, data_.vocabulary};
    const Traced traced = final && writes() ? Traced::kYes : Traced::kNo;
    std::optional<Evaluation> evaluation;
    gradients_->beside_recording([&] { evaluation = measure(*model_, text, settings, options_->seed, traced, go_on); });
    if (!evaluation) return std::nullopt;
    evaluation->step = step_;
    evaluation->final = final;
    return evaluation;
  }

  TrainOutcome evaluate_while_training() {
    save();  // a kill during a long evaluation must not lose the steps before it
    const Counts of_training = model_->counts();
    budget_->pause();
    const std::optional<Evaluation> evaluation = evaluate("valid", false);
    if (!evaluation) return TrainOutcome::kStopped;
    evaluated_step_ = step_;
    sink_->evaluation(*evaluation);
    for (const Grid& grid : model_->grids()) sink_->grid(step_, grid);
    model_->reset_statistics();
    model_->set_counts(of_training);
    if (best_ && best_->beaten_by(evaluation->loss)) {
      sink_->check_owner();
      const BestWeights::Place place{.step = step_, .loss = evaluation->loss};
      if (writes()) {
        best_->keep(place, model_->weights());
      } else {
        best_->follow(place);
      }
    }
    return TrainOutcome::kDone;
  }

  /// The final evaluation on validation. If earlier weights have a lower loss than the last ones, loads and evaluates
  /// those: they become the model. Returns nullopt if it was stopped.
  std::optional<Evaluation> validate_finally() {
    // Evaluations of a part of the split are compared with one of the same part.
    const bool is_final = !best_ || !best_->known() || options_->eval.during.is_whole();
    const auto whole = [&](std::optional<Evaluation> last) {
      return last && !is_final ? evaluate("valid", true) : last;
    };
    std::optional<Evaluation> last = evaluate("valid", is_final);
    const bool keep_last = !last || !best_ || !best_->known() || last->loss <= best_->known()->loss;
    if (keep_last) return whole(std::move(last));
    const std::optional<NamedTensors> better = best_->read();
    if (in_any_process(!better)) {
      sink_->message(fmt::format(
          "warning: {} is missing or damaged: the last weights become the model, though those of step {} were better",
          best_->file().string(), best_->known()->step));
      return whole(std::move(last));
    }
    last->final = false;
    last->trace = {};
    sink_->evaluation(*last);
    load_weights(*model_, *better, best_->file().string());
    step_ = best_->known()->step;
    return evaluate("valid", true);
  }

  /// The final evaluations and model/.
  TrainOutcome finish() {
    save();
    gradients_->stop_recording();  // the evaluations may need its memory
    std::vector<Evaluation> evaluations;
    for (const std::string split : {"valid", "test"}) {
      if (data_.splits.count(split) == 0 || options_->eval.seals(split)) continue;
      const std::optional<Evaluation> evaluation = split == "valid" ? validate_finally() : evaluate(split, true);
      if (!evaluation) return TrainOutcome::kStopped;
      evaluations.push_back(*evaluation);
    }
    sink_->check_owner();
    NamedValues costs = model_->costs(options_->train.block);
    costs.merge(costs_.values());
    costs.merge(budget_->costs());
    if (!writes()) return TrainOutcome::kDone;
    const fs::path merges = data_.path / "merges.txt";
    write_model_folder(job_->folder / "model", *model_, data_.vocabulary, job_->model_yaml,
                       fs::exists(merges) ? read_file(merges) : "");
    for (const Evaluation& evaluation : evaluations) {
      sink_->evaluation(evaluation);
      for (const std::string& warning : evaluation_warnings(evaluation, options_->eval, data_.vocabulary.size())) {
        sink_->message("warning: " + warning);
      }
    }
    for (const Grid& grid : model_->grids()) sink_->grid(step_, grid);
    sink_->costs(costs);
    if (!evaluations.empty()) {  // last, because tracing changes the model's statistics
      const TokenSource& text = this->source(evaluations.back().split);
      for (const Grid& grid : trace_heads(*model_, text, split_settings(*options_, device_))) sink_->grid(step_, grid);
    }
    return TrainOutcome::kDone;
  }

  bool in_any_process(bool here) {
    double count = here ? 1 : 0;
    if (group_) group_->max(&count, 1);
    return count > 0;
  }

  bool writes() const { return !group_ || group_->is_first(); }

  const TrainJob* job_;
  const RunOptions* options_;
  TrainSink* sink_;
  torch::Device device_;
  std::unique_ptr<ProcessGroup> group_;  // null: this process is alone
  PreparedData data_;
  std::map<std::string, TokenSource> sources_;  // by split
  CheckpointFolder checkpoints_;
  std::shared_ptr<LanguageModel> model_;
  std::unique_ptr<BatchStream> batches_;
  std::optional<Optimizer> optimizer_;
  std::optional<BatchGradients> gradients_;
  std::optional<TrainingBudget> budget_;
  std::optional<FirstNonFinite> watch_;  // with train.debug
  std::optional<RecordedNorms> norms_;   // with train.log_norms
  NamedValues norms_of_step_;            // of a step that is recorded
  std::int64_t step_ = 0;
  std::int64_t saved_step_ = -1;
  std::int64_t evaluated_step_ = 0;
  std::optional<BestWeights> best_;  // with eval.select=best
  TrainingCosts costs_;
  bool has_told_memory_ = false;
  NamedValues statistics_;      // of the model, as last read
  double statistics_read_ = 0;  // when, by monotonic_seconds
};

}  // namespace

TrainOutcome train(const TrainJob& job, TrainSink& sink) { return Trainer(job, sink).run(); }

}  // namespace xlm
