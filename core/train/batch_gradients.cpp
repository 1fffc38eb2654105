// The loss of a batch and its gradients.
#include "core/train/batch_gradients.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "base/text.h"
#include "core/kernels/dropout.h"
#include "core/kernels/step_context.h"
#include "core/models/capabilities.h"
#include "core/parallel/reductions.h"
#include "core/runtime/device.h"
#include "core/runtime/random_streams.h"

namespace xlm {
namespace {

constexpr const char* kFittedRows = "fitted_rows";  // in checkpoints since rows are chosen by memory
constexpr const char* kWantedRows = "wanted_rows";  // what they were chosen from

double bytes_of_state(const State& state) {
  double bytes = 0;
  for (const torch::Tensor& tensor : state) bytes += static_cast<double>(tensor.nbytes());
  return bytes;
}

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
      micro_batch_(options.train.micro_batch),
      state_(model.initial_state(own_rows(group, options.train.batch).count)) {}

void BatchGradients::restore(const Checkpoint& checkpoint) {
  state_.clear();
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!name.starts_with("state.")) continue;
    const OwnRows own = own_rows(group_, tensor.size(0));
    state_.push_back(tensor.narrow(0, own.begin, own.count).clone().to(device_));
  }
  held_sizes_ = checkpoint.state.value("held_sizes", std::vector<std::int64_t>());
  // Parts of another size give other bits, and how much memory is free depends on other programs.
  // Fewer processes have more rows each, of which nothing is known.
  const std::int64_t most = most_rows_at_once();
  if (options_->train.deterministic && checkpoint.state.value(kWantedRows, most) >= most) {
    fitted_rows_ = checkpoint.state.value(kFittedRows, std::int64_t{0});
  }
}

void BatchGradients::save(Checkpoint& checkpoint) const {
  for (std::size_t i = 0; i < state_.size(); ++i) {
    checkpoint.tensors.emplace_back(
        fmt::format("state.{:05}", i),
        group_ != nullptr ? gather_rows(*group_, state_[i], options_->train.batch) : state_[i]);
  }
  if (holds_sizes_) checkpoint.state["held_sizes"] = capability<Capturable>(*model_)->held_sizes();
  if (fitted_rows_ > 0) {
    checkpoint.state[kFittedRows] = fitted_rows_;
    checkpoint.state[kWantedRows] = most_rows_at_once();
  }
}

std::int64_t BatchGradients::rows_at_once(std::int64_t rows) const {
  return micro_batch_ > 0 ? std::min(micro_batch_, rows) : rows;
}

void BatchGradients::fit_memory(BatchStream& batches, TrainSink& sink) {
  // libtorch's allocator leaves gaps between tensors, and other libraries take memory, too.
  constexpr double kUsableShare = 0.85;
  const std::optional<std::int64_t> available = gpu_memory_within_reach(device_);
  if (!available) return;
  fit_memory(batches, kUsableShare * static_cast<double>(*available), sink);
  return_kept_memory(device_);
  restart_peak_memory(device_);  // the trial is no part of training
}

void BatchGradients::fit_memory(BatchStream& batches, double available, TrainSink& sink) {
  const std::int64_t all = rows_at_once(own_rows(group_, options_->train.batch).count);
  std::string reason = "as before (train.deterministic)";
  if (fitted_rows_ == 0) {
    const RowsAtOnce chosen = rows_for_memory(batches, all, available);
    const std::int64_t most = most_rows_at_once();
    fitted_rows_ = least_of_all(chosen.rows < all ? chosen.rows : most);  // a process may have fewer rows than others
    const std::string needed =
        chosen.bytes_of_all > 0 ? "all need about " + human_bytes(chosen.bytes_of_all) : std::string("more do not fit");
    reason = fitted_rows_ < chosen.rows ? "no more fit on the GPU of another process"
                                        : fmt::format("{}, and {} are available", needed, human_bytes(available));
  }
  if (fitted_rows_ >= all) return;
  micro_batch_ = fitted_rows_;
  sink.message(
      fmt::format("note: {} of {} rows are computed at once (train.micro_batch): {}", micro_batch_, all, reason));
}

