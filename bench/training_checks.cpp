// Checks training on a device: recorded steps, windows, losses against the CPU, and resuming.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/progress.h"
#include "bench/checks.h"
#include "bench/rerun_recorder.h"
#include "bench/training_step.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/byte_patches_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/models/capabilities.h"
#include "core/models/captured_steps.h"
#include "core/runtime/device.h"
#include "core/schemes/windows_loss.h"
#include "core/train/optimizer.h"
#include "core/train/trainer.h"
#include "datasets/prepare.h"

namespace xlm {
namespace {

using ModelNamed = std::pair<std::string, ModelOptions>;

/// Width, heads and layers of the models that are trained.
struct ModelSize {
  std::int64_t width, heads, layers;
};

ModelSize model_size(const CheckJob& job) {
  return job.size == CheckSize::kLeast ? ModelSize{32, 2, 2} : ModelSize{128, 4, 4};
}

AdaptiveSpanOptions span_model(const CheckJob& job, AdaptiveSpanOptions::SpanType type, double dropout) {
  const ModelSize size = model_size(job);
  return {.width = size.width,
          .heads = size.heads,
          .feed_forward = 4 * size.width,
          .layers = size.layers,
          .dropout = dropout,
          .attention_dropout = dropout,
          .span = 256,
          .span_type = type};
}

HourglassOptions pooling_model(const CheckJob& job, BoundaryOptions::Type type, double dropout) {
  const ModelSize size = model_size(job);
  HourglassOptions model{.width = size.width,
                         .heads = size.heads,
                         .feed_forward = 4 * size.width,
                         .layers = {1, size.layers - 1, 1},
                         .dropout = dropout,
                         .attention_dropout = dropout};
  model.boundaries.type = type;
  if (type == BoundaryOptions::Type::kNone) model.layers = {size.layers};
  return model;
}

Gpt2Options window_model(const CheckJob& job, RecurrenceOptions::Pool pool, double dropout) {
  const ModelSize size = model_size(job);
  Gpt2Options model{.width = size.width,
                    .heads = size.heads,
                    .layers = size.layers,
                    .positions = 64,
                    .dropout = dropout,
                    .attention_dropout = dropout,
                    .window = 48,
                    .overlap = 8,
                    .windows = 3};
  model.recurrence.pool = pool;
  model.complete();
  return model;
}

BytePatchesOptions patch_model(const CheckJob& job, PatchBoundaryOptions::Type type) {
  const ModelSize size = model_size(job);
  BytePatchesOptions model{.width = 2 * size.width,
                           .layers = size.layers,
                           .local_width = size.width,
                           .local_layers = 2,
                           .local_window = 16,
                           .positions = 64,
                           .places = 32};
  model.boundaries.type = type;
  model.boundaries.factor = 3;
  model.block.head_width = size.width / size.heads;
  TrainOptions train;
  model.complete(train);
  return model;
}

/// Prepares a uniform text that a model can learn from.
fs::path prepared_text(const fs::path& folder) {
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text += fmt::format("the quick brown fox jumps over line {} and {} more\n", i * i % 97, i);
  }
  create_folders(folder);
  write_file(folder / "corpus.txt", text);
  prepare(check_request({.dataset = "text", .from = {folder / "corpus.txt"}, .out = folder / "data"}), {});
  return folder / "data";
}

/// Keeps the losses. Asks training to stop after a chosen step.
class LossSink final : public TrainSink {
 public:
  explicit LossSink(std::int64_t stop_after = -1) : stop_after_(stop_after) {}
  void progress(std::int64_t step, const NamedValues& values) override {
    step_ = step;
    losses[step] = values.at("loss");
  }
  void metrics(std::int64_t, const NamedValues&) override {}
  void grid(std::int64_t, const Grid&) override {}
  void evaluation(const Evaluation&) override {}
  void costs(const NamedValues&) override {}
  void saving() override {}
  void checkpoint(std::int64_t, const fs::path&) override {}
  void message(const std::string&) override {}
  void check_owner() override {}
  bool should_stop() override { return step_ == stop_after_; }

