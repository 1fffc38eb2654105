// xlm fit: scaling laws of runs, and what they predict.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cmd/output_format.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "results/figures/figures.h"
#include "results/figures/picture.h"
#include "results/fits/fit_figure.h"
#include "results/fits/fit_text.h"
#include "results/fits/forecast.h"
#include "results/pages/exhibit_pages.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/registration.h"

namespace xlm {
namespace {

struct FitOptions : RecipeOptions {
  fs::path file;                         // empty: the options describe the fit
  Yaml described = make_map("xlm fit");  // the keys of a fit without a recipe
  std::vector<std::string> predict;
  std::string format;
  fs::path out;
  fs::path figure;
  bool registers = false;
};

/// "--faster-than" of the key faster_than.
std::string option_of(const std::string& key) {
  std::string name = "--" + key;
  std::ranges::replace(name, '_', '-');
  return name;
}

FitDescription described_by_options(const FitOptions& options) {
  Yaml described = options.described;
  described.set("fit", make_scalar("of the options", "xlm fit"));
  FitDescription description = read_fit_description(described);
  description.title = fmt::format("{} against {}", description.loss, join(description.columns(), " and "));
  description.name = name_from_title(description.title);
  return description;
}

/// The fits of the recipe, or the one that the options describe, with the places of --predict.
std::vector<FitDescription> descriptions_of(const FitOptions& options, const RecipeView* recipe) {
  std::vector<FitDescription> descriptions =
      recipe == nullptr ? std::vector<FitDescription>{described_by_options(options)}
                        : descriptions_in(recipe->file, ExhibitKind::kFit, options.name, read_fit_description);
  for (FitDescription& description : descriptions) {
    for (const std::string& place : options.predict) {
      description.predict.push_back(read_fit_place(place, description));
    }
  }
  return descriptions;
}

/// A recipe describes its fits itself, and options would contradict it; without one, only they describe.
void check_options(const FitOptions& options) {
  if (!options.file.empty() && !options.described.entries.empty()) {
    throw UsageError(
        fmt::format("{} describes its fits itself: {} is for a fit without a recipe\nremove it, or change "
                    "the recipe",
                    options.file.string(), option_of(options.described.entries.front().first)));
  }
  if (options.file.empty() && !(options.name + options.profile).empty()) {
    throw UsageError("--name and --profile choose in a recipe, and none is given\nname it: xlm fit RECIPE.yaml");
  }
}

void write_figure(const FitOptions& options, const std::vector<FitResult>& fits) {
  if (options.figure.empty() || fits.empty()) return;
  if (fits.size() > 1) {
    throw UsageError(fmt::format("--figure {} is one file, and there are {} fits\nchoose one with --name",
                                 options.figure.string(), fits.size()));
  }
  const std::string extension = options.figure.extension().string();
  const std::string ending = extension.empty() ? "" : extension.substr(1);
  const auto* const found = std::ranges::find(kPictureFormatNames, ending);
  if (found == kPictureFormatNames.end()) {
    throw UsageError(
        fmt::format("--figure {}: figures are written as svg, pdf, png or py\nfor a page with the figure, "
                    "use --out FILE.html",
                    options.figure.string()));
  }
  const auto picture = static_cast<PictureFormat>(found - kPictureFormatNames.begin());
  write_output(options.figure, Painter().draw(figure_of_fit(fits.front()), picture));
}

int run_fit(const FitOptions& options, const GlobalOptions& global) {
  check_options(options);
  const std::string format = output_format(options.format, options.out, formats_with_pages(), global);
  std::unique_ptr<RecipeView> recipe;
  if (!options.file.empty()) recipe = std::make_unique<RecipeView>(read_recipe(options.file, options));
  std::vector<Filter> filters = recipe ? recipe->filters : parse_filters(options.where);
  if (!recipe && !options.experiment.empty()) {
    filters.push_back({"experiment", Filter::Relation::kEqual, {options.experiment}});
  }
  const std::vector<FitDescription> descriptions = descriptions_of(options, recipe.get());
  RunTable runs = open_runs(global);
  if (recipe) {
    warn_without_runs(*recipe, options, global, runs);
  } else if (runs.size() == 0) {
    throw DataError(no_runs_hint(global));
  }
  std::vector<FitResult> fits;
  const auto build = [&](const FitDescription& one) { return fit_with_forecasts(runs, one, filters, global.runs); };
  make_each(descriptions, build, [&](FitResult fit) { fits.push_back(std::move(fit)); });
  if (options.registers) {
    const Registration made = register_record(global.runs, {{"time", wall_seconds()},
                                                            {"version", kVersion},
                                                            {"file", options.file.string()},
                                                            {"claims", Json::object()},
                                                            {"runs", Json::object()},
                                                            {kForecasts, forecasts_of(fits)}});
    say(fmt::format("registered the predictions: xlm claims {}\n", made.hash));
  }
  write_figure(options, fits);
  print_or_write(format == kHtml ? fits_page(runs.store(), fits)
                                 : render_fits(fits, table_format(format), global.width(options.out)),
                 options.out);
  return fits.size() == descriptions.size() ? kDone : kBadData;
}

/// An option for each key of a recipe's fit.
void add_fit_keys(CLI::App& app, Yaml& described) {
  OptionLister keys;
  FitDescription().visit(keys);
  for (const OptionEntry& key : keys.entries()) {
    if (key.key == "name") continue;
    const bool is_column = key.value.is_string() && key.range.empty();
    app.add_option_function<std::string>(
           option_of(key.key),
           [&described, key](const std::string& value) {
             described.set(key.key, make_scalar(value, option_of(key.key)));
           },
           key.help)
        ->default_str(key.value.is_string() ? key.value.get<std::string>() : key.value.dump())
        ->type_name(is_column ? "COLUMN" : "VALUE");
  }
  app.add_option_function<std::vector<std::string>>(
         "--by",
         [&described](const std::vector<std::string>& lists) {
           described.set("by", yaml_from_json(Json(listed_columns(lists)), "--by"));
         },
         "A law for each value of these columns")
      ->allow_extra_args(false)
      ->type_name(kColumnList);
}

}  // namespace

std::function<int()> declare_fit(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<FitOptions>();
  app.add_option("RECIPE.yaml", options->file, "A recipe with fits (default: the options describe one)")
      ->transform(recipe_file);
  add_recipe_options(app, *options, "fit");
  add_fit_keys(app, options->described);
  app.add_option("--predict", options->predict, "Predict the loss there: C=1e19, or N=1e9,D=2e10; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PLACE");
  app.add_flag("--register", options->registers,
               "Write the predictions down: later fits say which runs reached them, and how many lie inside");
  app.add_option("--figure", options->figure, "Draw runs, laws and predictions: FILE.svg, .pdf, .png or .py")
      ->type_name("FILE");
  add_output_options(app, options->format, options->out, formats_with_pages());
  app.footer(
      "Fits laws by Huber's loss of the log error, from many starts, with intervals by bootstrap, and predicts the\n"
      "largest runs from the others. A law needs more settings than parameters (3, or 5); seeds of one setting do not\n"
      "count. iso-flops finds the size with the least loss for each budget by parabolas. docs/fits.md describes "
      "fits\n"
      "in recipes. The exit code is 3 if a fit has too few runs.\n\n"
      "Examples:\n"
      "  xlm fit --loss test.bits_per_byte --where experiment=byte-front --by model.type --predict C=1e16\n"
      "  xlm fit --law size-and-data --n params --d training_tokens --where status=done --figure fit.svg\n"
      "  xlm fit --law size-and-data --n flops_per_token --predict N=2e7,D=1e9 --json\n"
      "  xlm fit --law iso-flops --where experiment=sizes --predict C=1e18\n"
      "  xlm fit my-sweep.yaml --name loss-against-compute --out fit.html");
  return [options, &global] { return run_fit(*options, global); };
}

}  // namespace xlm
