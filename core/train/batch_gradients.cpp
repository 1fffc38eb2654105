// The loss of a batch and its gradients.
#include "core/train/batch_gradients.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "core/kernels/dropout.h"
#include "core/kernels/step_context.h"
#include "core/models/capabilities.h"
#include "core/parallel/reductions.h"
#include "core/runtime/device.h"
#include "core/runtime/random_streams.h"

namespace xlm {
namespace {

double scored_targets(const torch::Tensor& targets) { return targets.ne(kNoTarget).sum().item<double>(); }

}  // namespace

BatchGradients::BatchGradients(const RunOptions& options, LanguageModel& model, torch::Device device,
                               ProcessGroup* group)
    : options_(&options),
      model_(&model),
      scheme_(&scheme_of(model)),
      device_(device),
      group_(group),
      policy_(options.train.checkpoint_windows && scheme_->can_recompute() ? ActivationPolicy::kRecompute
                                                                           : ActivationPolicy::kKeep),
      state_(model.initial_state(own_rows(group, options.train.batch).count)) {}

void BatchGradients::restore(const Checkpoint& checkpoint) {
  state_.clear();
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!name.starts_with("state.")) continue;
    const OwnRows own = own_rows(group_, tensor.size(0));
    state_.push_back(tensor.narrow(0, own.begin, own.count).clone().to(device_));
  }
  held_sizes_ = checkpoint.state.value("held_sizes", std::vector<std::int64_t>());
}

void BatchGradients::save(Checkpoint& checkpoint) const {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    checkpoint.tensors.emplace_back(
        fmt::format("state.{:05}", i),
        group_ != nullptr ? gather_rows(*group_, state_[i], options_->train.batch) : state_[i]);
  }
  if (holds_sizes_) checkpoint.state["held_sizes"] = capability<Capturable>(*model_)->held_sizes();
}

std::int64_t BatchGradients::rows_at_once(std::int64_t rows) const {
  return options_->train.micro_batch > 0 ? std::min(options_->train.micro_batch, rows) : rows;
}

void BatchGradients::start_recording(TrainSink& sink) {
  using CudaGraph = TrainOptions::CudaGraph;
  const CudaGraph wanted = options_->train.cuda_graph;
  if (wanted == CudaGraph::kFalse) return;
  if (const char* obstacle = obstacle_to_recording()) {
    if (wanted == CudaGraph::kTrue) sink.message(fmt::format("note: train.cuda_graph has no effect: {}", obstacle));
    return;
  }
  record_by(make_cuda_recorder(device_, RecordedUse::kTrain), sink, [this] { return has_room_for_recording(); });
}

void BatchGradients::record_by(std::unique_ptr<StepRecorder> recorder, TrainSink& sink,
                               std::function<bool()> has_room) {
  auto* captured = capability<Capturable>(*model_);
  captured->hold_sizes();
  captured->set_held_sizes(held_sizes_);
  holds_sizes_ = true;
  captured_ = std::make_unique<CapturedSteps>(std::move(recorder), device_, weights());
  sink_ = &sink;
  has_room_ = std::move(has_room);
}

/// Null if steps can be recorded.
const char* BatchGradients::obstacle_to_recording() const {
  const TrainOptions& train = options_->train;
  if (!device_.is_cuda()) return "the device is no GPU";
  if (!graph_signature_of(*model_)) {
    return "the operations of this model's steps depend on the text";
  }
  if (train.micro_batch > 0 && train.micro_batch < train.batch)
    return "the batch is computed in parts (train.micro_batch)";
  if (train.debug) return "train.debug looks into each step";
  if (group_ != nullptr) return "several processes share the batch";
  return nullptr;
}

double BatchGradients::add(const Batch& batch, std::int64_t step) {
  return within_memory_of_a_step(rows_at_once(own_rows(group_, batch.targets.size(0)).count), [&] {
    std::optional<ObservedProducts> observed;
    if (watch_ != nullptr) observed.emplace(watch_);
    double loss = add_own_rows(batch, step);
    if (group_ == nullptr) return loss;
    group_->sum(&loss, 1);
    if (std::isfinite(loss)) sum_gradients(*group_, weights());
    return loss;
  });
}

/// Adds the gradients of this process's rows. Returns their part of the batch's mean loss.
double BatchGradients::add_own_rows(const Batch& batch, std::int64_t step) {
  for (;;) {
    if (batch.fresh) state_ = model_->initial_state(own_rows(group_, batch.targets.size(0)).count);
    seed_generators(step, 0);
    const std::optional<double> loss = captured_ ? add_recorded(batch, step) : add_unrecorded(batch, step);
    if (loss) return *loss;
    for (const auto& [name, weight] : weights()) weight.mutable_grad().reset();
  }
}