  std::map<std::int64_t, double> losses;

 private:
  std::int64_t stop_after_;
  std::int64_t step_ = 0;
};

/// A run in a new folder, with the model's paper defaults.
TrainJob run_of(const CheckJob& job, const fs::path& data, const std::string& name, const ModelOptions& model,
                std::int64_t steps) {
  TrainJob run;
  run.folder = job.work / name;
  create_folders(run.folder);
  run.model_yaml = "model: {}\n";
  RunOptions& options = run.options;
  options.data.path = data.string();
  options.model = model;
  options.model.paper_defaults(options.optimizer, options.train, options.eval);
  options.optimizer.warmup_steps = 10;
  // At higher rates rounding alone moves losses: Adagrad's after 100 steps at 0.07, and Adam's for recurrent GPT-2
  // after 200 steps at 3e-3, by 3 %. At these it is 0.1 %.
  options.optimizer.lr = options.optimizer.type == OptimizerOptions::Type::kAdagrad ? 0.01 : 1e-3;
  options.train.steps = steps;
  options.train.batch = 8;
  options.train.block = 128;
  options.train.micro_batch = 0;
  options.train.eval_every = 0;
  options.eval = {.batch = 2, .context = 128, .stride = 64};
  options.seed = 1 + static_cast<std::int64_t>(job.seed);
  options.device = job.device.str();
  return run;
}

std::int64_t steps_of(const CheckJob& job) {
  return job.size == CheckSize::kPaper ? 200 : job.size == CheckSize::kSmall ? 100 : 40;
}

std::unique_ptr<StepRecorder> recorder_for(torch::Device device) {
  if (device.is_cuda()) return make_cuda_recorder(device, RecordedUse::kTrain);
  return std::make_unique<RerunRecorder>();
}

struct RecordedModel {
  std::string name;
  ModelOptions options;
  ActivationPolicy policy = ActivationPolicy::kKeep;
};

/// A small model that trains on the device, its steps recorded or not.
class TrainedSteps {
 public:
  static constexpr std::int64_t kSymbols = 27;
  static constexpr std::int64_t kRows = 8;

  /// Steps are not recorded if `recorder` is null.
  TrainedSteps(const CheckJob& job, const RecordedModel& recorded, std::unique_ptr<StepRecorder> recorder)
      : device_(job.device), policy_(recorded.policy) {
    torch::manual_seed(7 + 1000 * job.seed);
    model_ = make_model(recorded.options, kSymbols);
    model_->to(device_);
    const NamedTensors& weights = model_->weights();
    optimizer_.emplace(OptimizerOptions{.type = OptimizerOptions::Type::kAdagrad, .lr = kRate}, weights);
    if (recorder) captured_ = std::make_unique<CapturedSteps>(std::move(recorder), device_, weights);
    state_ = model_->initial_state(kRows);
  }

  /// The loss of one step.
  double step(const ModelInput& input, const torch::Tensor& targets) {
    const auto work = [this](const ModelInput& in, const torch::Tensor& wanted, const State& before) {
      const TrainingLoss loss = scheme_of(*model_).loss(*model_, in, wanted, before, policy_);
      loss.total.backward();
      return CapturedSteps::Outcome{.loss = loss.language_model.detach(), .state = loss.state, .needed = loss.needed};
    };
    const double start = monotonic_seconds();
    CapturedSteps::Outcome outcome;
    ModelInput seen = input;
    for (;;) {
      torch::manual_seed(11 + static_cast<std::uint64_t>(steps_));  // of noise
      optimizer_->zero_gradients();
      if (captured_) seen = recordable_input(*model_, input);
      outcome = captured_ ? captured_->run(graph_signature_of(*model_).value(), seen, targets, state_, work)
                          : work(input.to(device_), targets.to(device_), state_);
      if (!captured_ || had_room(*model_, seen, outcome.needed)) break;
      state_ = captured_->state_before(state_);
    }
    state_ = std::move(outcome.state);
    optimizer_->step(kRate, ++steps_);
    model_->after_step();
    const auto loss = outcome.loss.item<double>();
    seconds_.push_back(monotonic_seconds() - start);
    return loss;
  }

