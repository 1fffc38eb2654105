// Back-propagation through windows, all kept or each computed again (Yoshida et al. 2020, §3.2; Chen et al. 2016).
#include "core/train/windows_loss.h"

#include <algorithm>
#include <vector>

#include <ATen/autocast_mode.h>

#include "base/random.h"
#include "core/batches/overlap_windows.h"
#include "core/kernels/dropout.h"
#include "core/models/capabilities.h"
#include "core/runtime/random_streams.h"

namespace xlm {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// One window of a sequence.
struct WindowCall {
  LanguageModel* model;
  ModelInput input;            // [B, T]
  Tensor targets;              // [B, P]
  std::uint64_t seed;          // of its dropout
  std::int64_t first_row = 0;  // of the batch
  bool autocast = false;       // as it was where the loss was asked for, and its type
  torch::ScalarType type = torch::kBFloat16;
};

ModelOutput run_window(const WindowCall& call, const State& state) {
  const PartOfBatch rows(call.first_row);
  torch::manual_seed(call.seed);
  return call.model->forward(call.input, state);
}

/// The summed loss of a window's scored predictions, then its state.
variable_list loss_and_state(const WindowCall& call, const State& state) {
  ModelOutput output = run_window(call, state);
  variable_list result{output.summed_loss(call.targets)};
  for (Tensor& tensor : output.state) result.push_back(std::move(tensor));
  return result;
}

/// What holds while a window is computed again: gradients, autocast as it was, and a generator that goes on afterwards
/// where it stood. Autocast belongs to a thread, and a GPU's gradients are computed in another one, whose type of
/// autocast is float16 unless it is told.
class Again {
 public:
  explicit Again(const WindowCall& call)
      : type_(call.input.tokens.device().type()),
        autocast_(at::autocast::is_autocast_enabled(type_)),
        autocast_type_(at::autocast::get_autocast_dtype(type_)),
        generator_(at::detail::getDefaultCPUGenerator()),
        random_(generator_.get_state()) {
    at::autocast::set_autocast_enabled(type_, call.autocast);
    at::autocast::set_autocast_dtype(type_, call.type);
  }
  ~Again() {
    if (at::autocast::is_autocast_enabled(type_)) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(type_, autocast_);
    at::autocast::set_autocast_dtype(type_, autocast_type_);
    generator_.set_state(random_);
  }
  Again(const Again&) = delete;
  Again& operator=(const Again&) = delete;

 private:
  torch::AutoGradMode gradients_{true};
  torch::DeviceType type_;
  bool autocast_;
  torch::ScalarType autocast_type_;
  at::Generator generator_;
  Tensor random_;
};

struct HeldCall : torch::CustomClassHolder {
  explicit HeldCall(WindowCall given) : call(std::move(given)) {}
  WindowCall call;
};

/// loss_and_state that keeps its state's value alone. The parameters are no inputs: their gradients are added up where
/// they are when the window is computed again.
class RecomputedWindow : public torch::autograd::Function<RecomputedWindow> {
 public:
  /// `anchor` is any parameter: an input that asks for a gradient, which the first window's state does not.
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
      const Again again(call);
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

}  // namespace

Tensor windows_loss(LanguageModel& model, const Tensor& tokens, const Tensor& targets, bool checkpoint) {
  const WindowShape shape = windows_of(model);
  const OverlapWindows windows(tokens.size(1) + 1, shape.window, shape.overlap);
  const std::uint64_t seed = draw_seed();
  const torch::DeviceType device = tokens.device().type();
  State state = model.initial_state(tokens.size(0));
  Tensor total;  // of the windows that are computed again
  std::vector<ModelOutput>
      kept;  // the others, whose predictions are made together: the head has one gradient, not many
  std::vector<Tensor> kept_targets;
  for (std::int64_t i = 0; i < windows.size(); ++i) {
    const OverlapWindow window = windows[i];
    ModelInput input;
    input.tokens = tokens.narrow(1, window.begin, window.length);
    input.scored = window.scored;
    const WindowCall call{.model = &model,
                          .input = input,
                          .targets = targets.narrow(1, window.begin + window.first_scored(), window.scored),
                          .seed = random_bits(seed, kDropout, static_cast<std::uint64_t>(i)),
                          .first_row = PartOfBatch::first_row(),
                          .autocast = at::autocast::is_autocast_enabled(device),
                          .type = at::autocast::get_autocast_dtype(device)};
    if (checkpoint) {
      variable_list outputs = RecomputedWindow::apply(call, model.weights().front().second, at::TensorList(state));
      total = total.defined() ? total + outputs.front() : outputs.front();
      state.assign(outputs.begin() + 1, outputs.end());
    } else {
      kept.push_back(run_window(call, state));
      kept_targets.push_back(call.targets);
      state = kept.back().state;
    }
  }
  if (!checkpoint) {
    std::vector<Tensor> hidden;
    hidden.reserve(kept.size());
    for (const ModelOutput& output : kept) hidden.push_back(output.hidden);
    kept.back().hidden = torch::cat(hidden, 1);
    total = kept.back().summed_loss(torch::cat(kept_targets, 1));
  }
  const Tensor count = targets.ne(kNoTarget).sum().clamp_min(1);  // rows of a batch may have none
  return total / count;
}

}  // namespace xlm
