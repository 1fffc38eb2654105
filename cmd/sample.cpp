// xlm sample: the continuation of a text.
#include <cctype>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/text_input.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/model_locator.h"
#include "experiments/worker/core_library.h"

namespace xlm {
namespace {

constexpr std::string_view kEndOfText = "<|endoftext|>";  // GPT-2's end of a text

struct SampleOptions {
  std::string model;
  std::string prompt;
  std::string clean = "none";
  std::int64_t tokens = 100;
  std::int64_t samples = 1;
  double temperature = 1;
  std::int64_t top_k = 0;
  double top_p = 1;
  std::int64_t seed = 1;
  std::vector<std::string> overrides;
  std::vector<std::string> sampling_only;  // given options that have no effect when greedy
};

void check(const SampleOptions& options) {
  if (!std::isfinite(options.temperature)) throw UsageError("--temperature takes a number");
  if (!(options.top_p > 0 && options.top_p <= 1)) throw UsageError("--top-p takes a number above 0, and at most 1");
  if (options.temperature > 0 || options.sampling_only.empty()) return;
  throw UsageError(
      fmt::format("{} {} no effect at --temperature 0, which is greedy\n"
                  "leave --temperature out to sample",
                  join(options.sampling_only, " and "), options.sampling_only.size() == 1 ? "has" : "have"));
}

/// The text to continue, from an option or a pipe. Empty: the model starts a new text.
std::string prompt_of(const SampleOptions& options) {
  std::string text = options.prompt;
  if (text.empty() && has_piped_input()) text = read_plain_text("-");
  const bool ends_a_word = !text.empty() && std::isalnum(static_cast<unsigned char>(text.back())) == 0;
  text = cleaned(text, options.clean);
  if (options.clean != "none" && ends_a_word && !text.empty()) text += ' ';  // cleaning removes the last space
  return text;
}

/// One continuation, up to the model's end of it; `show` receives its text as it comes.
Sample continued(const SampleJob& job, const std::function<void(const std::string&)>& show) {
  std::string text;
  Sample sample = core().sample(job, [&](std::string piece) {
    const bool has_ended = piece.ends_with(kEndOfText);  // one token, behind what is left of a damaged character
    if (has_ended) piece.erase(piece.size() - kEndOfText.size());
    text += piece;
    if (!piece.empty()) show(piece);
    return !has_ended;
  });
  sample.text = text;
  return sample;
}

int run_sample(const SampleOptions& options, const GlobalOptions& global) {
  check(options);
  const LocatedModel place = locate_model(options.model, global.runs);
  SampleJob job{.model = place.model,
                .options = read_model_folder(place.model, options.overrides, WeightsUse::kSample),
                .prompt = prompt_of(options),
                .tokens = options.tokens,
                .temperature = options.temperature,
                .top_k = options.top_k,
                .top_p = options.top_p};
  check_threads(job.options.train.threads);
  Json all = Json::array();
  for (std::int64_t i = 0; i < options.samples; ++i) {
    job.options.seed = options.seed + i;
    const std::string head = options.samples == 1 ? "" : fmt::format("{}--- {} ---\n", i == 0 ? "" : "\n", i + 1);
    std::string before = head + job.prompt;  // shown when there is something to continue it with
    const Sample sample = continued(job, [&](const std::string& text) {
      if (!global.json) print(std::exchange(before, "") + text);
    });
    if (!global.json) print(before + "\n");
    all.push_back({{"prompt", job.prompt},
                   {"text", sample.text},
                   {"temperature", options.temperature},
                   {"seed", job.options.seed},
                   {"tokens", sample.tokens},
                   {"prompt_tokens", sample.prompt_tokens},
                   {"seconds", sample.seconds}});
  }
  if (global.json) {
    print(json_text(options.samples == 1 ? all.front() : all));
  } else if (options.temperature > 0 && !global.quiet) {
    const std::string last = options.samples == 1 ? "" : fmt::format(" to {}", options.seed + options.samples - 1);
    say(fmt::format("seed {}{}\n", options.seed, last));
  }
  return kDone;
}

}  // namespace

std::function<int()> declare_sample(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<SampleOptions>();
  app.add_option("model", options->model, "Run id, the beginning of it or of its hash, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", options->overrides, "Options of the computation: device=cpu model.window=1024")
      ->type_name("KEY=VALUE");
  app.add_option("--prompt", options->prompt, "The text to continue (default: what is piped in)")->type_name("TEXT");
  app.add_option("--tokens", options->tokens, "Tokens to add")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description(""))
      ->capture_default_str()
      ->type_name("N");
  add_clean_option(app, options->clean);
  auto* const samples =
      app.add_option("--samples", options->samples, "Number of continuations, with the seeds from --seed on")
          ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20).description(""))
          ->capture_default_str()
          ->type_name("N");
  app.add_option("--temperature", options->temperature, "Sampling temperature; 0 is greedy")
      ->check(CLI::Range(0.0, 1e6).description(""))
      ->capture_default_str()
      ->type_name("X");
  auto* const top_k =
      app.add_option("--top-k", options->top_k, "Sample only from the K most likely tokens; 0: from all")
          ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40).description(""))
          ->capture_default_str()
          ->type_name("K");
  auto* const top_p =
      app.add_option("--top-p", options->top_p, "Sample only from the most likely tokens with this total probability")
          ->capture_default_str()
          ->type_name("P");
  auto* const seed = app.add_option("--seed", options->seed, "Random seed: the same seed gives the same text")
                         ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 52).description(""))
                         ->capture_default_str()
                         ->type_name("N");
  app.footer(
      "Tokens are sampled. At --temperature 0 sampling is greedy, and most models soon repeat themselves. Without a\n"
      "prompt the model starts a new text. The text stops if the model ends it (<|endoftext|>).\n\n"
      "Examples:\n"
      "  xlm sample gpt2-small --prompt \"The river\" --tokens 50\n"
      "  xlm sample hourglass-text8-3fa9 --prompt \"the river \" --temperature 0.8 --top-k 20 --seed 3\n"
      "  xlm sample hourglass-text8-3fa9 --clean text8 --samples 3 --temperature 0.8 < page.txt");
  return [options, top_k, top_p, seed, samples, &global] {
    for (const CLI::Option* option : {top_k, top_p, seed, samples}) {
      if (option->count() > 0) options->sampling_only.push_back(option->get_name());
    }
    return run_sample(*options, global);
  };
}

}  // namespace xlm