  /// Continues with the weights and the state of `other`, which has made as many steps.
  void continue_as(const TrainedSteps& other) {
    const torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < model_->weights().size(); ++i) {
      model_->weights()[i].second.copy_(other.model_->weights()[i].second);
    }
    model_->after_step();
    optimizer_->restore(other.optimizer_->state(), "the other steps");
    state_.clear();
    for (const torch::Tensor& tensor : other.state_) state_.push_back(tensor.clone());
  }

  double seconds_of_step() const { return median_seconds(seconds_); }
  std::int64_t recordings() const { return captured_ ? captured_->recordings() : 0; }

 private:
  static constexpr double kRate = 0.02;

  torch::Device device_;
  ActivationPolicy policy_;
  std::shared_ptr<LanguageModel> model_;
  std::optional<Optimizer> optimizer_;
  std::unique_ptr<CapturedSteps> captured_;
  State state_;
  std::int64_t steps_ = 0;
  std::vector<double> seconds_;
};

double mean_of_last(const std::map<std::int64_t, double>& losses, std::size_t count) {
  double sum = 0;
  auto at = losses.rbegin();
  for (std::size_t i = 0; i < count; ++i) sum += (at++)->second;
  return sum / static_cast<double>(count);
}

/// Compares the losses of a run with those of the CPU in float32.
Check compare_losses(const std::string& name, const std::map<std::int64_t, double>& found,
                     const std::map<std::int64_t, double>& expected, double of_first, double of_last) {
  constexpr std::int64_t kFirst = 10;
  double first = 0;
  for (std::int64_t step = 1; step <= kFirst; ++step) {
    first = std::max(first, std::abs(found.at(step) / expected.at(step) - 1));
  }
  const double last = mean_of_last(found, kFirst);
  const double wanted = mean_of_last(expected, kFirst);
  return {.name = name,
          .bound = fmt::format("each of the first {} within {:g}, the mean of the last {} within {:g} of it", kFirst,
                               of_first, kFirst, of_last),
          .measured = fmt::format("{:.1e}; {:.4f} and {:.4f} nats after {} steps", first, last, wanted, found.size()),
          .passed = first <= of_first && std::abs(last / wanted - 1) <= of_last};
}

}  // namespace

std::vector<Check> check_recorded_steps(const CheckJob& job) {
  using SpanType = AdaptiveSpanOptions::SpanType;
  constexpr double kBound = 1e-4;
  // Gradients of attention in float32 are sums in any order on a GPU. Adagrad's first updates have the length of the
  // rate whatever the gradient, so that the same steps, unrecorded twice, can differ by 4e-4 after four of them.
  constexpr std::int64_t kStepsApart = 2;
  std::vector<Check> checks;
  const Gpt2Options recurrent = window_model(job, RecurrenceOptions::Pool::kMean, 0);
  for (const RecordedModel& model :
       std::vector<RecordedModel>{{"fixed spans", span_model(job, SpanType::kFixed, 0)},
                                  {"adaptive spans", span_model(job, SpanType::kAdaptive, 0)},
                                  {"hourglass without pooling", pooling_model(job, BoundaryOptions::Type::kNone, 0)},
                                  {"pooling of equal length", pooling_model(job, BoundaryOptions::Type::kFixed, 0)},
                                  {"learnt pooling", pooling_model(job, BoundaryOptions::Type::kGumbel, 0)},
                                  {"pooling at spikes", pooling_model(job, BoundaryOptions::Type::kEntropy, 0)},
                                  {"GPT-2", window_model(job, RecurrenceOptions::Pool::kNone, 0)},
                                  {"recurrent GPT-2", recurrent},
                                  {"recurrent GPT-2, computed again", recurrent, ActivationPolicy::kRecompute},
                                  {"patches of equal length", patch_model(job, PatchBoundaryOptions::Type::kFixed)},
                                  {"patches by a router", patch_model(job, PatchBoundaryOptions::Type::kRouter)}}) {
    TrainedSteps plain(job, model, nullptr);
    TrainedSteps recorded(job, model, recorder_for(job.device));
    double worst = 0;
    bool within = true;
    for (std::int64_t step = 1; step <= steps_of(job); ++step) {
      const torch::Tensor tokens =
          torch::randint(TrainedSteps::kSymbols, {TrainedSteps::kRows, 1}) + torch::arange(65);  // rows count upwards
      const ModelInput input{.tokens = tokens.narrow(1, 0, 64).remainder(TrainedSteps::kSymbols)};
      const torch::Tensor targets = tokens.narrow(1, 1, 64).remainder(TrainedSteps::kSymbols);
      if (model.options.get_if<BytePatchesOptions>() != nullptr) input.tokens.select(1, 0).fill_(kBeginning);
      const double expected = plain.step(input, targets);
      const double off = std::abs(recorded.step(input, targets) / expected - 1);
      within = within && off <= kBound;  // false for NaN
      worst = std::max(off, worst);
      if (step % kStepsApart == 0) recorded.continue_as(plain);
    }
    checks.push_back({.name = model.name,
                      .bound = fmt::format("each loss within {:g}; at least one recording", kBound),
                      .measured = fmt::format("{:.1e}; {} recordings; {:.2f} ms a step, unrecorded {:.2f} ms", worst,
                                              recorded.recordings(), 1e3 * recorded.seconds_of_step(),
                                              1e3 * plain.seconds_of_step()),
                      .passed = within && recorded.recordings() > 0});
  }
  return checks;
}