/// One micro-batch at a time. Nullopt if there was no room for what it needed, which there is from then on.
std::optional<double> BatchGradients::add_unrecorded(const Batch& batch, std::int64_t step) {
  const OwnRows own = own_rows(group_, batch.targets.size(0));
  const std::int64_t end = own.begin + own.count;
  const std::int64_t part = rows_at_once(own.count);
  // Steps of a run that could be recorded draw as recorded ones: how much memory is free must not decide it.
  std::optional<SeedsOnDevice> seeds;
  if (holds_sizes_) seeds.emplace(true);
  std::vector<State> next;
  double total = 0;
  for (std::int64_t begin = own.begin; begin < end; begin += part) {
    const std::int64_t count = std::min(part, end - begin);
    const torch::Tensor targets = batch.targets.narrow(0, begin, count);
    const double share = scored_targets(targets) / scored_targets(batch.targets);
    seed_generators(step, begin);
    const PartOfBatch rows_of_part(begin);
    ModelInput input = batch.input.rows(begin, count);
    if (holds_sizes_) input = recordable_input(*model_, std::move(input));
    TrainingLoss loss = loss_of(input.to(device_), targets.to(device_), state_rows(state_, begin - own.begin, count));
    (loss.total * share).backward();
    total += loss.language_model.item<double>() * share;  // read last: reading waits for a GPU's queued work
    if (holds_sizes_ && !had_room(*model_, input, loss.needed)) return std::nullopt;
    if (!std::isfinite(total)) break;
    next.push_back(std::move(loss.state));
  }
  if (std::isfinite(total)) state_ = concatenate_states(next);
  return total;
}

/// Nullopt if there was no room for what it needed, or if the step cannot be recorded: from then on none is.
std::optional<double> BatchGradients::add_recorded(const Batch& batch, std::int64_t step) {
  const auto work = [this](const ModelInput& input, const torch::Tensor& targets, const State& state) {
    TrainingLoss loss = loss_of(input, targets, state);
    loss.total.backward();
    return CapturedSteps::Outcome{
        .loss = loss.language_model.detach(), .state = std::move(loss.state), .needed = loss.needed};
  };
  try {
    const ModelInput input = recordable_input(*model_, batch.input);
    CapturedSteps::Outcome outcome =
        captured_->run(graph_signature_of(*model_).value(), input, batch.targets, state_, work);
    if (!had_room(*model_, input, outcome.needed)) {
      state_ = captured_->state_before(state_);
      return std::nullopt;
    }
    state_ = std::move(outcome.state);
    const auto loss = outcome.loss.item<double>();
    if (captured_->records_next() && has_room_ && !has_room_()) {
      sink_->message(
          fmt::format("note: steps are {} recorded, because a recording keeps as much memory as a step needs "
                      "(train.cuda_graph=true tries it)",
                      captured_->recordings() == 0 ? "not" : "no longer"));
      captured_.reset();
    }
    return loss;
  } catch (const RefusedRecording& refusal) {
    refused_ = true;
    sink_->message(
        fmt::format("warning: train.cuda_graph has no effect from step {} on, because that step cannot be recorded: {}",
                    step + 1, refusal.what()));
  }
  captured_.reset();
  return std::nullopt;
}

/// A recording keeps the memory of a step, and evaluations need some, too. What is asked for is tried in any case.
bool BatchGradients::has_room_for_recording() const {
  if (options_->train.cuda_graph == TrainOptions::CudaGraph::kTrue) return true;
  const std::optional<std::int64_t> within_reach = gpu_memory_within_reach(device_);
  return !within_reach || 2 * peak_memory(device_) <= *within_reach;
}

void BatchGradients::stop_recording() {
  if (!captured_) return;
  captured_->forget();
  captured_.reset();
  return_kept_memory(device_);
}

void BatchGradients::beside_recording(const std::function<void()>& work) {
  try {
    work();
    return;
  } catch (const c10::Error& error) {
    if (!captured_ || !is_out_of_memory(error)) throw;
  }
  sink_->message("note: steps are no longer recorded, because an evaluation needs the memory of the recording");
  stop_recording();
  work();
}

TrainingLoss BatchGradients::loss_of(const ModelInput& input, const torch::Tensor& targets, const State& state) {
  const PrecisionScope precision(options_->train.precision, device_);
  TrainingLoss loss = scheme_->loss(*model_, input, targets, state, policy_);
  if (watch_ != nullptr) watch_->loss(loss.total);
  return loss;
}

/// Dropout follows from the seed, the step and the row of the batch, so that there is no generator to save. Draws by
/// place (core/kernels/dropout.h) are the same for a whole batch and for its parts. A GPU's own generator gets another
/// seed for each part, because it would draw the same for all.
void BatchGradients::seed_generators(std::int64_t step, std::int64_t first_row) const {
  const std::uint64_t bits =
      random_bits(static_cast<std::uint64_t>(options_->seed), kDropout, static_cast<std::uint64_t>(step));
  torch::manual_seed(bits);
  if (device_.is_cuda() && first_row > 0) torch::cuda::manual_seed_all(Dropout::seed_from_row(bits, first_row));
}

}  // namespace xlm
