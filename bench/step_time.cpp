// Time and memory of one training step (forward, backward, update) at fixed settings, beside the arithmetic limit.
//   step_time [--threads N] [--steps N] [--precision float32|bfloat16] [ROW…]
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <fmt/format.h>

#include "base/progress.h"
#include "base/terminal.h"
#include "base/text.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/kernels/packed_operands.h"
#include "core/models/language_model.h"
#include "core/runtime/device.h"
#include "core/train/optimizer.h"
#include "core/train/windows_loss.h"

namespace xlm {
namespace {

using SpanType = AdaptiveSpanOptions::SpanType;
using BoundaryType = BoundaryOptions::Type;

constexpr double kTokensOfAWord = 5.7;  // text8's, the space included

struct Row {
  std::string name;
  ModelOptions model;
  std::int64_t batch;
  std::int64_t block;
  double short_span = 0;         // adaptive span: z of all heads of a layer but one
  double long_span = 0;          // z of that one
  std::int64_t most_steps = 50;  // of rows that take long
  std::int64_t symbols = 0;      // 0: text8's
  bool checkpoint = false;       // windows are computed again
};

/// The adaptive-span rows of the published comparison, and a sweep that shows cost following the spans.
std::vector<Row> span_rows() {
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
std::vector<Row> hourglass_rows() {
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
           .most_steps = 3},
          {.name = "whitespace-2048",
           .model = options(512, 8, BoundaryType::kWhitespace),
           .batch = 1,
           .block = 2048,
           .most_steps = 5}};
}

/// GPT-2 by windows of 300 tokens, as Yoshida et al. 2020 train it, with its vocabulary: a small one through 20
/// windows, GPT-2 small through 4, and a sweep that shows memory following the windows, those computed again first.
std::vector<Row> window_rows() {
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
  const auto row = [](std::string name, const Gpt2Options& model, std::int64_t steps = 3, bool checkpoint = false) {
    return Row{.name = std::move(name),
               .model = model,
               .batch = 1,
               .block = kWindow * model.windows,
               .most_steps = steps,
               .symbols = kSymbols,
               .checkpoint = checkpoint};
  };
  std::vector<Row> rows{row("gpt2-windows", small), row("gpt2-recurrent", recurrent), row("gpt2-small", gpt2)};
  for (const bool checkpoint : {true, false}) {
    for (const std::int64_t windows : {1, 2, 4, 8, 16, 32, 64}) {
      recurrent.windows = windows;
      rows.push_back(row(fmt::format("{}-{}", checkpoint ? "again" : "kept", windows), recurrent, 1, checkpoint));
    }
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

/// Gives every head of an adaptive span its share of the longest span.
void set_spans(LanguageModel& model, const AdaptiveSpanOptions& options, const Row& row) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, weight] : model.weights()) {
    if (!name.ends_with("current_val")) continue;
    weight.fill_(row.short_span / static_cast<double>(options.span));
    weight[0].fill_(row.long_span / static_cast<double>(options.span));
  }
  model.after_step();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

/// GFLOP/s of the fastest product that libtorch offers for a large square matrix.
double fastest_product(torch::ScalarType type) {
  const torch::NoGradGuard no_grad;
  constexpr std::int64_t kSize = 1024;
  const torch::Tensor a = torch::randn({kSize, kSize}).to(type);
  const torch::Tensor b = torch::randn({kSize, kSize}).to(type);
  const auto linear =
      c10::Dispatcher::singleton()
          .findSchemaOrThrow("mkldnn::_linear_pointwise", "")
          .typed<torch::Tensor(const torch::Tensor&, const torch::Tensor&, const std::optional<torch::Tensor>&,
                               std::string_view, torch::List<std::optional<at::Scalar>>,
                               std::optional<std::string_view>)>();
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    for (const bool onednn : {false, true}) {
      const double start = monotonic_seconds();
      if (onednn) {
        linear.call(a, b, std::nullopt, "none", torch::List<std::optional<at::Scalar>>(), "");
      } else {
        torch::mm(a, b);
      }
      best = std::max(best, 2e-9 * kSize * kSize * kSize / (monotonic_seconds() - start));
    }
  }
  return best;
}

/// Peak resident memory of the process in bytes since the last reset, with what earlier rows left behind.
double peak_memory(bool reset) {
  if (reset) std::ofstream("/proc/self/clear_refs") << "5";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  return 0;
}

struct Measurement {
  double seconds;
  double memory;
  double flops_per_token;
};