/// The loss and all gradients, one after the other, of a step on `tokens` [B, T + 1] with dropout. A recorded one is
/// replayed.
std::pair<double, torch::Tensor> windows_step(LanguageModel& model, const CheckJob& job, const torch::Tensor& tokens,
                                              Precision precision, ActivationPolicy policy, bool recorded) {
  const auto work = [&](const ModelInput& input, const torch::Tensor& targets, const State& state) {
    torch::Tensor loss;
    {
      const PrecisionScope scope(precision, job.device);
      loss = windows_loss(model, input.tokens, targets, policy);
    }
    loss.backward();
    return CapturedSteps::Outcome{.loss = loss.detach(), .state = state};
  };
  const ModelInput input{.tokens = tokens.narrow(1, 0, tokens.size(1) - 1)};
  const torch::Tensor targets = tokens.narrow(1, 1, tokens.size(1) - 1);
  CapturedSteps captured(recorder_for(job.device), job.device, model.weights());
  double loss = 0;
  std::vector<torch::Tensor> gradients;
  for (int step = 0; step < (recorded ? CapturedSteps::kUncaptured + 2 : 1); ++step) {
    gradients.clear();
    torch::manual_seed(5 + 1000 * job.seed);
    for (const auto& [name, weight] : model.weights()) weight.mutable_grad().reset();
    loss =
        (recorded ? captured.run("windows", input, targets, {}, work) : work(input, targets, {})).loss.item<double>();
    for (const auto& [name, weight] : model.weights()) gradients.push_back(weight.grad().flatten());
  }
  return {loss, torch::cat(gradients)};
}

std::vector<Check> check_windows(const CheckJob& job) {
  std::vector<Check> checks;
  for (const auto& [precision, is_recorded] : std::vector<std::pair<Precision, bool>>{{Precision::kFloat32, false},
                                                                                      {Precision::kBfloat16, false},
                                                                                      {Precision::kFloat32, true},
                                                                                      {Precision::kBfloat16, true}}) {
    torch::manual_seed(3 + 1000 * job.seed);
    const auto model = make_model(window_model(job, RecurrenceOptions::Pool::kMean, 0.1), 300);
    model->to(job.device);
    model->train();
    const torch::Tensor tokens = torch::randint(300, {2, 129}).to(job.device);
    const auto [loss, gradient] = windows_step(*model, job, tokens, precision, ActivationPolicy::kKeep, is_recorded);
    const auto [recomputed_loss, recomputed_gradient] =
        windows_step(*model, job, tokens, precision, ActivationPolicy::kRecompute, is_recorded);
    // All gradients together: in a single tensor that is nearly 0, the rounding of bfloat16 may be a large share.
    const double worst = std::max(std::abs(recomputed_loss / loss - 1),
                                  ((recomputed_gradient - gradient).norm() / gradient.norm()).item<double>());
    const double bound = precision == Precision::kFloat32 ? 1e-4 : 2e-2;
    checks.push_back(
        {.name = fmt::format("recurrent GPT-2 with dropout, {}{}",
                             kPrecisionNames.at(static_cast<std::size_t>(precision)), is_recorded ? ", recorded" : ""),
         .bound = fmt::format("loss and gradient within {:g}", bound),
         .measured = fmt::format("{:.1e}", worst),
         .passed = worst <= bound});
  }
  return checks;
}

