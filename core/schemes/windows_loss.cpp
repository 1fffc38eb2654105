// Back-propagation through windows, all kept or each computed again (Yoshida et al. 2020, §3.2; Chen et al. 2016).
#include "core/schemes/windows_loss.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

#include <ATen/autocast_mode.h>

#include "base/random.h"
#include "core/kernels/dropout.h"
#include "core/kernels/mixed_product.h"
#include "core/kernels/step_context.h"
#include "core/kernels/step_weights.h"
#include "core/models/capabilities.h"
#include "core/runtime/random_streams.h"
#include "core/schemes/overlap_windows.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kTokensAtOnce = 8192;  // of windows without state

/// Windows that are computed side by side.
struct WindowCall {
  LanguageModel* model;
  ModelInput input;            // [R, T]
  Tensor targets;              // [R, P]
  std::uint64_t seed;          // of its dropout
  std::int64_t first_row = 0;  // its place among all rows of the whole batch that could be computed side by side
  bool autocast = false;       // of the forward pass, and its type
  torch::ScalarType type = torch::kBFloat16;
  bool recorded = false;           // the step is or could be recorded, so that a GPU's generator is not seeded
  RecordedDraws* draws = nullptr;  // while it is
  std::uint64_t place = 0;         // of that generator, before the window
};

std::uint64_t place_of_draws(const WindowCall& call) {
  if (call.draws != nullptr) return call.draws->place();
  return at::globalContext().defaultGenerator(call.input.tokens.device()).get_offset();
}

void set_place_of_draws(const WindowCall& call, std::uint64_t place) {
  if (call.draws != nullptr) return call.draws->set_place(place);
  at::Generator generator = at::globalContext().defaultGenerator(call.input.tokens.device());
  generator.set_offset(place);
}

/// Whether recomputing a window must go back among the draws of a GPU's generator.
bool has_place_of_draws(const WindowCall& call) { return call.recorded && call.input.tokens.is_cuda(); }

void seed_generators(const WindowCall& call) {
  {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(call.seed);
  }
  // Without this a GPU's own generator would draw the same for each part of the batch.
  if (call.input.tokens.is_cuda() && !call.recorded) {
    torch::cuda::manual_seed_all(Dropout::seed_from_row(call.seed, call.first_row));
  }
}

ModelOutput run_window(const WindowCall& call, const State& state) {
  const PartOfBatch rows(call.first_row);
  seed_generators(call);
  return call.model->forward(call.input, state);
}

/// The summed loss of a window's scored predictions, then its state.
variable_list loss_and_state(const WindowCall& call, const State& state) {
  ModelOutput output = run_window(call, state);
  variable_list result{output.summed_loss(call.targets)};
  for (Tensor& tensor : output.state) result.push_back(std::move(tensor));
  return result;
}

/// Prepares recomputing a window: enables gradients, sets autocast and the step's context as they were in the forward
/// pass, and goes back to its draws. At its end it restores autocast and the generators. Autocast and context are
/// settings of a thread, and a GPU's backward pass runs in another thread, whose default type is float16.
class RecomputeScope {
 public:
  explicit RecomputeScope(const WindowCall& call)
      : call_(call),
        seeds_(call.recorded),
        draws_(call.draws),
        type_(call.input.tokens.device().type()),
        autocast_(at::autocast::is_autocast_enabled(type_)),
        autocast_type_(at::autocast::get_autocast_dtype(type_)),
        generator_(at::detail::getDefaultCPUGenerator()),
        random_(generator_.get_state()) {
    at::autocast::set_autocast_enabled(type_, call.autocast);
    at::autocast::set_autocast_dtype(type_, call.type);
    if (!has_place_of_draws(call)) return;
    place_ = place_of_draws(call);
    set_place_of_draws(call, call.place);
  }
  ~RecomputeScope() {
    if (at::autocast::is_autocast_enabled(type_)) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, autocast_);
    at::autocast::set_autocast_dtype(type_, autocast_type_);
    generator_.set_state(random_);
    if (has_place_of_draws(call_)) set_place_of_draws(call_, place_);
  }
  RecomputeScope(const RecomputeScope&) = delete;
  RecomputeScope& operator=(const RecomputeScope&) = delete;

 private:
  const WindowCall& call_;
  torch::AutoGradMode gradients_{true};
  SeedsOnDevice seeds_;
  DrawsOfRecording draws_;
  torch::DeviceType type_;
  bool autocast_;
  torch::ScalarType autocast_type_;
  at::Generator generator_;
  Tensor random_;
  std::uint64_t place_ = 0;
};

struct HeldCall : torch::CustomClassHolder {
  explicit HeldCall(WindowCall given) : call(std::move(given)) {}
  WindowCall call;
};