Measurement measure(const Row& row, std::int64_t steps, Precision precision) {
  torch::manual_seed(1);
  const auto model = row.symbols > 0 ? make_model(row.model, row.symbols) : make_model(row.model, letters());
  const auto* spans = row.model.get_if<AdaptiveSpanOptions>();
  if (spans != nullptr) set_spans(*model, *spans, row);
  OptimizerOptions as_published;
  TrainOptions train;
  EvalOptions eval;
  row.model.paper_defaults(as_published, train, eval);
  Optimizer optimizer(as_published, {model->weights().begin(), model->weights().end()});
  State state = model->initial_state(row.batch);
  std::vector<double> seconds;
  peak_memory(true);
  const std::int64_t warm = 2 + (spans != nullptr ? spans->span / row.block : 0);  // until the caches are full
  for (std::int64_t step = 1; step <= warm + steps; ++step) {
    const torch::Tensor tokens = row.symbols > 0 ? torch::randint(row.symbols, {row.batch, row.block + 1})
                                                 : random_tokens(row.batch, row.block + 1);
    const torch::Tensor seen = tokens.narrow(1, 0, row.block);
    const torch::Tensor targets = tokens.narrow(1, 1, row.block);
    const double start = monotonic_seconds();
    optimizer.zero_gradients();
    ModelOutput output;
    torch::Tensor loss;
    {
      const PrecisionScope scope(precision, torch::kCPU);
      if (model->scheme() == LanguageModel::Scheme::kWindows) {
        loss = windows_loss(*model, seen, targets, row.checkpoint);
      } else {
        output = model->forward(seen, state);
        loss = output.summed_loss(targets) / static_cast<double>(row.batch * row.block);
      }
    }
    if (output.auxiliary_loss.defined()) loss = loss + output.auxiliary_loss;
    loss.backward();
    optimizer.step(1e-9, step);  // a tiny learning rate keeps the spans where they are
    model->after_step();
    state = output.state;
    if (step > warm) seconds.push_back(monotonic_seconds() - start);
  }
  const auto* gpt2 = row.model.get_if<Gpt2Options>();  // the paper's count leaves the head out
  const auto head = static_cast<double>(gpt2 != nullptr ? 2 * row.symbols * gpt2->width : 0);
  return {median(seconds), peak_memory(false), model->costs(row.block).at("flops_per_token") + head};
}

int run(int argc, char** argv) {
  std::int64_t steps = 10;
  std::int64_t threads = 0;
  Precision precision = Precision::kFloat32;
  std::vector<std::string> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::string next = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--steps" && parse_integer(next, steps)) {
      ++i;
    } else if (word == "--threads" && parse_integer(next, threads)) {
      ++i;
    } else if (word == "--precision" && (next == "float32" || next == "bfloat16")) {
      precision = next == "bfloat16" ? Precision::kBfloat16 : Precision::kFloat32;
      ++i;
    } else if (!word.starts_with("-")) {
      chosen.push_back(word);
    } else {
      fmt::print(stderr, "usage: step_time [--threads N] [--steps N] [--precision float32|bfloat16] [ROW…]\n");
      return 2;
    }
  }
  keep_freed_memory();
  if (threads > 0) at::set_num_threads(static_cast<int>(threads));
  const double rate =
      fastest_product(precision == Precision::kBfloat16 && has_bfloat16_products() ? torch::kBFloat16 : torch::kFloat);
  fmt::print("{} threads, {}, fastest product {:.0f} GFLOP/s\n", at::get_num_threads(),
             kPrecisionNames.at(static_cast<std::size_t>(precision)), rate);
  TextTable table(
      {{"row"}, {"ms/step", true}, {"tokens/s", true}, {"peak MB", true}, {"limit ms", true}, {"of limit", true}});
  std::vector<Row> rows = span_rows();
  for (Row& row : hourglass_rows()) rows.push_back(std::move(row));
  for (Row& row : window_rows()) rows.push_back(std::move(row));
  for (const Row& row : rows) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), row.name) == chosen.end()) continue;
    const Measurement m = measure(row, std::min(steps, row.most_steps), precision);
    const auto tokens = static_cast<double>(row.batch * row.block);
    const double limit = 3e-9 * m.flops_per_token * tokens / rate;  // the backward pass is twice the forward one
    table.add({row.name, fmt::format("{:.1f}", 1e3 * m.seconds), fmt::format("{:.0f}", tokens / m.seconds),
               fmt::format("{:.0f}", m.memory / 1e6), fmt::format("{:.1f}", 1e3 * limit),
               fmt::format("{:.0f} %", 100 * limit / m.seconds)});
  }
  fmt::print("{}", table.render(TextTable::Format::kText));
  return 0;
}

}  // namespace
}  // namespace xlm

int main(int argc, char** argv) { return xlm::run(argc, argv); }