std::vector<Check> check_losses(const CheckJob& job) {
  using SpanType = AdaptiveSpanOptions::SpanType;
  const fs::path data = prepared_text(job.work / "text");
  std::vector<Check> checks;
  for (const auto& [name, model] :
       std::vector<ModelNamed>{{"adaptive spans", span_model(job, SpanType::kAdaptive, 0)},
                               {"dynamic spans", span_model(job, SpanType::kDynamic, 0)},
                               {"pooling by words", pooling_model(job, BoundaryOptions::Type::kWhitespace, 0)},
                               {"recurrent GPT-2", window_model(job, RecurrenceOptions::Pool::kMean, 0)}}) {
    const auto losses = [&, &name = name, &model = model](torch::Device device, Precision precision) {
      const std::string place = fmt::format("{} {} {}", name, device.str(), static_cast<int>(precision));
      TrainJob run = run_of(job, data, place, model, steps_of(job));
      run.options.device = device.str();
      run.options.train.precision = precision;
      LossSink sink;
      train(run, sink);
      return sink.losses;
    };
    const auto expected = losses(torch::kCPU, Precision::kFloat32);
    if (!job.device.is_cpu()) {
      checks.push_back(
          compare_losses(name + ", float32", losses(job.device, Precision::kFloat32), expected, 1e-3, 1e-2));
    }
    checks.push_back(
        compare_losses(name + ", bfloat16", losses(job.device, Precision::kBfloat16), expected, 2e-2, 2e-2));
  }
  return checks;
}

std::vector<Check> check_resuming(const CheckJob& job) {
  using SpanType = AdaptiveSpanOptions::SpanType;
  const fs::path data = prepared_text(job.work / "text");
  std::vector<Check> checks;
  for (const auto& [name, model] :
       std::vector<ModelNamed>{{"adaptive spans", span_model(job, SpanType::kAdaptive, 0.1)},
                               {"dynamic spans", span_model(job, SpanType::kDynamic, 0.1)},
                               {"pooling by a predictor", pooling_model(job, BoundaryOptions::Type::kGumbel, 0.1)},
                               {"recurrent GPT-2", window_model(job, RecurrenceOptions::Pool::kMean, 0.1)}}) {
    constexpr std::int64_t kSteps = 12;
    TrainJob whole = run_of(job, data, name + " whole", model, kSteps);
    TrainJob parts = run_of(job, data, name + " parts", model, kSteps);
    for (TrainJob* run : {&whole, &parts}) run->options.train.deterministic = true;
    LossSink undisturbed;
    train(whole, undisturbed);
    LossSink last;
    for (const std::int64_t stop : {3, 8}) {
      LossSink sink(stop);
      train(parts, sink);
    }
    train(parts, last);
    const auto weights = [](const TrainJob& run) { return read_file(run.folder / "model/model.safetensors"); };
    const bool same = weights(whole) == weights(parts);
    checks.push_back({.name = name,
                      .bound = "the same bits after stops at steps 3 and 8 of 12",
                      .measured = fmt::format("{}; last loss {:.9f} and {:.9f}", same ? "the same" : "other bits",
                                              undisturbed.losses.at(kSteps), last.losses.at(kSteps)),
                      .passed = same});
  }
  return checks;
}

}  // namespace xlm
