// Measures training steps of fixed sizes: time, memory, and the rate that limits them.
#include "bench/training_step.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include "base/progress.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/api/transformer_options.h"
#include "core/models/capabilities.h"
#include "core/models/language_model.h"
#include "core/runtime/device.h"
#include "core/schemes/scheme.h"
#include "core/train/optimizer.h"

namespace xlm {
namespace {

using SpanType = AdaptiveSpanOptions::SpanType;
using BoundaryType = BoundaryOptions::Type;

constexpr double kTokensOfAWord = 5.7;  // text8's, the space included

/// The adaptive-span rows of the published comparison, and rows that show how the cost follows the spans.
std::vector<StepRow> span_rows() {
  const AdaptiveSpanOptions small{.width = 128, .heads = 4, .feed_forward = 512, .layers = 4, .span = 256};
  AdaptiveSpanOptions medium{.width = 256, .heads = 8, .feed_forward = 1024, .layers = 4, .span = 1024};
  AdaptiveSpanOptions fixed = medium;
  fixed.span_type = SpanType::kFixed;
  AdaptiveSpanOptions large = medium;
  large.span = 4096;
  return {{"s256", small, 8, 128, 32, 200},       {"s1024", medium, 4, 256, 40, 800},
          {"s1024-fixed", fixed, 4, 256, 0, 0},   {"s4096", large, 2, 256, 40, 3000},
          {"s4096-short", large, 2, 256, 40, 40}, {"s4096-half", large, 2, 256, 40, 1500}};
}

/// The hourglass rows of the published comparison.
std::vector<StepRow> hourglass_rows() {
  const auto options = [](std::int64_t width, std::int64_t heads, BoundaryType type, std::int64_t factor = 2) {
    HourglassOptions model{.width = width, .heads = heads, .feed_forward = 4 * width};
    if (type == BoundaryType::kNone) model.layers = {12};
    model.boundaries.type = type;
    model.boundaries.factor = factor;
    return model;
  };
  return {{"vanilla-512", options(256, 4, BoundaryType::kNone), 4, 512},
          {"fixed2-512", options(256, 4, BoundaryType::kFixed, 2), 4, 512},
          {"fixed4-512", options(256, 4, BoundaryType::kFixed, 4), 4, 512},
          {"whitespace-512", options(256, 4, BoundaryType::kWhitespace), 4, 512},
          {.name = "vanilla-2048",
           .model = options(512, 8, BoundaryType::kNone),
           .batch = 1,
           .block = 2048,
           .max_steps = 3},
          {.name = "whitespace-2048",
           .model = options(512, 8, BoundaryType::kWhitespace),
           .batch = 1,
           .block = 2048,
           .max_steps = 5}};
}

/// GPT-2 in windows of 300 tokens, as Yoshida et al. 2020 train it, with its vocabulary: a small model over 20 windows,
/// and GPT-2 small over 4. Further rows show how memory follows the number of windows, recomputed ones first.
std::vector<StepRow> window_rows() {
  constexpr std::int64_t kWindow = 300;
  constexpr std::int64_t kSymbols = 50257;
  Gpt2Options small{.width = 256, .heads = 4, .layers = 6, .positions = 600, .window = kWindow, .windows = 20};
  small.complete();
  Gpt2Options recurrent = small;
  recurrent.recurrence.pool = RecurrenceOptions::Pool::kMean;
  recurrent.complete();
  Gpt2Options gpt2{.window = kWindow, .windows = 4};
  gpt2.recurrence.pool = RecurrenceOptions::Pool::kMean;
  gpt2.complete();
  const auto row = [](std::string name, const Gpt2Options& model, std::int64_t steps = 3, bool recompute = false) {
    return StepRow{.name = std::move(name),
                   .model = model,
                   .batch = 1,
                   .block = kWindow * model.windows,
                   .max_steps = steps,
                   .symbols = kSymbols,
                   .recompute = recompute};
  };
  std::vector<StepRow> rows{row("gpt2-windows", small), row("gpt2-recurrent", recurrent), row("gpt2-small", gpt2)};
  for (const bool recompute : {true, false}) {
    for (const std::int64_t windows : {1, 2, 4, 8, 16, 32, 64}) {
      recurrent.windows = windows;
      rows.push_back(row(fmt::format("{}-{}", recompute ? "again" : "kept", windows), recurrent, 1, recompute));
    }
  }
  return rows;
}

/// The transformer of bytes as nanoGPT has it, with all keys and with windows: one layer of four looks at everything;
/// and with the default options. Further rows show how the cost of two layers and 8,192 tokens follows the length of a
/// sequence.
std::vector<StepRow> transformer_rows() {
  constexpr std::int64_t kBlock = 2048;
  TransformerOptions full{.width = 384, .positions = kBlock, .tied = true};
  full.block.norm = BlockOptions::Norm::kLayer;
  full.block.rotary = BlockOptions::Rotary::kNone;
  full.block.activation = BlockOptions::Activation::kGelu;
  TransformerOptions windows = full;
  windows.block.windows = {512, 512, 512, 0};
  const auto row = [](std::string name, const TransformerOptions& model) {
    return StepRow{.name = std::move(name), .model = model, .batch = 2, .block = kBlock, .symbols = 256};
  };
  const TransformerOptions usual{.width = full.width};
  std::vector<StepRow> rows{row("transformer-full", full), row("transformer-windows", windows),
                            row("transformer-default", usual)};
  full.layers = 2;
  for (const std::int64_t length : {256, 512, 1024, 4096, 8192}) {
    full.positions = length;
    rows.push_back({.name = fmt::format("transformer-{}", length),
                    .model = full,
                    .batch = 8192 / length,
                    .block = length,
                    .max_steps = 4,
                    .symbols = 256});
  }
  return rows;
}

/// text8's symbols, the space first.
Vocabulary letters() {
  Vocabulary vocabulary;
  vocabulary.symbols.emplace_back(" ");
  for (char c = 'a'; c <= 'z'; ++c) vocabulary.symbols.emplace_back(1, c);
  return vocabulary;
}

/// Random letters [batch, length] with spaces as often as in text8.
torch::Tensor random_tokens(std::int64_t batch, std::int64_t length) {
  const torch::Tensor words = (torch::arange(length + 1, torch::kDouble) / kTokensOfAWord).floor();  // begun before
  const torch::Tensor spaces = words.narrow(0, 1, length) > words.narrow(0, 0, length);
  return torch::randint(1, 27, {batch, length}).masked_fill(spaces, 0);
}

/// Sets the span of every head as the row says.
void set_spans(LanguageModel& model, const AdaptiveSpanOptions& options, const StepRow& row) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.weights()) {
    if (!name.ends_with("current_val")) continue;
    weight.fill_(row.short_span / static_cast<double>(options.span));
    weight[0].fill_(row.long_span / static_cast<double>(options.span));
  }
  model.after_step();
}

}  // namespace