/// loss_and_state that keeps only the incoming state for the backward pass. The parameters are no inputs: recomputing
/// the window adds their gradients to their grad.
class RecomputedWindow : public torch::autograd::Function<RecomputedWindow> {
 public:
  /// `anchor` is any parameter. libtorch calls backward only if an input requires a gradient, which the first window's
  /// state does not.
  static variable_list forward(AutogradContext* context, const WindowCall& call, const Tensor& anchor,
                               at::TensorList state) {
    (void)anchor;
    context->saved_data["call"] = c10::IValue::make_capsule(c10::make_intrusive<HeldCall>(call));
    context->save_for_backward(state.vec());
    return loss_and_state(call, state.vec());
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    const auto held = context->saved_data["call"].toCapsule();
    const WindowCall& call = static_cast<const HeldCall*>(held.get())->call;
    State state;
    for (const Tensor& kept : context->get_saved_variables()) state.push_back(kept.detach().set_requires_grad(true));
    {
      const RecomputeScope scope(call);
      const variable_list outputs = loss_and_state(call, state);
      variable_list roots;
      variable_list gradients;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        if (!upstream[i].defined() || !outputs[i].requires_grad()) continue;
        roots.push_back(outputs[i]);
        gradients.push_back(upstream[i]);
      }
      torch::autograd::backward(roots, gradients);
    }
    variable_list result(2);
    for (const Tensor& tensor : state) result.push_back(tensor.grad());
    return result;
  }
};

/// Windows [first, first + count) of a sequence, of equal length and with equally many scored predictions.
struct WindowRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Groups windows that can be computed side by side: independent ones of equal shape. Other windows stay alone.
std::vector<WindowRun> runs_of(const OverlapWindows& windows, bool independent) {
  std::vector<WindowRun> runs;
  for (std::int64_t i = 0; i < windows.size(); ++i) {
    const bool alike =
        i > 0 && windows[i].length == windows[i - 1].length && windows[i].scored == windows[i - 1].scored;
    if (independent && alike) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1});
    }
  }
  return runs;
}

/// Cuts `count` windows of `length` places out of every row: the first at `begin`, each next one `step` later. [B, N]
/// becomes [B · count, length], with a row's windows one after the other.
Tensor side_by_side(const Tensor& text, std::int64_t begin, std::int64_t length, std::int64_t step,
                    std::int64_t count) {
  return text.narrow(1, begin, (count - 1) * step + length).unfold(1, length, step).flatten(0, 1);
}

/// Sums the losses of windows, call by call.
class WindowsLoss {
 public:
  explicit WindowsLoss(bool recompute) : recompute_(recompute) {}

  void add(WindowCall call, State& state) {
    if (recompute_) {
      if (has_place_of_draws(call)) call.place = place_of_draws(call);
      variable_list outputs =
          RecomputedWindow::apply(call, call.model->weights().front().second, at::TensorList(state));
      total_ = total_.defined() ? total_ + outputs.front() : outputs.front();
      state.assign(outputs.begin() + 1, outputs.end());
    } else {
      ModelOutput output = run_window(call, state);
      hidden_.push_back(output.hidden.flatten(0, 1));
      targets_.push_back(call.targets.flatten());
      head_ = output.head;
      state = std::move(output.state);
    }
  }

  /// Kept windows share one call of the head, so that its gradient is computed once.
  Tensor sum() const {
    if (recompute_) return total_;
    const ModelOutput all{.hidden = torch::cat(hidden_), .head = head_};
    return all.summed_loss(torch::cat(targets_));
  }

 private:
  bool recompute_;
  Tensor total_;                // of recomputed windows
  std::vector<Tensor> hidden_;  // of kept windows, [R · P, k]
  std::vector<Tensor> targets_;
  Head head_;
};

}  // namespace

Tensor windows_loss(LanguageModel& model, const Tensor& tokens, const Tensor& targets, ActivationPolicy policy) {
  const WindowShape shape = windows_of(model);
  const OverlapWindows windows(tokens.size(1) + 1, shape.window, shape.overlap);
  const std::int64_t step = shape.window - shape.overlap;
  const std::uint64_t seed = draw_seed();
  const torch::DeviceType device = tokens.device().type();
  State state = model.initial_state(tokens.size(0));
  const bool independent = state.empty();
  std::optional<StepWeights> shared;
  if (tokens.is_cuda() && policy != ActivationPolicy::kRecompute) {
    shared.emplace(type_of_products(model.weights().front().second));
  }
  WindowsLoss loss(policy == ActivationPolicy::kRecompute);
  for (const auto& [first, count] : runs_of(windows, independent)) {
    const OverlapWindow window = windows[first];
    const Tensor inputs = side_by_side(tokens, window.begin, window.length, step, count);  // [B · count, T]
    const Tensor wanted = side_by_side(targets, window.begin + window.first_scored(), window.scored, step, count);
    // Recomputing never holds the activations of more than B windows.
    const std::int64_t at_once = !independent || policy == ActivationPolicy::kRecompute
                                     ? tokens.size(0)
                                     : std::max<std::int64_t>(1, kTokensAtOnce / window.length);
    for (std::int64_t row = 0; row < inputs.size(0); row += at_once) {
      const std::int64_t rows = std::min(at_once, inputs.size(0) - row);
      ModelInput input;
      input.tokens = inputs.narrow(0, row, rows);
      input.scored = window.scored;
      WindowCall call{.model = &model,
                      .input = input,
                      .targets = wanted.narrow(0, row, rows),
                      .seed = random_bits(seed, kDropout, static_cast<std::uint64_t>(first)),
                      .first_row = step_context().first_row * count + row,
                      .autocast = at::autocast::is_autocast_enabled(device),
                      .type = at::autocast::get_autocast_dtype(device),
                      .recorded = step_context().seeds_on_device,
                      .draws = step_context().draws};
      loss.add(std::move(call), state);
    }
  }
  const Tensor scored = targets.ne(kNoTarget).sum().clamp_min(1);  // some rows of a batch may have no targets
  return loss.sum() / scored;
}

}  // namespace xlm