/// The widest of the next batches, which continue as if none had been read: documents may be short.
Batch BatchGradients::widest_of(BatchStream& batches) const {
  constexpr int kMaxBatches = 64;
  const Json place = batches.state();
  Batch widest = batches.next();
  for (int i = 1; i < kMaxBatches && widest.targets.size(1) < options_->train.block; ++i) {
    Batch batch = batches.next();
    if (batch.targets.size(1) > widest.targets.size(1)) widest = std::move(batch);
  }
  batches.restore(place);
  return widest;
}

/// How many of `all` rows are computed at once so that `available` bytes suffice in this process.
RowsAtOnce BatchGradients::rows_for_memory(BatchStream& batches, std::int64_t all, double available) {
  if (all <= 1) return {all, 0};
  const Batch batch = widest_of(batches);
  model_->train();
  bytes_with_rows(batch, 1);  // sets libtorch up: its workspaces do not belong to a row
  return rows_in_memory(all, available, [&](std::int64_t rows) { return bytes_with_rows(batch, rows); });
}

/// What the last process computes at once if memory suffices: no other one has more rows.
std::int64_t BatchGradients::most_rows_at_once() const {
  const TrainOptions& train = options_->train;
  const std::int64_t rows =
      group_ != nullptr ? rows_of(group_->size() - 1, group_->size(), train.batch).count : train.batch;
  return train.micro_batch > 0 ? std::min(train.micro_batch, rows) : rows;
}

/// The least of the numbers of all processes, so that they go on alike after memory has run out in one.
std::int64_t BatchGradients::least_of_all(std::int64_t rows) const {
  auto negative = -static_cast<double>(rows);
  if (group_ != nullptr) group_->max(&negative, 1);
  return static_cast<std::int64_t>(-negative);
}

/// The most bytes in use during a step that computes so many rows at once. Nullopt if memory does not suffice. Changes
/// nothing that a step depends on.
std::optional<double> BatchGradients::bytes_with_rows(const Batch& batch, std::int64_t count) {
  constexpr int kMaxBlocks = 64;
  const OwnRows own = own_rows(group_, batch.targets.size(0));
  const Counts counts = model_->counts();
  restart_peak_memory(device_);
  std::optional<double> bytes;
  try {
    seed_generators(0, own.begin);
    const PartOfBatch rows_of_part(own.begin);
    const ModelInput input = batch.input.rows(own.begin, count).to(device_);
    // Rows of other batches may score all of their places.
    const torch::Tensor targets = batch.targets.narrow(0, own.begin, count).clamp_min(0).to(device_);
    if (count < own.count) hold_gradients();
    const auto loss_after = [&](const State& before) {
      const PrecisionScope precision(options_->train.precision, device_);
      return scheme_->loss(*model_, input, targets, before, policy_);
    };
    State state = batch.fresh ? model_->initial_state(count) : state_rows(state_, 0, count);
    for (int block = 0; block < kMaxBlocks; ++block) {  // what a stream carries may grow over its first blocks
      const double before = bytes_of_state(state);
      state = loss_after(state).state;
      if (bytes_of_state(state) <= before) break;
    }
    loss_after(state).total.backward();
    wait_for(device_);
    // A step in parts keeps the states of all rows, from before it and for the next.
    const double of_a_row = bytes_of_state(state) / static_cast<double>(count);
    bytes = static_cast<double>(peak_memory(device_)) - bytes_of_state(state_) +
            2 * of_a_row * static_cast<double>(own.count - count);
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
  } catch (const std::bad_alloc&) {
    // The workspace of a kernel.
  }
  for (const auto& [name, weight] : weights()) weight.mutable_grad().reset();
  model_->set_counts(counts);
  restart_peak_memory(device_);
  return bytes;
}

