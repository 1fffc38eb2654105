// xlm continuation: how a recipe's models continue the same passages.
#include <memory>

#include "base/progress.h"
#include "cmd/evaluation_target.h"
#include "cmd/output_format.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/worker/core_library.h"
#include "results/exhibits/continuations.h"
#include "results/pages/exhibit_pages.h"

namespace xlm {
namespace {

struct ContinuationOptions : RecipeOptions {
  fs::path file;
  std::vector<std::string> overrides;
  std::string data;
  std::string format;
  fs::path out;
};

std::vector<std::string> continuation_formats() { return {"text", "json", std::string(kHtml)}; }

std::string rendered_continuations(Store& store, const std::vector<Continuations>& all, const std::string& format) {
  if (format == kHtml) return continuations_page(store, all);
  if (format == "text") return continuations_text(all);
  Json list = Json::array();
  for (const Continuations& one : all) list.push_back(to_json(one));
  return json_text(list);
}

/// The job that samples a run's model after each prompt, with the overrides of the command line.
SampleJob job_of(const std::string& run, const Continuations& continuations, const ContinuationOptions& options,
                 const GlobalOptions& global) {
  const LocatedModel place = locate_model(run, global.runs);
  SampleJob job{.model = place.model,
                .options = read_model_folder(place.model, options.overrides, WeightsUse::kContinuation),
                .prompt = "",
                .tokens = continuations.description.tokens};
  check_threads(job.options.train.threads);
  job.options.data.path = evaluation_data(options.data, place);
  return job;
}

/// Samples every model's continuation of every prompt.
void fill_in(Continuations& continuations, const ContinuationOptions& options, const GlobalOptions& global) {
  const ContinuationDescription& description = continuations.description;
  for (const ContinuationDescription::Prompt& prompt : description.prompts) {
    continuations.passages.push_back({prompt, "", std::vector<std::string>(continuations.models.size())});
  }
  const auto total = static_cast<double>(description.prompts.size() * continuations.models.size());
  Progress progress({.label = "continue", .total = total, .unit = "passages", .quiet = global.quiet}, stderr,
                    global.standard_error);
  double done = 0;
  for (std::size_t i = 0; i < continuations.models.size(); ++i) {
    const std::string& run = continuations.models[i].run;
    if (run.empty()) continue;
    SampleJob job = job_of(run, continuations, options, global);
    for (ContinuedPassage& passage : continuations.passages) {
      job.passage = Passage{.split = description.split,
                            .document = passage.place.document,
                            .first = passage.place.first,
                            .tokens = description.prompt_tokens};
      const Sample sample = core().sample(job, [](const std::string&) { return true; });
      passage.prompt = sample.prompt;
      passage.texts[i] = sample.text;
      progress.update(++done);
    }
  }
}

int run_continuation(const ContinuationOptions& options, const GlobalOptions& global) {
  const std::string format = output_format(options.format, options.out, continuation_formats(), global);
  const RecipeView recipe = read_recipe(options.file, options);
  const std::vector<ContinuationDescription> descriptions =
      descriptions_in(recipe.file, ExhibitKind::kContinuation, options.name, read_continuation_description);
  RunTable runs = open_runs(global);
  warn_without_runs(recipe, options, global, runs);
  std::vector<Continuations> all;
  const auto build = [&](const ContinuationDescription& one) { return find_models(runs, one, recipe.filters); };
  make_each(descriptions, build, [&](Continuations found) { all.push_back(std::move(found)); });
  for (Continuations& one : all) fill_in(one, options, global);
  print_or_write(rendered_continuations(runs.store(), all, format), options.out);
  return all.size() == descriptions.size() ? kDone : kBadData;
}

}  // namespace

std::function<int()> declare_continuation(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ContinuationOptions>();
  app.add_option("SPEC.yaml", options->file, "A recipe with continuations, or a file of continuations")
      ->transform(recipe_file)
      ->required();
  app.add_option("overrides", options->overrides, "Options of the computation: device=cpu model.window=1024")
      ->type_name("KEY=VALUE");
  add_recipe_options(app, *options, "continuation");
  app.add_option("--data", options->data, "Prepared data folder (default: the data of the runs)")->type_name("DIR");
  add_output_options(app, options->format, options->out, continuation_formats());
  app.footer(
      "Sampling is greedy, so that the same models always give the same continuations.\n"
      "docs/results.md describes continuations in recipes. `xlm sample` continues your own text.\n\n"
      "Examples:\n"
      "  xlm continuation experiments/recipes/recurrence/table-2.yaml --profile small --out continuations.html\n"
      "  xlm continuation experiments/recipes/recurrence/table-2.yaml --profile small device=cpu");
  return [options, &global] { return run_continuation(*options, global); };
}

}  // namespace xlm