double median_seconds(std::vector<double> seconds) {
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

std::vector<StepRow> rows_for_a_processor() {
  std::vector<StepRow> rows = span_rows();
  for (StepRow& row : hourglass_rows()) rows.push_back(std::move(row));
  for (StepRow& row : window_rows()) rows.push_back(std::move(row));
  for (StepRow& row : transformer_rows()) rows.push_back(std::move(row));
  return rows;
}

/// The spans are like those of the papers' trained models: few heads look far (Sukhbaatar et al. 2019, figures 4 and
/// 5).
std::vector<StepRow> rows_for_a_gpu() {
  const AdaptiveSpanOptions adaptive{.span = 8192};
  AdaptiveSpanOptions large{.width = 768, .feed_forward = 4096, .layers = 24, .span = 8192};
  const AdaptiveSpanOptions fixed{.span = 1024, .span_type = SpanType::kFixed};
  const AdaptiveSpanOptions dynamic{.span = 1024, .span_type = SpanType::kDynamic};
  HourglassOptions vanilla{.layers = {12}};
  vanilla.boundaries.type = BoundaryType::kNone;
  HourglassOptions halved;
  halved.boundaries.type = BoundaryType::kFixed;
  HourglassOptions words;
  words.boundaries.type = BoundaryType::kWhitespace;
  const HourglassOptions gumbel;
  Gpt2Options plain{.window = 300};
  plain.complete();
  Gpt2Options recurrent = plain;
  recurrent.recurrence.pool = RecurrenceOptions::Pool::kMean;
  recurrent.complete();
  TransformerOptions gpt2{.width = 768, .layers = 12, .positions = 1024, .tied = true};  // as nanoGPT has it
  gpt2.block.norm = BlockOptions::Norm::kLayer;
  gpt2.block.rotary = BlockOptions::Rotary::kNone;
  gpt2.block.activation = BlockOptions::Activation::kGelu;
  const TransformerOptions usual{.width = gpt2.width, .layers = gpt2.layers, .positions = gpt2.positions};
  constexpr std::int64_t kText = 20 * 300;  // tokens of a sequence of windows
  constexpr std::int64_t kSymbols = 50257;
  return {{"span-8192", adaptive, 64, 512, 64, 2000},
          {"span-8192-large", large, 64, 512, 64, 1000},
          {"span-fixed-1024", fixed, 64, 512, 0, 0},
          {"span-dynamic-1024", dynamic, 64, 512, 0, 0},
          {"pooling-none", vanilla, 8, 2048},
          {"pooling-fixed-2", halved, 8, 2048},
          {"pooling-whitespace", words, 8, 2048},
          {"pooling-gumbel", gumbel, 8, 2048},
          {.name = "gpt2-plain", .model = plain, .batch = 1, .block = kText, .symbols = kSymbols},
          {.name = "gpt2-recurrent", .model = recurrent, .batch = 1, .block = kText, .symbols = kSymbols},
          {.name = "gpt2-recurrent-again",
           .model = recurrent,
           .batch = 1,
           .block = kText,
           .symbols = kSymbols,
           .recompute = true},
          {.name = "transformer-gpt2", .model = gpt2, .batch = 12, .block = gpt2.positions, .symbols = kSymbols},
          {.name = "transformer-default", .model = usual, .batch = 12, .block = usual.positions, .symbols = kSymbols}};
}

double fastest_product(torch::ScalarType type, torch::Device device) {
  const torch::NoGradGuard no_grad;
  const std::int64_t size = device.is_cpu() ? 1024 : 8192;
  const torch::Tensor a = torch::randn({size, size}).to(device, type);
  const torch::Tensor b = torch::randn({size, size}).to(device, type);
  const auto linear =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("mkldnn::_linear_pointwise", "")
          .typed<torch::Tensor(const torch::Tensor&, const torch::Tensor&, const std::optional<torch::Tensor>&,
                               std::string_view, torch::List<std::optional<at::Scalar>>,
                               std::optional<std::string_view>)>();
  const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    for (const bool onednn : {false, true}) {
      if (onednn && !device.is_cpu()) continue;
      wait_for(device);
      const double start = monotonic_seconds();
      if (onednn) {
        linear.call(a, b, std::nullopt, "none", torch::List<std::optional<at::Scalar>>(), "");
      } else {
        torch::mm(a, b);
      }
      wait_for(device);
      best = std::max(best, operations / (monotonic_seconds() - start));
    }
  }
  return best;
}