/// As in all parts of a step but the first, which add to the gradients of those before.
void BatchGradients::hold_gradients() const {
  for (const auto& [name, weight] : weights()) {
    if (weight.requires_grad()) weight.mutable_grad() = torch::zeros_like(weight.detach());
  }
}

void BatchGradients::start_recording(TrainSink& sink) {
  using CudaGraph = TrainOptions::CudaGraph;
  const CudaGraph wanted = options_->train.cuda_graph;
  if (wanted == CudaGraph::kFalse) return;
  if (const char* obstacle = obstacle_to_recording()) {
    if (wanted == CudaGraph::kTrue) sink.message(fmt::format("note: train.cuda_graph has no effect: {}", obstacle));
    return;
  }
  record_by(make_cuda_recorder(device_), sink, [this] { return has_room_for_recording(); });
}

void BatchGradients::record_by(std::unique_ptr<StepRecorder> recorder, TrainSink& sink,
                               std::function<bool()> has_room) {
  auto* captured = capability<Capturable>(*model_);
  captured->hold_sizes();
  captured->set_held_sizes(held_sizes_);
  holds_sizes_ = true;
  captured_ = std::make_unique<CapturedSteps>(std::move(recorder), weights());
  sink_ = &sink;
  has_room_ = std::move(has_room);
  // For good: how much memory is free decides whether steps are recorded, but not what dropout draws.
  policy_ = ActivationPolicy::kRecord;
}

/// Null if steps can be recorded.
const char* BatchGradients::obstacle_to_recording() const {
  const TrainOptions& train = options_->train;
  if (!device_.is_cuda()) return "the device is no GPU";
  if (!graph_signature_of(*model_)) {
    return "the operations of this model's steps depend on the text";
  }
  if (micro_batch_ > 0 && micro_batch_ < train.batch) return "the batch is computed in parts (train.micro_batch)";
  if (train.debug) return "train.debug looks into each step";
  if (policy_ == ActivationPolicy::kRecompute) return "train.checkpoint_windows recomputes windows";
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

/// Adds the gradients of this process's rows, one micro-batch at a time. Returns their part of the batch's mean loss.
double BatchGradients::add_own_rows(const Batch& batch, std::int64_t step) {
  const OwnRows own = own_rows(group_, batch.targets.size(0));
  const std::int64_t end = own.begin + own.count;
  const std::int64_t part = rows_at_once(own.count);
  if (batch.fresh) state_ = model_->initial_state(own.count);
  seed_generators(step, 0);
  if (captured_) {
    if (const std::optional<double> loss = add_recorded(batch, step)) return *loss;
  }
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
    if (holds_sizes_) input = with_group_room(*model_, std::move(input));
    TrainingLoss loss = loss_of(input.to(device_), targets.to(device_), state_rows(state_, begin - own.begin, count));
    (loss.total * share).backward();
    total += loss.language_model.item<double>() * share;  // read last: reading waits for a GPU's queued work
    if (!std::isfinite(total)) break;
    next.push_back(std::move(loss.state));
  }
  if (std::isfinite(total)) state_ = concatenate_states(next);
  return total;
}

/// Nullopt, without gradients, if the step cannot be recorded. From then on none is.
std::optional<double> BatchGradients::add_recorded(const Batch& batch, std::int64_t step) {
  const auto work = [this](const ModelInput& input, const torch::Tensor& targets, const State& state) {
    TrainingLoss loss = loss_of(input, targets, state);
    loss.total.backward();
    return CapturedSteps::Outcome{.loss = loss.language_model.detach(), .state = std::move(loss.state)};
  };
  try {
    CapturedSteps::Outcome outcome = captured_->run(graph_signature_of(*model_).value(),
                                                    with_group_room(*model_, batch.input), batch.targets, state_, work);
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
