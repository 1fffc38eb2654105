// xlm sample: the continuation of a text.
#include <cmath>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cmd/command.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/core_library.h"
#include "experiments/runs/model_locator.h"

namespace xlm {
namespace {

struct Options {
  std::string model;
  std::string prompt;
  fs::path prompt_file;
  std::int64_t tokens = 100;
  double temperature = 0;
  std::int64_t top_k = 0;
  double top_p = 1;
  std::int64_t seed = 1;
  std::vector<std::string> overrides;
};

int run(const Options& options, const GlobalOptions& global) {
  if (options.prompt.empty() && options.prompt_file.empty()) {
    throw UsageError("there is nothing to continue\ngive --prompt TEXT or --prompt-file FILE");
  }
  if (!std::isfinite(options.temperature) || !std::isfinite(options.top_p)) {
    throw UsageError("--temperature and --top-p take numbers");
  }
  const LocatedModel place = locate_model(options.model, global.runs);
  SampleJob job{.model = place.model,
                .options = read_model_folder(place.model, options.overrides),
                .prompt = options.prompt_file.empty() ? options.prompt : read_file(options.prompt_file),
                .tokens = options.tokens,
                .temperature = options.temperature,
                .top_k = options.top_k,
                .top_p = options.top_p};
  job.options.seed = options.seed;
  const bool stream = !global.json;
  std::string before = job.prompt;  // shown when there is something to continue it with
  const Sample sample = core().sample(job, [&](const std::string& text) {
    if (stream) print(std::exchange(before, "") + text);
    return true;
  });
  if (stream) {
    print(before + "\n");
    return kDone;
  }
  const Json json = {{"prompt", job.prompt},
                     {"text", sample.text},
                     {"tokens", sample.tokens},
                     {"prompt_tokens", sample.prompt_tokens},
                     {"seconds", sample.seconds}};
  print(json_text(json));
  return kDone;
}

}  // namespace

std::function<int()> declare_sample(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<Options>();
  app.add_option("model", options->model, "Run id or its unique beginning, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", options->overrides, "How it is computed: device=cpu model.window=1024")
      ->type_name("KEY=VALUE");
  auto* const prompt = app.add_option("--prompt", options->prompt, "The text to continue")->type_name("TEXT");
  app.add_option("--prompt-file", options->prompt_file, "A file with the text to continue")
      ->excludes(prompt)
      ->type_name("FILE");
  app.add_option("--tokens", options->tokens, "Tokens to add")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40).description(""))
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--temperature", options->temperature, "0: always the likeliest token; 1: as the model says")
      ->check(CLI::Range(0.0, 1e6).description(""))
      ->capture_default_str()
      ->type_name("X");
  app.add_option("--top-k", options->top_k, "Only the K likeliest tokens; 0: all")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40).description(""))
      ->capture_default_str()
      ->type_name("K");
  app.add_option("--top-p", options->top_p, "Only the likeliest tokens that together have this probability")
      ->check(CLI::Range(1e-9, 1.0).description(""))
      ->capture_default_str()
      ->type_name("P");
  app.add_option("--seed", options->seed, "Fixes what is drawn")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 52).description(""))
      ->capture_default_str()
      ->type_name("N");
  app.footer(
      "Examples:\n"
      "  xlm sample gpt2-small --prompt \"The river\" --tokens 50 model.window=1024\n"
      "  xlm sample hourglass-text8-3fa9 --prompt \"the river \" --temperature 0.8 --top-k 20 --seed 3");
  return [options, &global] { return run(*options, global); };
}

}  // namespace xlm