double arithmetic_limit(const StepRow& row, const StepCost& cost, double rate) {
  return 3 * cost.flops_per_token * static_cast<double>(row.batch * row.block) / rate;
}

std::unique_ptr<StepRecorder> default_recorder(torch::Device device) {
  return device.is_cuda() ? make_cuda_recorder(device, RecordedUse::kTrain) : nullptr;
}

StepCost measure_steps(const StepRow& row, std::int64_t steps, Precision precision, torch::Device device,
                       std::unique_ptr<StepRecorder> recorder) {
  torch::manual_seed(1);
  const auto model = row.symbols > 0 ? make_model(row.model, row.symbols) : make_model(row.model, letters());
  model->to(device);
  const auto* spans = row.model.get_if<AdaptiveSpanOptions>();
  if (spans != nullptr) set_spans(*model, *spans, row);
  OptimizerOptions as_published;
  TrainOptions train;
  EvalOptions eval;
  row.model.paper_defaults(as_published, train, eval);
  Optimizer optimizer(as_published, model->weights());
  State state = model->initial_state(row.batch);
  const auto policy = row.recompute ? ActivationPolicy::kRecompute : ActivationPolicy::kKeep;
  const auto work = [&](const ModelInput& input, const torch::Tensor& targets, const State& before) {
    TrainingLoss loss;
    {
      const PrecisionScope scope(precision, device);
      loss = scheme_of(*model).loss(*model, input, targets, before, policy);
    }
    loss.total.backward();
    return CapturedSteps::Outcome{
        .loss = loss.language_model.detach(), .state = std::move(loss.state), .needed = loss.needed};
  };
  std::optional<CapturedSteps> captured;
  if (recorder && graph_signature_of(*model)) {
    capability<Capturable>(*model)->hold_sizes();
    captured.emplace(std::move(recorder), device, model->weights());
  }
  std::vector<double> seconds;
  restart_peak_memory(device);
  std::int64_t warm = 2 + (spans != nullptr ? spans->span / row.block : 0);  // until the caches are full
  if (captured) warm += CapturedSteps::kUncaptured + 1;
  for (std::int64_t step = 1; step <= warm + steps; ++step) {
    const torch::Tensor tokens = row.symbols > 0 ? torch::randint(row.symbols, {row.batch, row.block + 1})
                                                 : random_tokens(row.batch, row.block + 1);
    const torch::Tensor seen = tokens.narrow(1, 0, row.block);
    const torch::Tensor targets = tokens.narrow(1, 1, row.block);
    wait_for(device);
    const double start = monotonic_seconds();
    CapturedSteps::Outcome outcome;
    ModelInput input{.tokens = seen};
    for (;;) {
      optimizer.zero_gradients();
      if (captured) input = recordable_input(*model, input);
      outcome = captured ? captured->run(graph_signature_of(*model).value(), input, targets, state, work)
                         : work(input.to(device), targets.to(device), state);
      if (!captured || had_room(*model, input, outcome.needed)) break;
      state = captured->state_before(state);
    }
    optimizer.step(1e-9, step);  // a tiny learning rate keeps the spans where they are
    model->after_step();
    state = std::move(outcome.state);
    wait_for(device);
    if (step > warm) seconds.push_back(monotonic_seconds() - start);
  }
  return {.seconds = median_seconds(seconds),
          .memory = static_cast<double>(peak_memory(device)),
          .flops_per_token = model->costs(row.block).at("flops_per_token"),
          .parameters = static_cast<double>(model->parameter_count()),
          .recorded = captured && captured->recordings() > 0};
}

}  // namespace xlm
