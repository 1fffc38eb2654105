// xlm figure: plots from the store.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/results_store.h"
#include "experiments/configuration.h"
#include "results/figure.h"
#include "results/gnuplot.h"
#include "results/plot.h"
#include "results/spec.h"

namespace xlm {
namespace {

struct Options {
  fs::path file;
  std::string profile;
  std::string experiment;
  std::string name;
  std::vector<std::string> where;
  std::string format;
  fs::path out;
};

/// --out is a file for one figure, or a folder for any number.
bool names_folder(const fs::path& out) {
  return !out.empty() && (fs::is_directory(out) || !out.has_filename() || !out.has_extension());
}

PictureFormat format_of(const Options& options) {
  std::string name = options.format;
  if (!options.out.empty() && !names_folder(options.out)) {
    const std::string ending = options.out.extension().string().substr(1);
    if (!name.empty() && name != ending) {
      throw UsageError(fmt::format("--format {} and --out {} contradict each other", name, options.out.string()));
    }
    name = ending;
  }
  if (name.empty()) name = "svg";
  const auto found = std::find(kPictureFormatNames.begin(), kPictureFormatNames.end(), name);
  if (found == kPictureFormatNames.end()) {
    throw UsageError(fmt::format("figures are written as svg, pdf or png, not '{}'", name));
  }
  return static_cast<PictureFormat>(found - kPictureFormatNames.begin());
}

fs::path file_of(const Options& options, const FigureSpec& spec, PictureFormat format) {
  if (!options.out.empty() && !names_folder(options.out)) return options.out;
  return options.out / fmt::format("{}.{}", spec.name, kPictureFormatNames[static_cast<std::size_t>(format)]);
}

std::vector<FigureSpec> read_specs(const Options& options, const Yaml& file) {
  std::vector<FigureSpec> specs;
  for (const Yaml& spec : choose_specs(find_specs(file, SpecKind::kFigure), SpecKind::kFigure, options.name)) {
    specs.push_back(read_figure_spec(spec));
  }
  if (specs.size() > 1 && !options.out.empty() && !names_folder(options.out)) {
    throw UsageError(
        fmt::format("{} describes {} figures, but --out {} is one file\nname a folder, or one figure with --name",
                    options.file.string(), specs.size(), options.out.string()));
  }
  return specs;
}

Json describe(const Figure& figure, const fs::path& file) {
  Json points = Json::array();
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      points.push_back({{"series", series.label}, {"x", point.x}, {"y", point.y}, {"runs", point.runs}});
    }
  }
  return {{"figure", figure.spec.title}, {"name", figure.spec.name}, {"file", file.string()}, {"points", points}};
}

/// Draws a figure into `file` and says what it shows.
Json draw(const Figure& figure, const fs::path& file, PictureFormat format) {
  for (const std::string& note : figure.notes) spdlog::info(note);
  write_file(file, run_gnuplot(gnuplot_script(figure, format)));
  return describe(figure, file);
}

int run(const Options& options, const Context& context) {
  const Yaml file = read_configuration(options.file, options.profile, {});
  const PictureFormat format = format_of(options);
  const std::vector<FigureSpec> specs = read_specs(options, file);
  std::vector<Condition> conditions = parse_conditions(options.where);
  const std::string experiment = options.experiment.empty() ? recipe_experiment(file) : options.experiment;
  if (!experiment.empty()) conditions.push_back({"experiment", Condition::Relation::kEqual, {experiment}});
  Store store = open_store(context);
  RunSet runs(store);
  if (names_folder(options.out)) create_folders(options.out);
  Json written = Json::array();
  for (const FigureSpec& spec : specs) {
    try {
      written.push_back(draw(build_figure(runs, spec, conditions), file_of(options, spec, format), format));
      if (!context.json) print(fmt::format("{}\n", written.back()["file"].get<std::string>()));
    } catch (const DataError& error) {  // the others may have something to show
      if (specs.size() == 1) throw;
      spdlog::warn(error.what());
    }
  }
  if (context.json) print(written.dump(2) + "\n");
  return written.size() == specs.size() ? kDone : kBadData;
}

}  // namespace

std::function<int()> declare_figure(CLI::App& app, const Context& context) {
  const auto options = std::make_shared<Options>();
  app.add_option("SPEC.yaml", options->file, "A figure file, or a recipe with figures in it")->required();
  app.add_option("--profile", options->profile, "Lay this profile of the file over it")->type_name("NAME");
  app.add_option("--experiment", options->experiment, "Show runs of this experiment (default: the recipe's own)")
      ->type_name("NAME");
  app.add_option("--name", options->name, "Only the figure of this name")->type_name("NAME");
  app.add_option("--where", options->where, "Only runs with KEY=VALUE (!=, <, <=, >, >=)")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
  app.add_option("--format", options->format, "svg, pdf or png (default: by --out, else svg)")->type_name("FORMAT");
  app.add_option("--out", options->out, "File, or folder of several figures (default: NAME.svg here)")
      ->type_name("PATH");
  app.footer(
      "Prints where each figure was written. docs/results.md describes figure files. Needs gnuplot.\n\n"
      "Examples:\n"
      "  xlm figure experiments/recipes/adaptive-span/span-limit.yaml --out figures/\n"
      "  xlm figure experiments/recipes/adaptive-span/span-limit.yaml --name spans-per-head --out spans.pdf\n"
      "  xlm figure curves.yaml --where seed=1 --format png");
  return [options, &context] { return run(*options, context); };
}

}  // namespace xlm
